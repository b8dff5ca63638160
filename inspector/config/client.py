"""Where MCP clients keep their server configurations on a machine, and what those say. Read only.

The paths are the ones each client documents: Claude Desktop, Claude Code (user and project), Cursor,
VS Code and VS Code Insiders (with profiles), Windsurf, Cline, Gemini CLI, Toolsight.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from inspector.config.configuration import Configuration
from inspector.config.file import load_object
from inspector.config.format import SECTIONS
from inspector.config.reader import read, servers
from inspector.core.access import ServerRule
from inspector.core.error import ConfigError
from inspector.core.server import ServerSpec

USER, PROJECT = "user", "project"
FILE = "File"
"""Stands in for the client when a person named the file: it may be any client's or Toolsight's."""
TOOLSIGHT, CLAUDE_CODE, GEMINI = "Toolsight", "Claude Code", "Gemini CLI"
_EDITORS = (("VS Code", "Code"), ("VS Code Insiders", "Code - Insiders"))
_CLINE_HOSTS = ("Code", "Code - Insiders", "Cursor", "Windsurf")
_CLINE = Path("globalStorage", "saoudrizwan.claude-dev", "settings", "cline_mcp_settings.json")
_INCLUDED, _EXCLUDED = ("includeTools", "enabledTools"), ("excludeTools", "disabledTools")
# Gemini CLI also accepts variables without braces.
_BARE_VARIABLE = re.compile(r"\$([A-Za-z_]\w*)")


@dataclass(frozen=True, slots=True)
class ClientFile:
    """A file that a client would read, whether it exists or not. `scope` is `user` or `project`."""

    client: str
    path: Path
    scope: str = USER


@dataclass(frozen=True, slots=True)
class ClientConfiguration:
    """What a client reads from one file, or from the part of it for one project.

    `configuration` has the readable servers; `faults` say by name why the others cannot be read; `rules`
    cover servers for which the client leaves tools out.
    """

    client: str
    scope: str
    configuration: Configuration
    faults: Mapping[str, ConfigError] = field(default_factory=dict)
    rules: Mapping[str, ServerRule] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file, or a part of one, that cannot be read as a configuration."""

    client: str
    scope: str
    path: Path
    error: ConfigError


def client_files(
    home: Path, folder: Path, platform: str, environment: Mapping[str, str]
) -> tuple[ClientFile, ...]:
    """Every file that a client on this machine would read in a project folder, each once.

    `platform` is `sys.platform`; `environment` can move the folders (XDG_CONFIG_HOME, APPDATA,
    CLAUDE_CONFIG_DIR).
    """
    data = _data_folder(home, platform, environment)
    claude_code = Path(environment.get("CLAUDE_CONFIG_DIR") or home)
    listed = [
        ClientFile("Claude Desktop", data / "Claude" / "claude_desktop_config.json"),
        ClientFile(CLAUDE_CODE, claude_code / ".claude.json"),
        ClientFile(CLAUDE_CODE, folder / ".mcp.json", PROJECT),
        ClientFile("Cursor", home / ".cursor" / "mcp.json"),
        ClientFile("Cursor", folder / ".cursor" / "mcp.json", PROJECT),
        *_editors(data),
        ClientFile("VS Code", folder / ".vscode" / "mcp.json", PROJECT),
        ClientFile("Windsurf", home / ".codeium" / "windsurf" / "mcp_config.json"),
        ClientFile("Cline", home / ".cline" / "data" / "settings" / "cline_mcp_settings.json"),
        *(ClientFile("Cline", data / host / "User" / _CLINE) for host in _CLINE_HOSTS),
        ClientFile(GEMINI, home / ".gemini" / "settings.json"),
        ClientFile(GEMINI, folder / ".gemini" / "settings.json", PROJECT),
        ClientFile(TOOLSIGHT, folder / "toolsight.json", PROJECT),
    ]
    return tuple({file.path.absolute(): file for file in reversed(listed)}.values())[::-1]


def client_file_of(path: Path, known: Iterable[ClientFile]) -> ClientFile:
    """The known place with this path, or else a place that may belong to any client."""
    for file in known:
        if file.path.absolute() == path.absolute():
            return replace(file, path=path)
    return ClientFile(CLAUDE_CODE if path.name == ".claude.json" else FILE, path, "")


def is_there(file: ClientFile) -> bool:
    """Whether the file exists. One without permission counts as existing, so that it is reported."""
    try:
        return file.path.is_file()
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False


