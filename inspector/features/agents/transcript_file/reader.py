"""Opens transcripts of agents: which format a file has, its entries, and the files in a folder.

Files are opened for reading only, and a line at a time is in memory where the format has lines.
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol

from inspector.config.file import MEGABYTE, is_file, open_file, unusable
from inspector.core.error import ConfigError
from inspector.features.agents.transcript import Entry, Tally
from inspector.features.agents.transcript_file import claude_code
from inspector.features.agents.transcript_file.claude_code import ClaudeCodeReader
from inspector.features.agents.transcript_file.codex import CodexReader, is_header
from inspector.features.agents.transcript_file.compressed import decompressed, plain
from inspector.features.agents.transcript_file.copilot import CopilotReader, is_event
from inspector.features.agents.transcript_file.field import (
    _BYTE_ORDER_MARK,
    MAX_LINE,
    decoded,
    mappings,
    read_lines,
    read_value,
    text,
)
from inspector.features.agents.transcript_file.openai_agents import AgentsReader, is_trace
from inspector.features.agents.transcript_file.openai_item import ResponsesReader
from inspector.features.agents.transcript_file.otel import OTelReader
from inspector.features.agents.transcript_file.vscode import VSCodeReader
from inspector.schema.json_value import as_object


class Format(StrEnum):
    """A format of transcripts, by the program that writes it."""

    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    VSCODE = "vscode"
    COPILOT = "copilot-cli"
    AGENTS = "openai-agents"
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


_RECORDS = 20
_LONGEST = 4 * MEGABYTE
_HEAD = 64 * 1024
_CODEX = frozenset(
    {"session_meta", "response_item", "event_msg", "turn_context", "compacted", "token_usage_record"}
    | {"world_state", "inter_agent_communication", "retained_context"}
)
# What an item of this kind has; other programs write records of the same kinds, without it.
_ITEMS: Mapping[str, str] = {
    **dict.fromkeys(("function_call", "function_call_output", "custom_tool_call"), "call_id"),
    **dict.fromkeys(("mcp_call", "mcp_list_tools"), "server_label"),
    **dict.fromkeys(("tool_search_output", "additional_tools"), "tools"),
    "tool_search_call": "arguments",
    "reasoning": "summary",
}
_PARTS = frozenset({"input_text", "input_image", "input_file", "output_text", "refusal"})
# A document of one value may be too large to read it only to see what it is.
_DOCUMENTS = (
    (Format.OTEL, re.compile(r'"(?:resourceSpans|resource_spans)"\s*:\s*\[')),
    (Format.AGENTS, re.compile(r'"object"\s*:\s*"trace(?:\.span)?".*"(?:workflow_name|span_data)"', re.S)),
    (Format.RESPONSES, re.compile(r'"object"\s*:\s*"response"')),
    (
        Format.VSCODE,
        re.compile(r'"requests"\s*:\s*\[(?:\s*\{\s*"requestId"|.*"(?:variableData|responseId)")', re.S),
    ),
    (Format.VSCODE, re.compile(r'"responderUsername"\s*:.*"requests"\s*:\s*\[', re.S)),
)

# What is a session, but none that is read, is told by whose it is.
_STRANGERS = (
    ("a session of Qwen Code", re.compile(r'"parentUuid".*"message"\s*:.*"parts"\s*:\s*\[', re.S)),
    ("a session of Gemini CLI", re.compile(r'"sessionId".*"projectHash"', re.S)),
    ("a session of opencode", re.compile(r'"info"\s*:\s*\{.*"sessionID"', re.S)),
    (
        "streamed output (`stream-json`)",
        re.compile(r'"type"\s*:\s*"(?:system|assistant)".*"session_id"', re.S),
    ),
)


class Found(NamedTuple):
    """A format; `whole` if the file is one value over many lines, or a list; `packed` if it is compressed."""

    format: Format
    whole: bool = False
    packed: bool = False


def recognized(file: BinaryIO) -> Found | None:
    """The format of an open file, or None. Reads its beginning only."""
    for number, (line, done) in enumerate(read_lines(file, _LONGEST)):
        record = None if line is None else parsed(line, Tally())
        found = None if record is None else format_of(record)
        if found is not None:
            return Found(found)
        if number >= _RECORDS or done > MAX_LINE:
            break
    whole = _document(_head(file))
    return Found(whole, whole=True) if whole else None


def _head(file: BinaryIO) -> str:
    file.seek(0)
    return file.read(_HEAD).decode(errors="replace").removeprefix("\ufeff").lstrip()


def format_of(record: dict[str, Any]) -> Format | None:
    """The format that a record belongs to, or None."""
    kind = text(record.get("type"))
    if "resourceSpans" in record or "resource_spans" in record:
        return Format.OTEL
    if isinstance(record.get("requests"), list) and _is_chat(record):
        return Format.VSCODE
    if (kind in _CODEX and isinstance(record.get("payload"), dict)) or is_header(record):
        return Format.CODEX
    if _is_claude_code(record, kind):
        return Format.CLAUDE_CODE
    if is_event(record):
        return Format.COPILOT
    if is_trace(record):
        return Format.AGENTS
    if _is_response(record) or _is_response(as_object(record.get("response"))):
        return Format.RESPONSES
    return Format.RESPONSES if _is_item(record, kind) else None


def _is_chat(record: dict[str, Any]) -> bool:
    return "responderUsername" in record or any("requestId" in one for one in mappings(record["requests"]))


def _is_claude_code(record: dict[str, Any], kind: str) -> bool:
    """Whether no other program writes such a record: several have the same frame around other messages."""
    if kind in ("user", "assistant"):
        is_message = isinstance(as_object(record.get("message")).get("content"), str | list)
        return is_message and isinstance(record.get("sessionId"), str)
    if kind == "attachment":
        return "sessionId" in record and bool(as_object(record.get("attachment")))
    is_state = kind in claude_code.STATES and kind != "progress"
    return is_state and ("sessionId" in record or "leafUuid" in record or "messageId" in record)


def _is_response(record: dict[str, Any]) -> bool:
    return record.get("object") == "response" and isinstance(record.get("output"), list)


def _is_item(record: dict[str, Any], kind: str) -> bool:
    """Whether it is an item of a response by itself; other programs write messages, too."""
    if kind == "message":
        return "role" in record and any(one.get("type") in _PARTS for one in mappings(record.get("content")))
    return kind in _ITEMS and _ITEMS[kind] in record


def _document(head: str) -> Format | None:
    if not head.startswith(("{", "[")):
        return None
    return next((found for found, pattern in _DOCUMENTS if pattern.search(head)), _list_of(head))


def _list_of(head: str) -> Format | None:
    """The format of a list, by its first element."""
    if not head.startswith("["):
        return None
    try:
        first, _ = json.JSONDecoder().raw_decode(head[1:].lstrip())
    except (ValueError, RecursionError):
        return None
    return format_of(first) if isinstance(first, dict) else None


Progress = Callable[[int, int], None]
"""Called with the bytes read so far and the size of the file."""

_READERS: Mapping[Format, ReaderFactory] = {
    Format.CLAUDE_CODE: ClaudeCodeReader,
    Format.CODEX: CodexReader,
    Format.VSCODE: VSCodeReader,
    Format.COPILOT: CopilotReader,
    Format.AGENTS: AgentsReader,
    Format.RESPONSES: ResponsesReader,
    Format.OTEL: OTelReader,
}
_SUFFIXES = (".jsonl", ".json", ".jsonl.zst")
_NOT_CONVERSATIONS = frozenset({"tool-results", "workflows"})
_HINT = "docs/papers/transcripts.md lists the agents and files that Toolsight can read."


@dataclass(slots=True)
class Transcript:
    """A file of a known format; `whole` if it is one JSON value and not one a line, `packed` if compressed.

    `tally` is that of the latest reading, and grows with it.
    """

    path: Path
    format: Format
    whole: bool = False
    packed: bool = False
    tally: Tally = field(default_factory=Tally)

    def entries(
        self, progress: Progress = lambda _done, _size: None, stopped: Callable[[], bool] = lambda: False
    ) -> Iterator[Entry]:
        """The entries in their order; ends early when `stopped` says so. Raises ConfigError."""
        reader = line_reader(self.format)
        self.tally = reader.tally
        with _opened(self.path) as file:
            size = os.fstat(file.fileno()).st_size
            records = read_value(file, self.tally) if self.whole else _records(file, self.tally)
            packed = decompressed(file)
            for record, done in records:
                if stopped():
                    return
                yield from reader.records.read(record) if record else ()
                progress(packed.consumed if packed else done, size)
            if packed and packed.is_broken:
                self.tally.count_malformed("a compressed file that is cut off or damaged")
        yield from reader.finish()


def line_reader(kind: Format) -> LineReader:
    """A reader for lines as they are appended to a transcript of this format."""
    tally = Tally()
    return LineReader(_READERS[kind](tally), tally)


def recognize(path: Path) -> Format | None:
    """The format of a file by its first records, or None if it is no transcript. Raises ConfigError."""
    found = _found(path)
    return found and found.format


def open_transcript(path: Path) -> Transcript:
    """Open a transcript. Raises ConfigError if it cannot be read, or nothing in it is known."""
    found = _found(path)
    if found is None:
        with _opened(path) as file:
            head = _head(file)
        whose = next((name for name, pattern in _STRANGERS if pattern.search(head)), "")
        told = (
            f"is {whose}, which Toolsight cannot read" if whose else "is not a transcript in a known format"
        )
        raise ConfigError(f"{path} {told}", hint=_HINT)
    return Transcript(path, *found)


def find_transcripts(folder: Path) -> list[Path]:
    """The transcripts in a folder and below, the newest last; a transcript by itself is a list of one.

    Links are not followed, hidden folders and files that cannot be read are passed over. Raises ConfigError
    if the folder does not exist.
    """
    if is_file(folder):
        return [folder]
    if not folder.is_dir():
        raise ConfigError(f"{folder} does not exist", hint="Pass a transcript or a folder with transcripts.")
    return by_age(path for path in _files(folder) if _is_transcript(path))


def by_age(files: Iterable[Path]) -> list[Path]:
    """Files in the order of their last change; one that has vanished by now is the oldest."""
    return sorted(files, key=lambda file: (changed_at(file), file))


def changed_at(file: Path) -> float:
    """When a file was changed last, in seconds since 1970; 0 if it has vanished."""
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


def _found(path: Path) -> Found | None:
    with _opened(path) as file:
        found = recognized(file)
        return found and found._replace(packed=decompressed(file) is not None)


def _records(file: BinaryIO, tally: Tally) -> Iterator[tuple[dict[str, Any] | None, int]]:
    """The record of each line, if it is one, with the bytes read so far."""
    for line, done in read_lines(file):
        if line is None:
            tally.count_malformed("a line that is too long")
        yield (None if line is None else parsed(line, tally)), done


def _files(folder: Path) -> Iterator[Path]:
    for above, folders, names in os.walk(folder):
        folders[:] = (name for name in folders if name not in _NOT_CONVERSATIONS and name[0] != ".")
        for name in names:
            path = Path(above, name)
            # A rollout that is being decompressed is there twice for a moment.
            is_copy = name.endswith(".zst") and name.removesuffix(".zst") in names
            if name.endswith(_SUFFIXES) and not is_copy and path.is_file() and not path.is_symlink():
                yield path


def _is_transcript(path: Path) -> bool:
    try:
        return recognize(path) is not None
    except ConfigError:
        return False


def _opened(path: Path) -> BinaryIO:
    """The file, for reading. A pipe or device may never end, and is refused."""
    try:
        return plain(open_file(path, "transcript"), path)
    except FileNotFoundError as error:
        raise ConfigError(f"{path} does not exist", hint="Check the name.") from error
    except (OSError, ValueError) as error:
        raise unusable(path, error, "read") from error
