"""Reads JSON that people write: an object with comments and trailing commas, or one object per line.

Every error names the file and, if known, the line.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from inspector.config.content import MAX_BYTES, read_text
from inspector.config.problem import dotted
from inspector.core.error import ConfigError

_STRING_OR_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_STRING_OR_COMMA = re.compile(r'"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])')
_EXPECTED = 'Write an object: { "mcpServers": { … } }.'


class _Pairs(dict[str, Any]):
    """An object that remembers the first duplicate key."""

    twice: str | None = None


def load_object(path: Path) -> dict[str, Any]:
    """Read a configuration file's object. Raises ConfigError with the file and, if known, line and column."""
    missing = "Check the name, or run `toolsight demo` to start without a file."
    return parse_object(path, read_text(path, "configuration", limit=MAX_BYTES, missing=missing))


def parse_object(path: Path, text: str) -> dict[str, Any]:
    """The object in the text of a file. Raises ConfigError with the file and, if known, line and column."""
    if not text.strip():
        raise ConfigError(f"{path} is empty", hint=_EXPECTED)
    value = _parsed(path, text)
    _refuse_duplicates(path, value, "")
    if not isinstance(value, dict):
        raise ConfigError(f"{path} is not a JSON object", hint=_EXPECTED)
    return value


def load_document(path: Path, kind: str) -> Any:
    """Read JSON with comments and trailing commas, without keys that appear twice. Raises ConfigError."""
    value = _parsed(path, read_text(path, kind, limit=MAX_BYTES))
    _refuse_duplicates(path, value, "")
    return value


def load_lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Read the objects of JSON Lines, each with its file and line; skips blank lines. Raises ConfigError."""
    decoder = json.JSONDecoder(parse_constant=_constant)
    for number, line in enumerate(read_text(path, "data set").split("\n"), 1):
        if line.strip():
            place = f"{path}:{number}"
            yield place, _line_object(place, line, decoder)


def load_value(path: Path, kind: str, *, hint: str, limit: int | None = None) -> Any:
    """Read any JSON, or JSON Lines as the list of their objects; `kind` and `hint` are for errors.

    Raises ConfigError.
    """
    text = read_text(path, kind, limit=limit)
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ConfigError(f"{path} is nested too deeply", hint=hint) from error
    except ValueError as error:
        if text.lstrip().startswith("{") and "\n" in text.strip():
            return [value for _, value in load_lines(path)]
        raise ConfigError(f"{path} is not JSON: {error}", hint=hint) from error


def _line_object(place: str, line: str, decoder: json.JSONDecoder) -> dict[str, Any]:
    problem = "is not a JSON object"
    try:
        value = decoder.decode(line)
        if isinstance(value, dict):
            return value
    except (RecursionError, ValueError) as error:
        problem = "is nested too deeply" if isinstance(error, RecursionError) else f"is not JSON: {error}"
    raise ConfigError(f"{place} {problem}", hint="Write one JSON object on each line.")


def _parsed(path: Path, text: str) -> Any:
    try:
        return _decoded(text)
    except json.JSONDecodeError:
        pass
    except (RecursionError, ValueError) as error:
        _refuse(path, error)
    # Blanked, not removed: every character keeps its line and column for the message.
    plain = _STRING_OR_COMMA.sub(_blank(","), without_comments(text))
    try:
        return _decoded(plain)
    except json.JSONDecodeError as error:
        fault = error.msg[:1].lower() + error.msg[1:]
        raise ConfigError(
            f"{path}:{error.lineno}:{error.colno}: {fault}", hint=_hint(plain, error.pos)
        ) from error
    except (RecursionError, ValueError) as error:
        _refuse(path, error)


def without_comments(text: str) -> str:
    """The text with spaces in place of its comments: everything else keeps its position."""
    return _STRING_OR_COMMENT.sub(_blank("/"), text)


def _refuse(path: Path, error: Exception) -> NoReturn:
    reason = "is nested too deeply" if isinstance(error, RecursionError) else f"cannot be read: {error}"
    raise ConfigError(f"{path} {reason}", hint="Is it really a configuration file?") from error


def _decoded(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_object, parse_constant=_constant)


def _object(pairs: list[tuple[str, Any]]) -> _Pairs:
    result = _Pairs()
    for key, value in pairs:
        if key in result and result.twice is None:
            result.twice = key
        result[key] = value
    return result


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _blank(marker: str) -> Any:
    def replaced(match: re.Match[str]) -> str:
        text = match.group()
        return re.sub(r"[^\n]", " ", text) if text.startswith(marker) else text

    return replaced


def _hint(text: str, position: int) -> str:
    rest = text[position:].lstrip()
    if not rest:
        return "The file ends too early: a bracket, a brace or a quotation mark is missing."
    if rest.startswith("'"):
        return "Put strings and keys in double quotes."
    if re.match(r"[A-Za-z_$]\w*\s*:", rest):
        return "Put keys in double quotes."
    return "Comments and trailing commas are fine; everything else must be plain JSON."


def _refuse_duplicates(path: Path, value: Any, at: str) -> None:
    if isinstance(value, _Pairs):
        if value.twice is not None:
            raise ConfigError(f"{path}: {dotted(at, value.twice)} appears twice", hint="Keep one of them.")
        for key, item in value.items():
            _refuse_duplicates(path, item, dotted(at, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _refuse_duplicates(path, item, f"{at}[{index}]")
