"""Sessions of opencode: rows of its SQLite database, which may be open, or what `opencode export` writes.

A message has parts: texts, tool calls with what they returned, and steps, each of which is one model call.
"""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from inspector.core.error import ConfigError
from inspector.features.agents.transcript import Compacted
from inspector.features.agents.transcript_file.message import MessageReader, value_at
from inspector.features.agents.transcript_file.record_reader import (
    LEFT_OUT,
    OpenAnswer,
    mappings,
    number,
    said,
    text,
)
from inspector.schema.json_value import as_object
from inspector.store.database import BUSY_SECONDS, opened_to_read

MAGIC = b"SQLite format 3\0"
_SESSIONS = "SELECT id, parent_id, directory, version, time_created FROM session ORDER BY time_created, id"
_MESSAGES = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id"
_PARTS = "SELECT data FROM part WHERE message_id = ? ORDER BY id"
_NOT_READ = LEFT_OUT["opencode"]["parts"]


def is_database(path: Path) -> bool:
    """Whether an SQLite file has opencode's tables."""
    with suppress(sqlite3.Error), closing(opened_to_read(path, BUSY_SECONDS)) as connection:
        for query in (_SESSIONS, _MESSAGES, _PARTS):
            connection.execute(query, ("",) * query.count("?"))
        return True
    return False


def rows(path: Path) -> Iterator[bytes]:
    """Every session and its messages, each as a line of JSON. Raises ConfigError."""
    try:
        with closing(opened_to_read(path, BUSY_SECONDS)) as connection:
            for id_, parent, folder, version, created in connection.execute(_SESSIONS).fetchall():
                told = {"id": id_, "parentID": parent, "directory": folder, "version": version}
                yield json.dumps({"info": {**told, "time": {"created": created}}}, default=repr).encode()
                for message, data in connection.execute(_MESSAGES, (id_,)).fetchall():
                    parts = ",".join(str(row[0]) for row in connection.execute(_PARTS, (message,)))
                    name = json.dumps(message, default=repr)
                    yield f'{{"id":{name},"info":{data},"parts":[{parts}]}}'.encode("utf-8", "replace")
    except sqlite3.Error as error:
        hint = "Close opencode and try again; `opencode export` writes a session as a file."
        raise ConfigError(f"{path} cannot be read: {error}", hint=hint) from error


class OpencodeReader(MessageReader):
    """Reads sessions, one after the other."""

    AGENT = "opencode"
    USED = (
        *("input + cache.read + cache.write", "output + reasoning", "cache.read", "cache.write"),
        "reasoning",
    )
    BEFORE, BETWEEN = "", "_"
    PER_SECOND = 1000
    BODY = "info"
    OWN = frozenset({"list_mcp_resources", "list_mcp_resource_templates", "read_mcp_resource", "plan_exit"})

    def _record(self, record: dict[str, Any], kind: str, at: float | None) -> None:  # noqa: ARG002 - has none
        info = as_object(record.get("info"))
        if "role" in info:
            self._one(text(record.get("id")) or text(info.get("id")), info, record.get("parts"))
            return
        self._close()
        session, version, folder, parent = map(info.get, ("id", "version", "directory", "parentID"))
        created = self._time(info, "time.created")
        self._start(session, created, version=version, folder=folder, parent=parent)
        for message in mappings(record.get("messages")):
            self.take(message)

    def _one(self, key: str, info: dict[str, Any], parts: object) -> None:
        at = self._time(info, "time.created")
        if info.get("role") not in ("user", "assistant"):
            self.tally.count_unknown(f"message of {text(info.get('role'))}")
        if info.get("role") not in ("user", "assistant") or not self._is_first("message", key):
            return
        if info.get("role") == "user":
            shown = (part for part in mappings(parts) if part.get("synthetic") is not True)
            self._asks(said([part for part in shown if part.get("type") == "text"]), at)
            return
        answer, steps = self._open(OpenAnswer(key, text(info.get("modelID")), at)), 0
        self._used(answer, info)
        for part in mappings(parts):
            if part.get("type") == "step-start" and steps:
                answer = self._open(OpenAnswer(f"{key} {steps}", answer.model, at))
            steps += part.get("type") == "step-finish"
            self._part(answer, part)
        words = "\n\n".join(answer.texts)
        self._close()
        if info.get("summary") is True:
            self._add(Compacted(words, at=at))
        if error := as_object(info.get("error")):
            by_user = error.get("name") == "MessageAbortedError"
            message = text(value_at(error, "data.message")) or text(error.get("name"))
            self._interrupt(message, self._time(info, "time.completed"), by_user=by_user)

    def _used(self, answer: OpenAnswer, told: dict[str, Any]) -> None:
        """Set what an answer or a step of it took, as the message or the step says."""
        answer.usage = self._usage(told.get("tokens"))
        answer.dollars = number(told.get("cost")) or None
        answer.finish_reason = text(told.get("finish", told.get("reason")))

    def _part(self, answer: OpenAnswer, part: dict[str, Any]) -> None:
        kind, state = text(part.get("type")), as_object(part.get("state"))
        if kind == "text":
            answer.say(text(part.get("text")))
        elif kind == "step-finish":
            self._used(answer, part)
        elif kind == "tool":
            call_id, status = text(part.get("callID")), text(state.get("status"))
            self._calls_tool(call_id, part.get("tool"), state.get("input"))
            began, ended = self._time(state, "time.start"), self._time(state, "time.end")
            took = (ended - began) * 1000 if ended is not None and began is not None else None
            if status in ("completed", "error"):
                words, ok = text(state.get("output")) or text(state.get("error")), status == "completed"
                self._done(call_id, words, ended, ok=ok, took=took)
        elif kind in _NOT_READ:
            self.tally.leave_out(kind)
        else:
            self.tally.count_unknown(f"part {kind}")
