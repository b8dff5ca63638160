"""Expands `${…}` in a configuration's strings, as clients that share the format do.

| Form                                        | Value                                                        |
| ------------------------------------------- | ------------------------------------------------------------ |
| `${VAR}`, `${env:VAR}`                      | a built-in variable, else the environment; an error if unset |
| `${VAR:-text}`, `${env:VAR:-text}`          | the same, or `text` if unset                                 |
| `${input:id}`                               | a value given on the command line, or the input's default    |
| `${workspaceFolder}`, `${userHome}`, `${/}` | the project's folder, the home folder, the path separator    |

Values are not expanded again. Any other `${…}` stays unchanged: it belongs to the server's own shell.
"""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from inspector.config.source.model import FileModel, ServerModel
from inspector.core.closest import closest
from inspector.core.error import ConfigError, MissingValue
from inspector.core.secret_value import looks_secret
from inspector.core.server import Expansion
from inspector.core.settings import Settings

# A file is in Toolsight's own format if it has `tool_discovery`, `tool_sets`, `profile`, `settings`, or a
# server with one of Toolsight's own keys; an unknown key in it is an error. Any other file belongs to a
# client (Claude Desktop, Claude Code, Cursor, VS Code, Windsurf, Cline, Gemini CLI, …); its other keys are
# ignored.

SECTIONS = ("mcpServers", "servers")
_OWN_TOP = frozenset(FileModel.model_fields) - set(SECTIONS)
# Clients have similar keys of their own (userSettings), so only a key that lacks letters is a misspelling.
_COMMON_TOP = frozenset({"profile", "settings"})
_LIKENESS, _COMMON_LIKENESS, _SECTION_LIKENESS = 0.6, 0.4, 0.25
_OWN_SERVER = frozenset(
    {"defer_loading", "connect_timeout", "call_timeout", "era", "trust_annotations", "client_capabilities"}
)
_SETTINGS = tuple(section.name for section in fields(Settings))
_URL_KEYS = ("httpUrl", "serverUrl")
# Keys that clients add to a server; in Toolsight's own format they are accepted and ignored.
_CLIENT_SERVER = frozenset(
    {
        "alwaysAllow",
        "autoApprove",
        "autoStart",
        "description",
        "dev",
        "disabled",
        "disabledTools",
        "enabled",
        "enabledTools",
        "envFile",
        "env_file",
        "excludeTools",
        "gallery",
        "icon",
        "id",
        "includeTools",
        "name",
        "oauth",
        "timeout",
        "tools",
        "transport",
        "trust",
        "version",
    }
)
_CLIENT_TOP = frozenset({"$schema", "inputs", "models", "clients", "namespace_tools"})
_HTTP_TYPES = frozenset({"sse", "streamableHttp", "streamable_http", "http-stream"})


@dataclass(frozen=True, slots=True)
class Form:
    """A file in Toolsight's own form. `all_names` includes the disabled servers.

    `ignored` and `ignored_by_server` are the keys that were left out: one may be a misspelling.
    """

    data: dict[str, Any]
    section: str
    all_names: tuple[str, ...] = ()
    inputs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    ignored_by_server: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def normalised(data: Mapping[str, Any]) -> Form:
    """Detect whose file it is, and leave out the client's own keys and the disabled servers."""
    data = _unwrapped(data)
    section = next((name for name in SECTIONS if name in data), SECTIONS[0])
    servers = data.get(section, {})
    is_own = _is_own(data, servers)
    top = {
        key: value
        for key, value in data.items()
        if key != section
        and ((key in _OWN_TOP and _is_ours(key, value)) or (is_own and key not in _CLIENT_TOP))
    }
    if not isinstance(servers, dict):
        return Form({**top, "mcpServers": servers}, section)
    enabled = {name: _server(entry, is_own) for name, entry in servers.items() if not _is_off(entry)}
    return Form(
        {**top, "mcpServers": enabled},
        section,
        all_names=tuple(servers),
        inputs=_inputs(data.get("inputs")),
        ignored=tuple(key for key in data if key != section and key not in top),
        ignored_by_server={
            name: tuple(key for key in servers[name] if key not in entry)
            for name, entry in enabled.items()
            if isinstance(entry, dict)
        },
    )


