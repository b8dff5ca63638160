"""One entry of `mcpServers` as a ServerSpec, with every reference in it expanded."""

import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from inspector.adapters.files.config.dialect import Form
from inspector.adapters.files.config.expansion import Scope
from inspector.adapters.files.config.model import ServerModel
from inspector.adapters.files.problem import dotted
from inspector.domain.closest import closest
from inspector.domain.error import ConfigError
from inspector.domain.server import Era, ServerSpec

_UNPASSABLE = re.compile("[\0\ud800-\udfff]")


class ServerReader:
    """Turns the checked entries of one file into ServerSpecs. Its methods raise ConfigError."""

    def __init__(self, path: Path, form: Form, scope: Scope) -> None:
        self._path = path
        self._form = form
        self._scope = scope

    def spec(self, name: str, entry: ServerModel) -> ServerSpec:
        """The entry, expanded, with folders made absolute."""
        self._check_name(name)
        self._check_transport(name, entry)
        spec = ServerSpec(
            name,
            command=self._needed(name, "command", entry.command),
            args=tuple(self._text(name, f"args[{i}]", arg) for i, arg in enumerate(entry.args)),
            env={key: self._variable(name, key, value) for key, value in entry.env.items()},
            cwd=self._folder(name, entry.cwd),
            url=self._url(name, entry.url),
            headers={key: self._header(name, key, value) for key, value in entry.headers.items()},
            defer_loading=entry.defer_loading,
            tags=tuple(entry.tags),
            era=Era(entry.era) if entry.era else None,
        )
        return replace(
            spec, **entry.model_dump(include={"connect_timeout", "call_timeout"}, exclude_none=True)
        )

    def _check_name(self, name: str) -> None:
        # A tool's id is `server:tool`, and names are shown in one line.
        if not name.strip() or ":" in name or not name.isprintable():
            hint = "Rename it: a name is not empty and has neither a colon nor control characters."
            raise self._error(name, "", "is no usable server name", hint)

    def _check_transport(self, name: str, entry: ServerModel) -> None:
        if entry.command and entry.url:
            raise self._error(name, "", "has both command and url", "Keep the one that applies.")
        if not entry.command and not entry.url:
            ignored = self._form.ignored_by_server.get(name, ())
            near = [key for key in ignored if closest(key, ("command", "url"))]
            meant = f"Is `{near[0]}` meant to be one? " if near else ""
            raise self._error(name, "", "has neither command nor url", f"{meant}Give it a command or a url.")
        if entry.type and (entry.type == "stdio") != bool(entry.command):
            needed = "command" if entry.type == "stdio" else "url"
            hint = "Remove `type`: it follows from command or url."
            raise self._error(name, "type", f"is {entry.type}, which needs a {needed}", hint)

    def _text(self, server: str, key: str, text: str) -> str:
        expanded = self._scope.expand(text, f"{self._path}: {self._where(server, key)}")
        if _UNPASSABLE.search(expanded):
            hint = "Remove the NUL character or the half of a surrogate pair."
            raise self._error(server, key, "holds a character that no process can be given", hint)
        return expanded

    def _needed(self, server: str, key: str, text: str) -> str:
        expanded = self._text(server, key, text)
        if text and not expanded.strip():
            raise self._error(server, key, "is empty once its variables are filled in", "Set them.")
        return expanded

    def _variable(self, server: str, name: str, text: str) -> str:
        key = f"env.{name}"
        if not name or "=" in name or _UNPASSABLE.search(name):
            raise self._error(server, key, "is no name for a variable", "Use letters, digits and _.")
        return self._text(server, key, text)

    def _folder(self, server: str, text: str) -> str:
        if not text:
            return ""
        folder = self._needed(server, "cwd", text)
        home = self._scope.environment.get("HOME", "")
        if home and (folder == "~" or folder.startswith("~/")):
            folder = home + folder[1:]
        return str(self._scope.folder / folder)

    def _url(self, server: str, text: str) -> str:
        url = self._needed(server, "url", text)
        if url and not _is_http(url):
            raise self._error(server, "url", "is no http or https address", "Write it as https://host/path.")
        return url

    def _header(self, server: str, name: str, text: str) -> str:
        value = self._text(server, f"headers.{name}", text)
        if not name.isprintable() or not name or "\n" in value or "\r" in value:
            raise self._error(server, f"headers.{name}", "is no header", "Write it in one line, with a name.")
        return value

    def _error(self, server: str, key: str, message: str, hint: str) -> ConfigError:
        return ConfigError(f"{self._path}: {self._where(server, key)} {message}", hint=hint)

    def _where(self, server: str, key: str) -> str:
        at = dotted(self._form.section, server)
        return f"{at}.{key}" if key else at


def _is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
        # Asking for the port checks it.
        return (
            parts.scheme in ("http", "https")
            and bool(parts.hostname)
            and parts.port != 0
            and url.isprintable()
        )
    except ValueError:
        return False
