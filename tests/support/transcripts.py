"""Transcripts for tests: where the small ones are, and records as each agent writes them."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from inspector.clients.transcript import Answered, Entry
from inspector.clients.transcript_file.reader import Format, LineReader, line_reader, open_transcript
from inspector.core.message import Usage

SMALL = Path(__file__).parents[2] / "fixtures" / "transcripts"
FILES = {
    Format.CLAUDE_CODE: SMALL / "claude-code.jsonl",
    Format.CODEX: SMALL / "codex.jsonl",
    Format.VSCODE: SMALL / "vscode.json",
    Format.RESPONSES: SMALL / "responses.jsonl",
    Format.OTEL: SMALL / "otel.jsonl",
}
_Kind = TypeVar("_Kind")


def line(record: object) -> bytes:
    """A record as a line."""
    return json.dumps(record).encode() + b"\n"


def records(path: Path) -> list[dict[str, Any]]:
    """The records of a small transcript."""
    text = path.read_text(encoding="utf-8")
    return [json.loads(text)] if path.suffix == ".json" else [json.loads(one) for one in text.splitlines()]


def fed(reader: LineReader, lines: Iterable[bytes]) -> list[Entry]:
    """The entries of lines that are fed one by one."""
    return [entry for one in lines for entry in reader.feed(one)] + reader.finish()


def read(kind: Format, *given: object) -> list[Entry]:
    """The entries of these records."""
    return fed(line_reader(kind), map(line, given))


def whole(path: Path) -> list[Entry]:
    """The entries of a file."""
    return list(open_transcript(path).entries())


def of(kind: type[_Kind], entries: Sequence[object]) -> list[_Kind]:
    """The entries of one kind."""
    return [entry for entry in entries if isinstance(entry, kind)]


def total(entries: Sequence[Entry]) -> tuple[int, int, int, int]:
    """Input, output, cached and written tokens of all answers."""
    usages = [answer.usage for answer in of(Answered, entries)]
    return (
        sum(usage.input_tokens or 0 for usage in usages),
        sum(usage.output_tokens or 0 for usage in usages),
        sum(usage.cached_tokens or 0 for usage in usages),
        sum(usage.written_tokens or 0 for usage in usages),
    )


class Claude:
    """Writes records of Claude Code; each has its own uuid and is a second later than the one before."""

    def __init__(self) -> None:
        self._written = 0

    def record(self, kind: str, **fields: Any) -> dict[str, Any]:
        """A record of the conversation."""
        self._written += 1
        at = f"2026-10-05T08:00:{self._written:02}Z"
        return {"type": kind, "uuid": f"u-{self._written}", "sessionId": "s", "timestamp": at, **fields}

    def asked(self, text: object, **fields: Any) -> dict[str, Any]:
        """What the user wrote."""
        return self.record("user", message={"role": "user", "content": text}, **fields)

    def answer(
        self, message: str, *blocks: object, output: int = 5, stop: str | None = "end_turn", **fields: Any
    ) -> dict[str, Any]:
        """A piece of an answer; its prompt was 10 fresh tokens, 200 cached and 30 written."""
        usage = {"input_tokens": 10, "cache_read_input_tokens": 200, "cache_creation_input_tokens": 30}
        told = {"model": "claude-sonnet-5", "stop_reason": stop, "usage": {**usage, "output_tokens": output}}
        return self.record("assistant", message={"id": message, "content": list(blocks), **told}, **fields)

    def result(self, call: str, content: object, **fields: Any) -> dict[str, Any]:
        """What came back from a call."""
        failed = {"is_error": True} if fields.pop("failed", False) else {}
        return self.asked(
            [{"type": "tool_result", "tool_use_id": call, "content": content, **failed}], **fields
        )

    def attachment(self, kind: str, **fields: Any) -> dict[str, Any]:
        """What the model is told beside the conversation."""
        return self.record("attachment", attachment={"type": kind, **fields})


def said(text: str) -> dict[str, Any]:
    """A block of text."""
    return {"type": "text", "text": text}


def called(call: str, name: str = "mcp__bakery__order_flour", **given: Any) -> dict[str, Any]:
    """A block with a call."""
    return {"type": "tool_use", "id": call, "name": name, "input": given}


def item(kind: str, **fields: Any) -> dict[str, Any]:
    """An item in a rollout of Codex."""
    return {
        "timestamp": "2026-10-06T09:00:00Z",
        "type": "response_item",
        "payload": {"type": kind, **fields},
    }


def event(kind: str, **fields: Any) -> dict[str, Any]:
    """An event in a rollout of Codex."""
    return {"timestamp": "2026-10-06T09:00:00Z", "type": "event_msg", "payload": {"type": kind, **fields}}


def token_count(last: int, total_: int, **fields: int) -> dict[str, Any]:
    """A token count of Codex: input tokens of the last call and of all."""
    return event(
        "token_count",
        info={
            "last_token_usage": {"input_tokens": last, "output_tokens": 1, **fields},
            "total_token_usage": {"input_tokens": total_, "output_tokens": 1},
        },
    )


NO_USAGE = Usage()
