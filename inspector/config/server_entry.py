"""Turns one entry of `mcpServers` into a ServerSpec, with `${…}` expanded as other clients do.

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
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct, field
from msgspec.structs import replace

from inspector.config.file import dotted, environment_of, is_file
from inspector.config.format import Form, OAuthModel, ServerModel
from inspector.config.program import program_of, run_file, run_files, source_files
from inspector.core.access import ServerRule
from inspector.core.error import ConfigError, MissingValue
from inspector.core.package_run import FETCHING, package_run
from inspector.core.redaction import SECRETS
from inspector.core.secret_value import looks_secret
from inspector.core.server import LOOPBACK, Era, Expansion, Grant, OAuthClient, Program, RunFile, ServerSpec
from inspector.core.text import closest

_REFERENCE = re.compile(
    r"\$\{(?:(?P<kind>input|command|config|workspaceFolder):(?P<id>[\w.-]+)"
    r"|(?:env:)?(?P<name>[A-Za-z_]\w*|/)(?::-(?P<default>[^}]*))?)\}"
)
_EDITOR_FOLDERS = (".vscode", ".cursor")


class Scope(Struct, frozen=True):
    """Where values come from; `variables` take precedence over the environment. `folder` holds the file.

    `inputs` are those that the person gave; `listed` says by id what the file says of them: a default, a
    description, and whether editors hide them while they are typed.
    """

    folder: Path
    environment: Mapping[str, str]
    variables: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    listed: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

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
            lambda match: (
                match[0]
                if self._own(match) and looks_secret(match["id"] or match["name"])
                else self._value(match, key)
            ),
            text,
        )
        return Expansion(key, tuple(own), shown)

    def secrets(self, text: str) -> dict[str, str]:
        """The values of the person's own that the text contains, which may be secret, by their names."""
        found: dict[str, str] = {}
        for match in _REFERENCE.finditer(text):
            if self._own(match):
                name = match["id"] or match["name"]
                # An input that is hidden while it is typed is one, whatever it is called.
                is_hidden = self._said(name).get("password") is True
                found[f"{name}.secret" if is_hidden else name] = self._value(match, "")
        return found

    def _said(self, name: str) -> Mapping[str, Any]:
        """What the file says of an input."""
        return self.listed.get(name, {})

    def _own(self, match: re.Match[str]) -> str:
        """The person's own variable that a reference means; "" if it means anything else."""
        name = match["id"] if match["kind"] else match["name"]
        if match["kind"] == "input" and name in self.inputs:
            return f"input {name}"
        is_own = not match["kind"] and name in self.environment and name not in self.variables
        return name if is_own else ""

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
        if kind == "input":
            given = self.inputs.get(name, self._said(name).get("default"))
            if isinstance(given, str):
                return given
            what = self._said(name).get("description")
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


_UNPASSABLE = re.compile("[\0\ud800-\udfff]")