def _unwrapped(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The content under `mcp`, where VS Code's user settings keep all of it."""
    inner = data.get("mcp")
    if isinstance(inner, dict) and not any(name in data for name in SECTIONS):
        return inner
    return data


def _is_own(data: Mapping[str, Any], servers: object) -> bool:
    """Whether the file is in Toolsight's format; a misspelled key counts, so that it is reported."""
    if any(_means(key, _OWN_TOP) and _is_ours(key, value) for key, value in data.items()):
        return True
    entries = servers.values() if isinstance(servers, dict) else ()
    return any(key in _OWN_SERVER for entry in entries if isinstance(entry, dict) for key in entry)


def _means(key: str, names: frozenset[str]) -> bool:
    if key in names:
        return True
    if key in _CLIENT_TOP:
        return False
    common = closest(key, names & _COMMON_TOP, cutoff=_COMMON_LIKENESS)
    return any(len(key) <= len(name) for name in common) or bool(
        closest(key, names - _COMMON_TOP, cutoff=_LIKENESS)
    )


def _is_ours(key: str, value: object) -> bool:
    """Whether the key is Toolsight's: a client may have `settings` of something else."""
    if key != "settings" or not isinstance(value, dict) or not value:
        return True
    return any(closest(name.partition(".")[0], _SETTINGS, cutoff=_SECTION_LIKENESS) for name in value)


def _is_off(entry: object) -> bool:
    return isinstance(entry, dict) and (entry.get("disabled") is True or entry.get("enabled") is False)


def _server(entry: Any, is_own: bool) -> Any:
    if not isinstance(entry, dict):
        return entry
    known = ServerModel.model_fields
    kept = {
        key: value
        for key, value in entry.items()
        if key in known or (is_own and key not in _CLIENT_SERVER and key not in _URL_KEYS)
    }
    for key in _URL_KEYS:
        if key in entry:
            kept.setdefault("url", entry[key])
    if kept.get("type") in _HTTP_TYPES:
        kept["type"] = "http"
    return kept if is_own else _client_values(kept)


def _client_values(entry: dict[str, Any]) -> dict[str, Any]:
    """The entry as clients read it: numbers are allowed in `env`, and nulls are ignored."""
    env = entry.get("env")
    if isinstance(env, dict):
        entry["env"] = {name: _as_text(value) for name, value in env.items() if value is not None}
    return {key: value for key, value in entry.items() if value is not None}


def _as_text(value: object) -> object:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(value) if is_number else value


def _inputs(listed: object) -> dict[str, Mapping[str, Any]]:
    entries = listed if isinstance(listed, list) else []
    return {str(entry["id"]): entry for entry in entries if isinstance(entry, dict) and "id" in entry}


_REFERENCE = re.compile(
    r"\$\{(?:(?P<kind>input|command|config|workspaceFolder):(?P<id>[\w.-]+)"
    r"|(?:env:)?(?P<name>[A-Za-z_]\w*|/)(?::-(?P<default>[^}]*))?)\}"
)
_EDITOR_FOLDERS = (".vscode", ".cursor")


@dataclass(frozen=True, slots=True)
class Scope:
    """Where values come from; `variables` take precedence over the environment. `folder` holds the file.

    `inputs` are those that the person gave, which take precedence over the file's own `input_defaults`;
    `passwords` names those that editors hide while they are typed.
    """

    folder: Path
    environment: Mapping[str, str]
    variables: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    input_defaults: Mapping[str, str] = field(default_factory=dict)
    input_descriptions: Mapping[str, str] = field(default_factory=dict)
    passwords: frozenset[str] = frozenset()

    @property
    def workspace(self) -> Path:
        """The project's folder: editors keep the file one folder below it."""
        return self.folder.parent if self.folder.name in _EDITOR_FOLDERS else self.folder

    def expand(self, text: str, where: str) -> str:
        """Replace every reference in the text. `where` names the server and the key in errors."""
        return _REFERENCE.sub(lambda match: self._value(match, where), text)

    def expansion(self, key: str, text: str) -> Expansion | None:
        """Which of the person's own variables the text contains; None if there is none.

        `key` is the place of the text in the server's entry. Raises ConfigError like `expand`.
        """
        own = dict.fromkeys(name for match in _REFERENCE.finditer(text) if (name := self._own(match)))
        if not own:
            return None
        shown = _REFERENCE.sub(
            lambda match: match[0] if self._is_secret(match) else self._value(match, key), text
        )
        return Expansion(key, tuple(own), shown)

    def secrets(self, text: str) -> dict[str, str]:
        """The values of the person's own that the text contains, which may be secret, by their names."""
        found: dict[str, str] = {}
        for match in _REFERENCE.finditer(text):
            if self._own(match):
                name = match["id"] or match["name"]
                # An input that is hidden while it is typed is one, whatever it is called.
                found[f"{name}.secret" if name in self.passwords else name] = self._value(match, "")
        return found

    def _own(self, match: re.Match[str]) -> str:
        """The person's own variable that a reference means; "" if it means anything else."""
        name = match["id"] if match["kind"] else match["name"]
        if match["kind"] == "input" and name in self.inputs:
            return f"input {name}"
        is_own = not match["kind"] and name in self.environment and name not in self.variables
        return name if is_own else ""

    def _is_secret(self, match: re.Match[str]) -> bool:
        return bool(self._own(match)) and looks_secret(match["id"] or match["name"])

    def _value(self, match: re.Match[str], where: str) -> str:
        if match["kind"]:
            return self._of_kind(match["kind"], match["id"], where)
        name, default = match["name"], match["default"]
        for known in (self.variables, self.environment):
            if name in known:
                return known[name]
        if name in _BUILT_IN:
            return _BUILT_IN[name](self)
        if default is None:
            message = f"{where}: the variable {name} is not set"
            raise MissingValue(message, name=name, hint=self._hint(name))
        return str(default)

    def _hint(self, name: str) -> str:
        near = closest(name, (*self.variables, *self.environment), limit=1)
        meant = f"Did you mean {near[0]}? " if near else ""
        return f"{meant}Set {name} in the environment, or write ${{{name}:-a default}}."

    def _of_kind(self, kind: str, name: str, where: str) -> str:
        if kind == "workspaceFolder":
            return str(self.workspace)
        if kind == "input" and name in (known := {**self.input_defaults, **self.inputs}):
            return known[name]
        if kind == "input":
            what = self.input_descriptions.get(name)
            asked = f" ({what})" if what else ""
            raise MissingValue(
                f"{where}: the input {name}{asked} has no value",
                name=f"input {name}",
                hint=f"Pass --input {name}=VALUE, or set TOOLSIGHT_INPUT_{name} in the environment.",
            )
        raise ConfigError(
            f"{where}: only an editor can fill in ${{{kind}:{name}}}",
            hint="Write the value itself, or use ${VARIABLE} from the environment.",
        )


_BUILT_IN: Mapping[str, Callable[[Scope], str]] = {
    "workspaceFolder": lambda scope: str(scope.workspace),
    "workspaceFolderBasename": lambda scope: scope.workspace.name,
    "userHome": lambda scope: scope.environment.get("HOME", str(Path.home())),
    "pathSeparator": lambda _scope: os.sep,
    "/": lambda _scope: os.sep,
}
