"""One message of a connection: as it came, as it is recorded, held for the SDK, or cut when too large."""

import json
import re
from dataclasses import dataclass
from typing import Any

from mcp.shared.message import SessionMessage
from mcp_types import (
    INTERNAL_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

from inspector.core.ports import Clock
from inspector.mcp.frame import LONGEST_TEXT, Frame, FrameKind, FrameLog, Outcome, beginning
from inspector.mcp.pace import LONGEST_LINE, CutLine, size_text

Message = JSONRPCRequest | JSONRPCNotification | JSONRPCResponse | JSONRPCError

UNREADABLE = "The server's answer is not a valid JSON-RPC response"
"""The error that stands for an answer which is no frame."""


@dataclass
class RawMessage(SessionMessage):
    """A message with the bytes that it was read from: all `size` of them, or the first of too many."""

    raw: bytes = b""
    size: int = 0


def stray_hint(line: str) -> str:
    """What to do about a server that printed this line on stdout; "" for none."""
    return (
        f"It printed “{line}” to stdout, which is only for protocol messages: print to stderr instead."
        if line
        else ""
    )


# Requests that a server never answers are forgotten after so many others.
_MOST_PENDING = 1_000


class Recorder:
    """One connection's part of a log: ids start anew with every connection, and so does what waits."""

    def __init__(self, log: FrameLog, clock: Clock) -> None:
        self._log = log
        self._clock = clock
        self._pending: dict[tuple[bool, str], tuple[str, float, int]] = {}

    def message(
        self, message: JSONRPCMessage, raw: bytes | None = None, *, sent: bool, size: int = 0
    ) -> None:
        """Record a message, from the bytes as they came, or else as compact JSON.

        It had `size` bytes if these are only the first of them.
        """
        data = message.model_dump_json(by_alias=True, exclude_unset=True).encode() if raw is None else raw
        if isinstance(message, JSONRPCNotification):
            self._append(data, sent, FrameKind.NOTIFICATION, message.method)
            return
        request_id = f'"{message.id}"' if isinstance(message.id, str) else str(message.id)
        if isinstance(message, JSONRPCRequest):
            if len(self._pending) >= _MOST_PENDING:
                del self._pending[next(iter(self._pending))]
            self._pending[sent, request_id] = message.method, self._clock.monotonic(), self._log.age
            self._append(data, sent, FrameKind.REQUEST, message.method, request_id)
            return
        asked = self._pending.pop((not sent, request_id), None)
        method, began, age = asked or ("", self._clock.monotonic(), self._log.age)
        if age != self._log.age:
            # It belongs to whoever had the session before.
            return
        took = (self._clock.monotonic() - began) * 1000 if asked is not None else None
        self._append(data, sent, _reply_kind(message), method, request_id, took, size)

    def stray(self, data: bytes) -> None:
        """Record what a server sent that is no message."""
        self._append(data, False, FrameKind.OTHER, "")

    def flaw(self, what: str, outcome: Outcome) -> None:
        """Count something that was wrong with what a server sent."""
        self._log.note(what, outcome)

    def _append(
        self,
        data: bytes,
        sent: bool,
        kind: FrameKind,
        method: str,
        request_id: str = "",
        milliseconds: float | None = None,
        size: int = 0,
    ) -> None:
        text = data[: LONGEST_TEXT + 1].decode("utf-8", "replace").rstrip("\r\n")
        frame = Frame(
            self._log.total + 1,
            self._clock.now(),
            sent,
            kind,
            method,
            request_id,
            max(size, len(data.rstrip(b"\r\n"))),
            beginning(text) if len(data) > LONGEST_TEXT else text,
            milliseconds,
        )
        self._log.append(frame)


def _reply_kind(message: JSONRPCResponse | JSONRPCError) -> FrameKind:
    if isinstance(message, JSONRPCResponse):
        return FrameKind.RESULT
    return FrameKind.INVALID if message.error.message == UNREADABLE else FrameKind.ERROR


_HELD = "toolsight/held"
_MOST_HELD = 100
_ANSWER = (JSONRPCResponse, JSONRPCError)


class StandIns:
    """Gives the transport a short message in place of each, and takes it back behind the transport."""

    def __init__(self) -> None:
        self._held: dict[int, RawMessage] = {}
        self._holding = 0

    def hold(self, message: RawMessage) -> bytes:
        """Keep a message until the SDK's transport has passed on these bytes in place of it."""
        self._holding += 1
        self._held[self._holding] = message
        self._held.pop(self._holding - _MOST_HELD, None)
        mark, found = {_HELD: self._holding}, message.message
        written: dict[str, Any] = {"jsonrpc": "2.0"}
        if not isinstance(found, JSONRPCNotification):
            written["id"] = found.id
        if isinstance(found, JSONRPCResponse):
            written["result"] = mark
        elif isinstance(found, JSONRPCError):
            written["error"] = {"code": found.error.code, "message": found.error.message, "data": mark}
        else:
            written |= {"method": found.method, "params": mark}
        return json.dumps(written).encode()

    def released(self, item: SessionMessage) -> SessionMessage:
        """The message that was kept, for what stands in its place; any other as it is."""
        place = _mark_of(item.message)
        held = self._held.pop(place.get(_HELD, 0), None) if isinstance(place, dict) else None
        if held is None:
            return item
        if isinstance(item.message, JSONRPCResponse | JSONRPCError) and isinstance(
            held.message, JSONRPCResponse | JSONRPCError
        ):
            # The transport corrects the ids of answers.
            held.message.id = item.message.id
        held.metadata = item.metadata
        return held


def _mark_of(frame: Message) -> object:
    if isinstance(frame, JSONRPCResponse):
        return frame.result
    return frame.error.data if isinstance(frame, JSONRPCError) else frame.params


TOO_LARGE = "The answer is too large"
ASK_FOR_LESS = "Toolsight limits the size of a message. Can the server split its answer?"
_ID = re.compile(rb'"id"\s*:\s*(\d{1,18}|"[^"\\]{1,200}")')
# How far an id may be from an end of the line.
_NEAR = 4_000


def cut_frame(line: CutLine) -> JSONRPCError | None:
    """An answer in place of one that was too large; None if what it answers is unknown."""
    named = _ID.search(line.head[:_NEAR]) or _ID.search(line.tail)
    if named is None:
        return None
    said = f"{TOO_LARGE}: it has {size_text(line.size)}, and {size_text(LONGEST_LINE)} are read at most"
    error = ErrorData(code=INTERNAL_ERROR, message=said)
    return JSONRPCError(jsonrpc="2.0", id=json.loads(named[1]), error=error)
