"""A configuration file as JSON: comments and trailing commas allowed, every fault told with its place."""

import json
import re
from pathlib import Path
from typing import Any, NoReturn

from inspector.domain.error import ConfigError

MAX_BYTES = 16 * 1024 * 1024

_STRING_OR_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_STRING_OR_COMMA = re.compile(r'"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])')
_EXPECTED = 'An object is expected: { "mcpServers": { … } }.'


class _Pairs(dict[str, Any]):
    """An object that remembers a key it was given twice."""

    twice: str | None = None


def load(path: Path) -> dict[str, Any]:
    """The object in the file. Raises ConfigError with the file, and line and column where there are any."""
    text = _text(path, _bytes(path))
    if not text.strip():
        raise ConfigError(f"{path} is empty", hint=_EXPECTED)
    value = _parsed(path, text)
    _refuse_duplicates(path, value, "")
    if not isinstance(value, dict):
        raise ConfigError(f"{path} holds no object at its top", hint=_EXPECTED)
    return value


def _bytes(path: Path) -> bytes:
    if path.is_dir():
        raise ConfigError(f"{path} is a folder", hint="Name the configuration file in it.")
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError as error:
        hint = "Check the name, or run `toolsight demo` to start without a file."
        raise ConfigError(f"{path} does not exist", hint=hint) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"{path} cannot be read: {reason}", hint="Check the file's permissions.") from error
    if len(data) > MAX_BYTES:
        limit = MAX_BYTES // 1024 // 1024
        raise ConfigError(f"{path} is larger than {limit} MB", hint="Is it really a configuration file?")
    return data


def _text(path: Path, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line} is not UTF-8", hint="Save the file as UTF-8.") from error


def _parsed(path: Path, text: str) -> Any:
    try:
        return _decoded(text)
    except json.JSONDecodeError:
        pass
    except (RecursionError, ValueError) as error:
        _refuse(path, error)
    # Blanked, not cut out: every character keeps its line and column for the message.
    plain = _STRING_OR_COMMA.sub(_blank(","), _STRING_OR_COMMENT.sub(_blank("/"), text))
    try:
        return _decoded(plain)
    except json.JSONDecodeError as error:
        fault = error.msg[:1].lower() + error.msg[1:]
        raise ConfigError(
            f"{path}:{error.lineno}:{error.colno}: {fault}", hint=_hint(plain, error.pos)
        ) from error
    except (RecursionError, ValueError) as error:
        _refuse(path, error)


def _refuse(path: Path, error: Exception) -> NoReturn:
    reason = "is nested too deeply" if isinstance(error, RecursionError) else f"cannot be read: {error}"
    raise ConfigError(f"{path} {reason}", hint="Is it really a configuration file?") from error


def _decoded(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_object, parse_constant=_constant)


def _object(pairs: list[tuple[str, Any]]) -> _Pairs:
    found = _Pairs()
    for key, value in pairs:
        if key in found and found.twice is None:
            found.twice = key
        found[key] = value
    return found


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _blank(marker: str) -> Any:
    def replaced(match: re.Match[str]) -> str:
        found = match.group()
        return re.sub(r"[^\n]", " ", found) if found.startswith(marker) else found

    return replaced


def _hint(text: str, position: int) -> str:
    rest = text[position:].lstrip()
    if not rest:
        return "The file ends too early: a bracket, a brace or a quotation mark is missing."
    if rest.startswith("'"):
        return "Strings and keys are written in double quotes."
    if re.match(r"[A-Za-z_$]\w*\s*:", rest):
        return "Keys are written in double quotes."
    return "Comments and trailing commas are fine; everything else is plain JSON."


def _refuse_duplicates(path: Path, value: Any, at: str) -> None:
    if isinstance(value, _Pairs):
        if value.twice is not None:
            raise ConfigError(f"{path}: {dotted(at, value.twice)} is there twice", hint="Keep one of them.")
        for key, item in value.items():
            _refuse_duplicates(path, item, dotted(at, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _refuse_duplicates(path, item, f"{at}[{index}]")


def dotted(at: str, key: str) -> str:
    """A key's path as messages show it; a key that a dot would break up is quoted."""
    shown = key if re.fullmatch(r"[\w-]+", key) else json.dumps(key, ensure_ascii=False)
    return f"{at}.{shown}" if at else shown
