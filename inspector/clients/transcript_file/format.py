"""What a reader of one format is, and how a line becomes a record."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from inspector.clients.transcript import Entry, Tally

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Format(StrEnum):
    """A format of transcripts, by the program that writes it."""

    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    VSCODE = "vscode"
    RESPONSES = "openai-responses"
    OTEL = "opentelemetry"


class RecordReader(Protocol):
    """Reads the records of one transcript, in the order of the file. Nothing in a record makes it fail."""

    def read(self, record: dict[str, Any]) -> list[Entry]:
        """The entries that are finished with this record."""
        ...

    def finish(self) -> list[Entry]:
        """The entries that waited for more; what comes after that makes entries of its own."""
        ...


ReaderFactory = Callable[[Tally], RecordReader]


@dataclass(slots=True)
class LineReader:
    """Reads a transcript line by line, as its agent appends to it."""

    records: RecordReader
    tally: Tally

    def feed(self, line: bytes) -> list[Entry]:
        """The entries that are finished with this line; a line that is no record is counted."""
        record = parsed(line, self.tally)
        if record is None:
            return []
        return self.records.read(record)

    def finish(self) -> list[Entry]:
        """The entries that waited for more lines.

        May also be called when nothing was appended for a while: what comes later makes entries of its own,
        and no usage is counted twice.
        """
        return self.records.finish()


def parsed(line: bytes, tally: Tally) -> dict[str, Any] | None:
    """The object on a line, or None: for a blank line, and, counted, for one that holds none."""
    line = line.removeprefix(_BYTE_ORDER_MARK).strip()
    value = decoded(line, tally) if line else None
    if isinstance(value, dict):
        tally.records += 1
        return value
    if line and value is not None:
        tally.count_malformed("not an object")
    return None


def decoded(data: bytes, tally: Tally) -> object:
    """The JSON value, or None, counted, if it is none. What is not UTF-8 is replaced, and counted."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        tally.count_malformed("not UTF-8")
        text = data.decode(errors="replace")
    try:
        value: object = json.loads(text)
    except RecursionError:
        tally.count_malformed("nested too deeply")
        return None
    except ValueError:
        tally.count_malformed("not JSON")
        return None
    return value
