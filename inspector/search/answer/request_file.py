"""The file of requests beside a server, `toolsight.requests`, a line each: `REQUEST -> TOOL`.

TOOL is a name, or `SERVER:NAME`, either with `@5` or `>=0.6`; or `nothing`. Blank lines, and those that begin
with `#`, say nothing.
"""

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from inspector.config.file import MEGABYTE, read_bytes, read_text
from inspector.config.reader import REQUESTS
from inspector.config.server_change import replace_file
from inspector.core.error import ConfigError
from inspector.core.redaction import clean
from inspector.core.text import one_line
from inspector.search.answer.evalset import append_lines, read_cases
from inspector.search.answer.expectation import ARROW, Expectation, expected, parse

_COMMENT = "#"
_JSON = frozenset({".json", ".jsonl"})
_MISSING = f"Write a line for each request, `REQUEST {ARROW} TOOL`, or press a in Search."
_UNWRITABLE = f"Write it into the file in other words: REQUEST {ARROW} TOOL."


class RequestLine(Struct, frozen=True):
    """A line that says something, by its number from 1: what is expected, or why it cannot be read."""

    number: int
    text: str
    expectation: Expectation | None = None
    problem: ConfigError | None = None


def lines_of(path: Path) -> tuple[RequestLine, ...]:
    """The lines of a file of at most 1 MB that say something. Raises ConfigError if it cannot be read."""
    return lines_in(read_text(path, "requests", limit=MEGABYTE, missing=_MISSING), str(path))


def lines_in(text: str, name: str = REQUESTS) -> tuple[RequestLine, ...]:
    """The lines of a text that say something; `name` is for their problems."""
    numbered = enumerate(text.split("\n"), 1)
    return tuple(_line(name, number, line) for number, line in numbered if _says(line))


def is_json(path: Path) -> bool:
    """Whether a file of requests has JSON Lines, by its name."""
    return path.suffix.lower() in _JSON


def read_expectations(path: Path) -> tuple[Expectation, ...]:
    """What a file expects: lines `REQUEST -> TOOL`, or labelled requests as JSON. Raises ConfigError.

    The first line that cannot be read is an error, with its number.
    """
    if is_json(path):
        return tuple(one for case in read_cases(path) for one in expected(case))
    found = []
    for line in lines_of(path):
        if line.expectation is None:
            raise line.problem or AssertionError(line)
        found.append(line.expectation)
    return tuple(found)


def _says(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith(_COMMENT)


def written(query: str, tool_id: str) -> str:
    """A request and its tool as a line. Raises ConfigError for what would be read as something else."""
    line = clean(f"{one_line(query)} {ARROW} {tool_id}")
    one = next((read.expectation for read in lines_in(line)), None)
    if one is None or one.tools != {tool_id}:
        raise ConfigError("this request cannot be written as a line", hint=_UNWRITABLE)
    return line


def add_requests(path: Path, wanted: Sequence[tuple[str, str]]) -> None:
    """Add requests with their tools, as `append_lines` does. Raises ConfigError."""
    append_lines(path, [written(*pair) for pair in wanted])


def without_line(path: Path, line: RequestLine) -> None:
    """Take a line out of the file. Raises ConfigError, also if another stands there by now."""
    before = read_bytes(path, "requests", limit=MEGABYTE)
    lines = before.split(b"\n")
    if (line.number, line.text) not in ((one.number, one.text) for one in lines_of(path)):
        raise ConfigError(f"{path}:{line.number} has changed in the meantime", hint="Try again.")
    del lines[line.number - 1]
    replace_file(path, before, b"\n".join(lines), backs_up=False)


def _line(name: str, number: int, line: str) -> RequestLine:
    try:
        return RequestLine(number, line, parse(line))
    except ConfigError as error:
        problem = ConfigError(f"{name}:{number}: {error.message}", hint=error.hint)
        return RequestLine(number, line, problem=problem)
