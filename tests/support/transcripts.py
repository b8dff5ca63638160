"""Transcripts of agents, small and made to measure."""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from inspector.cli.options import Options
from inspector.core.events import Record
from inspector.core.message import Usage
from inspector.core.ports import EventStore
from inspector.features.agents.command import MachineLibrary
from inspector.features.agents.importing import Importer
from inspector.features.agents.transcript import Answered, Entry
from inspector.features.agents.transcript_file.format import Format
from inspector.features.agents.transcript_file.reader import line_reader, open_transcript
from inspector.features.agents.transcript_file.record_reader import RecordReader
from inspector.store.store import MemoryStore
from tests.support.fakes import WordCounter

SMALL = Path(__file__).parents[2] / "fixtures" / "transcripts"
FILES = {
    Format.CLAUDE_CODE: SMALL / "claude-code.jsonl",
    Format.CODEX: SMALL / "codex.jsonl",
    Format.VSCODE: SMALL / "vscode.json",
    Format.COPILOT: SMALL / "copilot.jsonl",
    Format.OTEL: SMALL / "otel.jsonl",
    Format.QWEN: SMALL / "qwen.jsonl",
    Format.GEMINI: SMALL / "gemini.jsonl",
    Format.OPENCODE: SMALL / "opencode.json",
    Format.CLINE: SMALL / "cline" / "1791532800000_a1.messages.json",
    Format.CONTINUE: SMALL / "continue.json",
    Format.KIMI: SMALL / "kimi" / "agents" / "main" / "wire.jsonl",
    Format.VIBE: SMALL / "vibe" / "journal" / "0000000000000001.jsonl",
    Format.DROID: SMALL / "droid" / "session.jsonl",
    Format.OPENHANDS: SMALL / "openhands" / "events" / "event-00000-e0.json",
    Format.FAST_AGENT: SMALL / "fast-agent" / "history_baker.json",
    Format.GPTME: SMALL / "gptme.jsonl",
}
GROWING = tuple(kind for kind, path in FILES.items() if path.suffix == ".jsonl")
"""The formats that have a record a line."""
WITHOUT_COSTS = {Format.QWEN, Format.GEMINI, Format.KIMI, Format.VIBE, Format.DROID}
CODE_MODE, SUB_AGENT = SMALL / "codex-code-mode.jsonl", SMALL / "claude-code-agent.jsonl"
_Kind = TypeVar("_Kind")


def line(record: object) -> bytes:
    """A record as a line."""
    return json.dumps(record).encode() + b"\n"


def records(path: Path) -> list[dict[str, Any]]:
    """The records of a small transcript, in all its files."""
    texts = [(file.suffix, file.read_text(encoding="utf-8")) for file in open_transcript(path).files]
    values = ([text] if suffix == ".json" else text.splitlines() for suffix, text in texts)
    return [json.loads(one) for value in values for one in value]


def fed(reader: RecordReader, lines: Iterable[bytes]) -> list[Entry]:
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
    return {"timestamp": "2026-10-06T09:00:00Z", "type": "response_item", "payload": {"type": kind, **fields}}


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


NOON = 1_780_000_000
SESSION = "6d1f2c9a-0000-4000-8000-000000000001"
SECRET = "sk-live-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c"
MODEL = "claude-sonnet-4-5-20250929"
ORDERS, LATE, POST = "mcp__shop__list_orders", "mcp__shop__late_orders", "mcp__chat__post_message"