class ServerReader:
    """Turns the checked entries of one file into ServerSpecs. Its methods raise ConfigError."""

    def __init__(
        self,
        path: Path,
        form: Form,
        environment: Mapping[str, str],
        variables: Mapping[str, str],
        inputs: Mapping[str, str],
    ) -> None:
        self._path = path
        self._form = form
        self._scope = Scope(path.absolute().parent, environment, variables, inputs, form.inputs)
        self._run_file = cache(run_file)  # Servers of one folder have the same files.

    def spec(self, name: str, entry: ServerModel) -> ServerSpec:
        """The entry, expanded, with absolute folders and the file that its command comes down to now."""
        self._check_name(name)
        self._check_transport(name, entry)
        file = self._path_of(self._needed(name, "envFile", entry.envFile))
        from_file = self._variables_of(name, file) if file else {}
        spec = ServerSpec(
            name,
            command=self._needed(name, "command", entry.command),
            args=tuple(self._text(name, f"args[{i}]", arg) for i, arg in enumerate(entry.args)),
            env={**from_file, **{key: self._variable(name, key, value) for key, value in entry.env.items()}},
            cwd=self._path_of(self._needed(name, "cwd", entry.cwd)),
            url=self._url(name, entry.url),
            headers={key: self._header(name, key, value) for key, value in entry.headers.items()},
            oauth=self._oauth(name, entry.oauth or OAuthModel()),
            defer_loading=entry.defer_loading,
            tags=tuple(entry.tags),
            phrases=entry.phrases,
            era=Era(entry.era) if entry.era else None,
            expansions=(
                *(found for key, text in _texts(entry) if (found := self._scope.expansion(key, text))),
                *([Expansion("envFile", (f"file {file}",), file)] if file else ()),
            ),
            rule=self._form.rules.get(name, ServerRule()),
            trust_annotations=entry.trust_annotations,
        )
        program = None if spec.is_http else program_of(spec, self._scope.environment)
        sources = source_files(spec)
        SECRETS.learn(spec.secrets)
        for _, text in _texts(entry):
            SECRETS.learn(self._scope.secrets(text))
        return replace(
            spec,
            program=program,
            files=self._files(sources.files, program) if program is not None else (),
            uncovered=sources.uncovered if program is not None else (),
            **{
                **({"connect_timeout": FETCHING} if package_run(spec.argv) else {}),
                **entry.model_dump(include={"connect_timeout", "call_timeout"}, exclude_none=True),
            },
        )

    def _files(self, sources: Iterable[Path], program: Program) -> tuple[RunFile, ...]:
        return run_files(sources, program, self._scope.folder, self._run_file)

    def _check_name(self, name: str) -> None:
        # A tool's id is `server:tool`, and names are shown on one line.
        if not name.strip() or ":" in name or not name.isprintable():
            hint = "Rename it: a name must not be empty or contain a colon or control characters."
            raise self._error(name, "", "is not a valid server name", hint)

    def _check_transport(self, name: str, entry: ServerModel) -> None:
        if entry.command and entry.url:
            raise self._error(name, "", "has both command and url", "Keep only one of them.")
        if not entry.command and not entry.url:
            faults = self._form.faults.get(name, ())
            near = [one.key for one in faults if one.near in ("command", "url")]
            meant = f"Is `{near[0]}` a misspelling? " if near else ""
            raise self._error(name, "", "has neither command nor url", f"{meant}Give it a command or a url.")
        if entry.type and (entry.type == "stdio") != bool(entry.command):
            needed = "command" if entry.type == "stdio" else "url"
            hint = "Remove `type`: Toolsight infers it from command or url."
            raise self._error(name, "type", f"is {entry.type}, which needs a {needed}", hint)

        if entry.type == "sse":
            told = f"{self._path}: {self._where(name, 'type')} is sse, the older HTTP+SSE: not supported"
            hint = 'Ask for its address for streamable HTTP, often /mcp in place of /sse; its type is "http".'
            raise MissingValue(told, name="streamable HTTP", hint=hint)

    def _text(self, server: str, key: str, text: str) -> str:
        return self._plain(server, key, self._scope.expand(text, f"{self._path}: {self._where(server, key)}"))

    def _plain(self, server: str, key: str, text: str) -> str:
        if _UNPASSABLE.search(text):
            hint = "Remove the NUL character or the unpaired surrogate."
            raise self._error(server, key, "has a character that cannot be passed to a process", hint)
        return text

    def _needed(self, server: str, key: str, text: str) -> str:
        expanded = self._text(server, key, text)
        if text and not expanded.strip():
            raise self._error(server, key, "is empty after its variables are expanded", "Set the variables.")
        return expanded

    def _variable(self, server: str, name: str, text: str) -> str:
        key = f"env.{name}"
        if not name or "=" in name or _UNPASSABLE.search(name):
            raise self._error(server, key, "is not a valid variable name", "Use letters, digits and _.")
        return self._text(server, key, text)

    def _variables_of(self, server: str, file: str) -> dict[str, str]:
        """The variables in a file of lines `NAME=value`. A server whose file is missing lacks it."""
        if not is_file(Path(file)):
            message = f"{self._path}: {self._where(server, 'envFile')}: {file} does not exist"
            raise MissingValue(message, name=f"file {file}", hint="Create the file, or correct its name.")
        found = environment_of(Path(file))
        return {name: self._plain(server, f"envFile.{name}", value) for name, value in found.items()}

    def _path_of(self, text: str) -> str:
        """The absolute path that the expanded text means; "" for none."""
        home = self._scope.environment.get("HOME", "")
        if home and (text == "~" or text.startswith("~/")):
            text = home + text[1:]
        return str(self._scope.folder / text) if text else ""

    def _url(self, server: str, text: str) -> str:
        url = self._needed(server, "url", text)
        if url and not _is_http(url):
            raise self._error(server, "url", "is not an http or https URL", "Write it as https://host/path.")
        return url

    def _oauth(self, server: str, given: OAuthModel) -> OAuthClient:
        texts = {}
        for key, text in _oauth_texts(given):
            read = self._needed if key in _OF_JWT_BEARER else self._text
            texts[key] = read(server, f"oauth.{key}", text)
        grant = Grant(given.grant)
        self._check_grant(server, grant, texts)
        return OAuthClient(
            client_id=texts["clientId"],
            client_secret=texts["clientSecret"],
            method=given.method or "",
            metadata_url=given.clientMetadataUrl,
            issuer=texts["issuer"],
            scope=given.scopes,
            port=given.callbackPort,
            grant=grant,
            private_key=texts["privateKey"],
            algorithm=given.algorithm,
            assertion=texts["assertion"],
            assertion_file=self._path_of(texts["assertionFile"]),
            idp_token_url=texts["idpTokenUrl"],
            idp_client_id=texts["idpClientId"],
            idp_client_secret=texts["idpClientSecret"],
        )

    def _check_grant(self, server: str, grant: Grant, texts: Mapping[str, str]) -> None:
        """Refuse an `oauth` that lacks what its grant needs, or that has what it cannot use."""

        def require(is_right: bool, key: str, wrong: str, hint: str) -> None:
            if not is_right:
                raise self._error(server, f"oauth.{key}", wrong, hint)

        has = {key for key, text in texts.items() if text}
        for key, only in _ONLY_FOR.items():
            hint = f'Set "grant": "{only}", or remove it.'
            require(key not in has or grant is only, key, f"has no use with the grant {grant}", hint)
        if "issuer" in has:
            require(_is_http(texts["issuer"]), "issuer", "is not an http or https URL", "Write https://host.")
        if grant is Grant.CLIENT_CREDENTIALS:
            is_whole = "clientId" in has and bool(has & {"clientSecret", "privateKey"})
            hint = "Give it a clientId, and a clientSecret or a privateKey."
            require(is_whole, "grant", f"is {grant}, which needs a client", hint)
        if grant is Grant.JWT_BEARER:
            wrong = f"is {grant}, which needs a client and its issuer"
            require(has >= {"clientId", "issuer"}, "grant", wrong, "Give it a clientId and an issuer.")
            wrong, hint = f"is {grant}, which needs one JWT", "Give it an assertion or an assertionFile."
            require(len(has & {"assertion", "assertionFile"}) == 1, "grant", wrong, hint)
        if has & {"idpTokenUrl", "idpClientId", "idpClientSecret"}:
            hint = "Write it as https://host/path."
            require(_is_private(texts["idpTokenUrl"]), "idpTokenUrl", "is not an https URL", hint)
            hint = "Give it the client's id at the identity provider."
            require("idpClientId" in has, "idpClientId", "is missing", hint)

    def _header(self, server: str, name: str, text: str) -> str:
        value = self._text(server, f"headers.{name}", text)
        if not name.isprintable() or not name or "\n" in value or "\r" in value:
            hint = "Give the header a name, and keep its value on one line."
            raise self._error(server, f"headers.{name}", "is not a valid header", hint)
        return value

    def _error(self, server: str, key: str, message: str, hint: str) -> ConfigError:
        return ConfigError(f"{self._path}: {self._where(server, key)} {message}", hint=hint)

    def _where(self, server: str, key: str) -> str:
        at = dotted(self._form.section, server)
        return f"{at}.{key}" if key else at


