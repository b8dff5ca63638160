"""JSON that a person wrote: an object with comments and trailing commas, or an object in every line.

Every fault is told with its place.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from inspector.adapters.files import content
from inspector.adapters.files.problem import dotted
from inspector.domain.error import ConfigError

_STRING_OR_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_STRING_OR_COMMA = re.compile(r'"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])')
_EXPECTED = 'An object is expected: { "mcpServers": { … } }.'


class _Pairs(dict[str, Any]):
    """An object that remembers a key it was given twice."""

    twice: str | None = None


def load_object(path: Path) -> dict[str, Any]:
    """The object in a configuration file. Raises ConfigError with the file and, if known, line and column."""
    missing = "Check the name, or run `toolsight demo` to start without a file."
    text = content.read_text(path, "configuration", limit=content.MAX_BYTES, missing=missing)
    if not text.strip():
        raise ConfigError(f"{path} is empty", hint=_EXPECTED)
    value = _parsed(path, text)
    _refuse_duplicates(path, value, "")
    if not isinstance(value, dict):
        raise ConfigError(f"{path} holds no object at its top", hint=_EXPECTED)
    return value


def load_lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of JSON Lines with their file and line, blank lines left out. Raises ConfigError."""
    decoder = json.JSONDecoder(parse_constant=_constant)
    for number, line in enumerate(content.read_text(path, "data set").split("\n"), 1):
        if line.strip():
            place = f"{path}:{number}"
            yield place, _line_object(place, line, decoder)


def _line_object(place: str, line: str, decoder: json.JSONDecoder) -> dict[str, Any]:
    problem = "holds no object"
    try:
        value = decoder.decode(line)
        if isinstance(value, dict):
            return value
    except (RecursionError, ValueError) as error:
        problem = "is nested too deeply" if isinstance(error, RecursionError) else f"is no JSON: {error}"
    raise ConfigError(f"{place} {problem}", hint="Each line holds one JSON object.")


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
    made = _Pairs()
    for key, value in pairs:
        if key in made and made.twice is None:
            made.twice = key
        made[key] = value
    return made


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