def read_client_file(
    file: ClientFile, *, environment: Mapping[str, str], inputs: Mapping[str, str]
) -> tuple[ClientConfiguration | Unreadable, ...]:
    """The configurations in a file and its unreadable parts; empty if the client has no servers there."""
    try:
        data = load_object(file.path)
    except ConfigError as error:
        return (Unreadable(file.client, file.scope, file.path, error),)
    is_whole = file.client in (TOOLSIGHT, FILE)
    parts = iter([(file.scope, data)]) if is_whole else _parts(file, data)
    return tuple(_read(replace(file, scope=scope), part, environment, inputs) for scope, part in parts)


def _read(
    file: ClientFile, data: Mapping[str, Any], environment: Mapping[str, str], inputs: Mapping[str, str]
) -> ClientConfiguration | Unreadable:
    try:
        whole = read(file.path, data, environment=environment, inputs=inputs)
        return ClientConfiguration(file.client, file.scope, whole, rules=_rules(file, data))
    except ConfigError as error:
        by_name: dict[str, ServerSpec | ConfigError] = {}
        # An error here is no server's: then there are no faults of servers.
        with suppress(ConfigError):
            by_name = servers(file.path, data, environment=environment, inputs=inputs)
        faults = {name: fault for name, fault in by_name.items() if isinstance(fault, ConfigError)}
        if not faults:
            return Unreadable(file.client, file.scope, file.path, error)
        specs = tuple(spec for spec in by_name.values() if isinstance(spec, ServerSpec))
        configuration = Configuration(str(file.path), specs)
        return ClientConfiguration(file.client, file.scope, configuration, faults, _rules(file, data))


def _rules(file: ClientFile, data: Mapping[str, Any]) -> dict[str, ServerRule]:
    """The tools that a server's entry includes or excludes; Toolsight's own files name none."""
    section = next((data[name] for name in SECTIONS if name in data), None)
    if file.client == TOOLSIGHT or not isinstance(section, dict):
        return {}
    rules = {}
    for server, entry in section.items():
        included = [_names(entry.get(key)) for key in _INCLUDED] if isinstance(entry, dict) else []
        excluded = [_names(entry.get(key)) for key in _EXCLUDED] if isinstance(entry, dict) else []
        include = next((names for names in included if names is not None), None)
        rule = ServerRule(include, frozenset().union(*(names or () for names in excluded)))
        if rule != ServerRule():
            rules[server] = rule
    return rules


def _names(value: object) -> frozenset[str] | None:
    """The names in a list; None if the value is not a list."""
    return frozenset(name for name in value if isinstance(name, str)) if isinstance(value, list) else None


def _parts(file: ClientFile, data: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The scopes in a client's file, each with its servers only: all other keys belong to the client."""
    yield from _part(file, file.scope, data)
    projects = data.get("projects") if file.client == CLAUDE_CODE else None
    for folder, project in projects.items() if isinstance(projects, dict) else ():
        if isinstance(project, dict):
            yield from _part(file, f"{PROJECT} {folder}", project)


def _part(file: ClientFile, scope: str, data: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    nested = data.get("mcp")
    if isinstance(nested, dict) and not any(name in data for name in SECTIONS):
        data = nested
    section = next((name for name in SECTIONS if data.get(name)), None)
    if section is None:
        return
    entries = data[section]
    if file.client == GEMINI and isinstance(entries, dict):
        # Gemini CLI lists allowed and excluded servers apart from their entries.
        lists = nested if isinstance(nested, dict) else {}
        rule = ServerRule(_names(lists.get("allowed")), _names(lists.get("excluded")) or frozenset())
        entries = _braced({name: entry for name, entry in entries.items() if rule.permits(name)})
    if entries:
        yield scope, {section: entries, "inputs": data.get("inputs")}


def _braced(value: Any) -> Any:
    if isinstance(value, str):
        return _BARE_VARIABLE.sub(r"${\1}", value)
    if isinstance(value, list):
        return [_braced(item) for item in value]
    return {key: _braced(item) for key, item in value.items()} if isinstance(value, dict) else value


def _data_folder(home: Path, platform: str, environment: Mapping[str, str]) -> Path:
    """Where desktop applications keep their settings."""
    if platform == "darwin":
        return home / "Library" / "Application Support"
    if platform == "win32":
        return Path(environment.get("APPDATA") or home / "AppData" / "Roaming")
    return Path(environment.get("XDG_CONFIG_HOME") or home / ".config")


def _editors(data: Path) -> Iterator[ClientFile]:
    """The files of VS Code and Insiders; every profile has its own beside the default profile's."""
    for client, name in _EDITORS:
        user = data / name / "User"
        yield ClientFile(client, user / "mcp.json")
        yield ClientFile(client, user / "settings.json")
        yield from (ClientFile(client, path) for path in sorted(user.glob("profiles/*/mcp.json")))