def _texts(entry: ServerModel) -> Iterator[tuple[str, str]]:
    """The texts of an entry that are expanded, each with its place."""
    yield "command", entry.command
    yield from ((f"args[{index}]", arg) for index, arg in enumerate(entry.args))
    yield from ((f"env.{name}", text) for name, text in entry.env.items())
    yield "cwd", entry.cwd
    yield "url", entry.url
    yield from ((f"headers.{name}", text) for name, text in entry.headers.items())
    yield from ((f"oauth.{key}", text) for key, text in _oauth_texts(entry.oauth or OAuthModel()))


def _oauth_texts(given: OAuthModel) -> Iterator[tuple[str, str]]:
    """The texts of a server's `oauth` that are expanded."""
    yield from given.model_dump(include=_OAUTH_TEXTS).items()


_OF_JWT_BEARER = {"assertion", "assertionFile", "idpTokenUrl", "idpClientId", "idpClientSecret"}
_OAUTH_TEXTS = {"clientId", "clientSecret", "issuer", "privateKey", *_OF_JWT_BEARER}
_ONLY_FOR = {
    "privateKey": Grant.CLIENT_CREDENTIALS,
    **dict.fromkeys(sorted(_OF_JWT_BEARER), Grant.JWT_BEARER),
}


def _is_private(url: str) -> bool:
    """Whether nobody on the way reads what is sent there."""
    return _is_http(url) and (urlsplit(url).scheme == "https" or urlsplit(url).hostname in LOOPBACK)


def _is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
        # Reading the port validates it.
        return (
            parts.scheme in ("http", "https")
            and bool(parts.hostname)
            and parts.port != 0
            and url.isprintable()
        )
    except ValueError:
        return False
