"""Turns one entry of `mcpServers` into a ServerSpec, with every reference expanded."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from inspector.config.json_text import without_comments
from inspector.config.problem import dotted
from inspector.config.program import program_of
from inspector.config.run_file import run_files
from inspector.config.source.expansion import Form, Scope
from inspector.config.source.model import ServerModel
from inspector.core.closest import closest
from inspector.core.error import ConfigError
from inspector.core.redaction import SECRETS
from inspector.core.server import Era, ServerSpec

# Comments and trailing commas stay as they are, and so do the file's indentation and its line ends.

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_STEP = 2


@dataclass(frozen=True, slots=True)
class _Member:
    """Where a member begins and ends, and where its value begins."""

    key: str
    start: int
    value: int
    end: int


@dataclass(frozen=True, slots=True)
class _Object:
    """An object in the text: where its braces are, its members, and its trailing comma (-1 for none)."""

    opening: int
    closing: int
    members: tuple[_Member, ...]
    comma: int = -1


def with_member(text: str, path: Sequence[str], key: str, value: Any) -> str:
    """The text with a member behind the last one of the object that `path` leads to.

    The text is a JSON object that has been read before; KeyError if the path leads to none.
    """
    found = _find(without_comments(text), path)
    line = "\r\n" if "\r\n" in text else "\n"
    inside = text[found.opening : found.closing]
    if "\n" not in inside and found.members:
        written = f"{json.dumps(key, ensure_ascii=False)}: {json.dumps(value, ensure_ascii=False)}"
        return _inserted(text, found, f" {written}")
    outer = _indent(text, found.closing) if "\n" in inside else _indent(text, found.opening)
    inner = _indent(text, found.members[-1].start) if found.members else outer + " " * _STEP
    unit = inner.removeprefix(outer) or " " * _STEP
    dumped = json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", f"{line}{inner}")
    written = f"{line}{inner}{json.dumps(key, ensure_ascii=False)}: {dumped}"
    if not found.members:
        before, after = text[: found.opening + 1], text[found.opening + 1 :]
        closing = "" if "\n" in inside else f"{line}{outer}"
        return f"{before}{written}{closing}{after}"
    return _inserted(text, found, written)


def without_member(text: str, path: Sequence[str], key: str) -> str:
    """The text without a member of the object that `path` leads to; KeyError if there is none."""
    plain = without_comments(text)
    found = _find(plain, path)
    names = [member.key for member in found.members]
    if key not in names:
        raise KeyError(key)
    at = names.index(key)
    member = found.members[at]
    start = len(text[: member.start].rstrip())
    is_last = at == len(names) - 1
    after = plain.find(",", member.end, found.closing)
    if not is_last or found.comma >= 0:
        return text[:start] + text[member.end : after] + text[after + 1 :]
    if not at:
        return text[:start] + text[member.end :]
    comma = plain.find(",", found.members[at - 1].end)
    return text[:comma] + text[comma + 1 : start] + text[member.end :]


def _inserted(text: str, found: _Object, written: str) -> str:
    """The text with a member behind the last one, whose comma stands where the file's style has it."""
    end = len(text[: found.closing].rstrip())
    if found.comma >= 0:
        return f"{text[:end]}{written},{text[end:]}"
    last = found.members[-1].end
    return f"{text[:last]},{text[last:end]}{written}{text[end:]}"


def _indent(text: str, position: int) -> str:
    """The white space that the position's line begins with."""
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip())]


def _find(plain: str, path: Sequence[str]) -> _Object:
    found = _object(plain, plain.index("{"))
    for name in path:
        member = next((one for one in found.members if one.key == name), None)
        if member is None or plain[member.value] != "{":
            raise KeyError(name)
        found = _object(plain, member.value)
    return found


def _object(plain: str, opening: int) -> _Object:
    members: list[_Member] = []
    position, comma = opening + 1, -1
    while plain[position := _next(plain, position)] != "}":
        string = _STRING.match(plain, position)
        if string is None:
            raise KeyError(plain[position])
        value = _next(plain, _next(plain, string.end()) + 1)
        end = _value_end(plain, value)
        members.append(_Member(json.loads(string[0], strict=False), position, value, end))
        position, comma = _next(plain, end), -1
        if plain[position] == ",":
            position, comma = position + 1, position
    return _Object(opening, position, tuple(members), comma)