class ClaudeTranscript:
    """Makes the lines of one session, one second after another."""

    def __init__(self, session: str = SESSION, model: str = MODEL) -> None:
        self._session = session
        self._model = model
        self._records = 0
        self._cached = 0

    def record(self, kind: str, **fields: Any) -> str:
        """One line, a second after the last."""
        self._records += 1
        minutes, seconds = divmod(self._records, 60)
        hours, minutes = divmod(minutes, 60)
        days, hours = divmod(hours, 24)
        head = {
            "type": kind,
            "uuid": f"{self._session}-{self._records}",
            "sessionId": self._session,
            "version": "2.1.0",
            "cwd": "/home/ada/shop",
            "timestamp": f"2026-05-{days + 1:02}T{hours:02}:{minutes:02}:{seconds:02}.000Z",
        }
        return json.dumps({**head, **fields})

    def deferred(self, *names: str) -> str:
        """Tools become known by name."""
        return self.record("attachment", attachment={"type": "deferred_tools_delta", "addedNames": names})

    def trouble(self, *, failed: str = "", login: str = "") -> str:
        """A server failed, or waits for a login."""
        attachment = {
            "type": "deferred_tools_delta",
            "failedMcpServers": [{"name": failed, "error": "exit 1"}] if failed else [],
            "needsAuthMcpServers": [login] if login else [],
        }
        return self.record("attachment", attachment=attachment)

    def asked(self, text: str) -> str:
        """The user writes."""
        return self.record("user", message={"role": "user", "content": text})

    def answered(self, text: str = "", calls: tuple[tuple[str, str, Any], ...] = (), read: int = -1) -> str:
        """The model answers; `calls` are ids, names and arguments. By default the cache was read whole."""
        usage = {
            "input_tokens": 10,
            "cache_read_input_tokens": self._cached if read < 0 else read,
            "cache_creation_input_tokens": 2000,
            "output_tokens": 50,
        }
        self._cached = usage["cache_read_input_tokens"] + 2000
        content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
        content += [
            {"type": "tool_use", "id": id_, "name": name, "input": given} for id_, name, given in calls
        ]
        message = {
            "id": f"msg_{self._session}_{self._records}",
            "role": "assistant",
            "model": self._model,
            "content": content,
            "stop_reason": "tool_use" if calls else "end_turn",
            "usage": usage,
        }
        return self.record("assistant", message=message)

    def found(self, call_id: str, query: str, *names: str) -> str:
        """A search came back."""
        references = [{"type": "tool_reference", "tool_name": name} for name in names]
        block = {"type": "tool_result", "tool_use_id": call_id, "content": references or "No matching tools"}
        told = {"matches": names, "query": query, "total_deferred_tools": 3}
        return self.record("user", message={"role": "user", "content": [block]}, toolUseResult=told)

    def returned(self, call_id: str, text: str, *, ok: bool = True) -> str:
        """A call came back."""
        block = {"type": "tool_result", "tool_use_id": call_id, "content": text, "is_error": not ok}
        return self.record("user", message={"role": "user", "content": [block]})

    def compacted(self, summary: str, before: int = 150_000) -> tuple[str, str]:
        """The conversation is replaced by a summary."""
        boundary = {
            "subtype": "compact_boundary",
            "compactMetadata": {"trigger": "auto", "preTokens": before},
        }
        message = {"role": "user", "content": summary}
        return self.record("system", **boundary), self.record("user", isCompactSummary=True, message=message)

    def turn(self, number: int) -> Iterator[str]:
        """A question, a search, a call and an answer."""
        search, call = f"s{number}", f"c{number}"
        yield self.asked(f"Which orders are late in week {number}?")
        yield self.answered(calls=((search, "ToolSearch", {"query": f"late orders week {number}"}),))
        yield self.found(search, f"late orders week {number}", LATE)
        yield self.answered(calls=((call, LATE, {"week": number}),))
        yield self.returned(call, f"{number} orders are late")
        yield self.answered(f"There are {number}.")


def story(secret: str = SECRET) -> list[str]:
    """A session with a miss, a failed server, a secret in every kind of text, and a compaction."""
    made = ClaudeTranscript()
    return [
        made.deferred(ORDERS, LATE, POST),
        made.trouble(failed="stock", login="mail"),
        made.asked(f"Which orders are late? My key is {secret}."),
        made.answered(calls=(("s1", "ToolSearch", {"query": "overdue deliveries"}),)),
        made.found("s1", "overdue deliveries", ORDERS),
        made.answered(calls=(("s2", "ToolSearch", {"query": "late orders"}),)),
        made.found("s2", "late orders", LATE),
        made.answered(calls=(("c1", LATE, {"api_key": secret, "week": 3}),)),
        made.returned("c1", f"Authorization: Bearer {secret}\n3 orders are late"),
        made.answered(f"Three are late; the key is {secret}."),
        *made.compacted(f"The user asked for late orders with {secret}."),
        made.asked("Thank you."),
        made.answered("You are welcome.", read=0),
    ]


def written(path: Path, lines: list[str]) -> Path:
    """Write the lines as a transcript, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


class StoreLibrary(MachineLibrary):
    """The library over any store."""

    def __init__(self, store: EventStore) -> None:
        super().__init__(Options())
        self._store = store


def story_store() -> MemoryStore:
    """A store with the story as a session."""
    store, reader = MemoryStore(), line_reader(Format.CLAUDE_CODE)
    run = Importer(store, lambda _: WordCounter()).follow(file="story.jsonl")
    for line in story():
        for entry in reader.feed(line.encode()):
            run.take(entry)
    for entry in reader.finish():
        run.take(entry)
    run.close()
    return store


def records_of(store: EventStore) -> list[Record]:
    """The records of a store's only session."""
    [session] = store.sessions()
    return store.read(session.id)