def _next(plain: str, position: int) -> int:
    """The next position that is no white space."""
    while plain[position].isspace() or plain[position] == "\ufeff":
        position += 1
    return position


def _value_end(plain: str, start: int) -> int:
    depth, position = 0, start
    while True:
        if plain[position] == '"':
            string = _STRING.match(plain, position)
            position = string.end() if string is not None else position + 1
        else:
            depth += (plain[position] in "{[") - (plain[position] in "}]")
            position += 1
        if not depth and (plain[position - 1] in '"}]' or plain[position] in ",}] \t\r\n"):
            return position


_UNPASSABLE = re.compile("[\0\ud800-\udfff]")


class ServerReader:
    """Turns the checked entries of one file into ServerSpecs. Its methods raise ConfigError."""

    def __init__(self, path: Path, form: Form, scope: Scope) -> None:
        self._path = path
        self._form = form
        self._scope = scope

    def spec(self, name: str, entry: ServerModel) -> ServerSpec:
        """The entry, expanded, with absolute folders and the file that its command comes down to now."""
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
            expansions=tuple(
                found for key, text in _texts(entry) if (found := self._scope.expansion(key, text))
            ),
            trust_annotations=entry.trust_annotations,
            client=_declared(entry),
        )
        program = None if spec.is_http else program_of(spec, self._scope.environment)
        SECRETS.learn(spec.secrets)
        for _, text in _texts(entry):
            SECRETS.learn(self._scope.secrets(text))
        return replace(
            spec,
            program=program,
            files=run_files(spec, program, self._scope.folder) if program is not None else (),
            **entry.model_dump(include={"connect_timeout", "call_timeout"}, exclude_none=True),
        )

    def _check_name(self, name: str) -> None:
        # A tool's id is `server:tool`, and names are shown on one line.
        if not name.strip() or ":" in name or not name.isprintable():
            hint = "Rename it: a name must not be empty or contain a colon or control characters."
            raise self._error(name, "", "is not a valid server name", hint)

    def _check_transport(self, name: str, entry: ServerModel) -> None:
        if entry.command and entry.url:
            raise self._error(name, "", "has both command and url", "Keep only one of them.")
        if not entry.command and not entry.url:
            ignored = self._form.ignored_by_server.get(name, ())
            near = [key for key in ignored if closest(key, ("command", "url"))]
            meant = f"Is `{near[0]}` a misspelling? " if near else ""
            raise self._error(name, "", "has neither command nor url", f"{meant}Give it a command or a url.")
        if entry.type and (entry.type == "stdio") != bool(entry.command):
            needed = "command" if entry.type == "stdio" else "url"
            hint = "Remove `type`: Toolsight infers it from command or url."
            raise self._error(name, "type", f"is {entry.type}, which needs a {needed}", hint)

    def _text(self, server: str, key: str, text: str) -> str:
        expanded = self._scope.expand(text, f"{self._path}: {self._where(server, key)}")
        if _UNPASSABLE.search(expanded):
            hint = "Remove the NUL character or the unpaired surrogate."
            raise self._error(server, key, "has a character that cannot be passed to a process", hint)
        return expanded

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
            raise self._error(server, "url", "is not an http or https URL", "Write it as https://host/path.")
        return url

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


def _declared(entry: ServerModel) -> dict[str, Any]:
    """What is declared to this server alone."""
    return entry.client_capabilities.model_dump(exclude_none=True) if entry.client_capabilities else {}


def _texts(entry: ServerModel) -> Iterator[tuple[str, str]]:
    """The texts of an entry that are expanded, each with its place."""
    yield "command", entry.command
    yield from ((f"args[{index}]", arg) for index, arg in enumerate(entry.args))
    yield from ((f"env.{name}", text) for name, text in entry.env.items())
    yield "cwd", entry.cwd
    yield "url", entry.url
    yield from ((f"headers.{name}", text) for name, text in entry.headers.items())


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
