"""Between a server's bytes and the SDK: one tolerant reader for both transports, and each message on its way.

What is wrong with a message costs that message, or the tool or page in it, never the connection: it is
repaired or dropped, and counted in the server's log. What a server sends unasked is let through up to an
`Allowance`; the rest is dropped before it is parsed.
"""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from mcp import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import (
    CONNECTION_CLOSED,
    INTERNAL_ERROR,
    REQUEST_TIMEOUT,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from inspector.core.ports import Clock
from inspector.mcp.client.translate import OTHER_TEXT, UNREADABLE, Message, flaw_text, repaired
from inspector.mcp.frame import LOG, LONGEST_TEXT, Frame, FrameKind, FrameLog, Outcome, beginning
from inspector.mcp.pace import LONGEST_LINE, REQUEST, Allowance, CutLine, pause_after, size_text
from inspector.schema.json_value import compact


@dataclass
class RawMessage(SessionMessage):
    """A message with the bytes that it was read from: all `size` of them, or the first of too many."""

    raw: bytes = b""
    size: int = 0


_SHOWN = 120


def shown_line(text: bytes) -> str:
    """The beginning of a line, for people."""
    return text.strip()[:_SHOWN].decode("utf-8", "replace")


def stray_hint(line: str) -> str:
    """What to do about a server that printed this line on stdout; "" for none."""
    return (
        f"It printed “{line}” to stdout, which is only for protocol messages: print to stderr instead."
        if line
        else ""
    )


_REFUSED = 400
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

    def http(self, status: int, about: str, headers: Mapping[str, Mapping[str, str]], seconds: float) -> None:
        """Record that a response came after so many seconds: its status, and the headers of both sides."""
        kind = FrameKind.HTTP if status < _REFUSED else FrameKind.REFUSED
        data = compact({"status": status, **headers}).encode("utf-8", "replace")
        self._append(data, False, kind, f"HTTP {status} {about}", milliseconds=seconds * 1000)

    def flaw(self, what: str, outcome: Outcome, noise: bytes = b"") -> None:
        """Count something wrong with what a server sent; `noise` is text in it that is no message."""
        self._log.note(what, outcome, shown_line(noise))

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


BYTE_ORDER_MARK = b"\xef\xbb\xbf"
MARK = "byte order mark"
STRAY = "output that is not a message"
FLOOD = "unrequested messages"
TOO_LONG = f"message longer than {size_text(LONGEST_LINE)}"
REPLIED = "toolsight/replied"
"""In an error's data: the server itself sent it, with this as its data."""
# The SDK uses these for what it finds out by itself.
_SDK_CODES = (CONNECTION_CLOSED, REQUEST_TIMEOUT)
_REFUSED = 400


class Reader:
    """Reads one connection. `on_tools_changed` is called for a dropped message that says so."""

    def __init__(
        self,
        recorder: Recorder,
        on_tools_changed: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.asked: dict[str, str] = {}
        """The methods of requests that are not answered yet, by their ids."""
        self.stray = ""
        """The first line that is no message."""
        self.stand_ins = StandIns()
        self.recorder = recorder
        self.on_tools_changed = on_tools_changed
        self._allowance = Allowance(clock)
        self._has_dropped = False

    def line(self, whole: bytes | CutLine) -> Iterator[RawMessage]:
        """The messages on a line of output."""
        if isinstance(whole, CutLine):
            yield from self.cut(whole)
        elif text := self._unmarked(whole).strip():
            messages = [] if (is_spared := self._is_spared(text)) else self._read(text)
            if not (messages or is_spared):
                self._stray(whole)
            yield from filter(self._admits, messages)

    def body(self, data: bytes, *, status: int = 200) -> list[RawMessage]:
        """The messages in an HTTP answer, or in one event of it; whatever it answers was asked.

        A refusal need not be a message.
        """
        text = self._unmarked(data).strip()
        messages = self._read(text) if text else []
        if text and not messages and status < _REFUSED:
            self._stray(text)
        answers = (JSONRPCResponse, JSONRPCError)
        return [each for each in messages if isinstance(each.message, answers) or self._admits(each)]

    def cut(self, line: CutLine) -> list[RawMessage]:
        """What is left of a message that was too long."""
        frame = cut_frame(line)
        self.recorder.flaw(TOO_LONG, "dropped")
        if frame is None:
            self._stray(line.head)
            return []
        return [RawMessage(frame, raw=line.head, size=line.size)]

    def pause(self, spent: float, *, is_flood: bool = False) -> float:
        """Seconds in which nothing should be read, after reading so many seconds; 0 without a flood."""
        was_flood, self._has_dropped = is_flood or self._has_dropped, False
        return pause_after(spent) if was_flood else 0.0

    def _read(self, text: bytes) -> list[RawMessage]:
        message = self._valid(text)
        return [message] if message is not None else self._repaired(text)

    def _valid(self, text: bytes) -> RawMessage | None:
        with suppress(ValueError):
            return _raw(jsonrpc_message_adapter.validate_json(text, by_name=False), text)
        return None

    def _repaired(self, text: bytes) -> list[RawMessage]:
        if b"{" not in text:
            return []
        found = list(repaired(text))
        for flaw in (flaw for each in found for flaw in each.flaws):
            self.recorder.flaw(flaw, "repaired", text.partition(b"{")[0] if flaw == OTHER_TEXT else b"")
        return [_raw(each.message, text) for each in found]

    def _unmarked(self, data: bytes) -> bytes:
        if not data.startswith(BYTE_ORDER_MARK):
            return data
        self.recorder.flaw(MARK, "repaired")
        return data.removeprefix(BYTE_ORDER_MARK)

    def _is_spared(self, text: bytes) -> bool:
        """Whether a line of a flood is dropped unread, as it can answer nothing."""
        if self._allowance.is_left:
            return False
        if not text.startswith(b"{"):
            if b'"jsonrpc"' in text:
                return False
            self._stray(text)
            return True
        may_answer = bool(self.asked) and (b'"result"' in text or b'"error"' in text)
        if may_answer or not text.endswith(b"}") or b'"method"' not in text:
            return False
        self._drop(text)
        return True

    def _admits(self, message: RawMessage) -> bool:
        found = message.message
        if isinstance(found, JSONRPCResponse | JSONRPCError) and str(found.id) in self.asked:
            return True
        if self._allowance.take(message.size, REQUEST if isinstance(found, JSONRPCRequest) else 1):
            return True
        self._drop(message.raw)
        return False

    def _drop(self, text: bytes) -> None:
        self._has_dropped = True
        self.recorder.flaw(FLOOD, "dropped")
        if b"notifications/tools/list_changed" in text:
            self.on_tools_changed()

    def _stray(self, text: bytes) -> None:
        self.recorder.flaw(STRAY, "dropped", text)
        self.stray = self.stray or shown_line(text)
        if self._allowance.take(len(text)):
            self.recorder.stray(text)
            LOG.info("not JSON-RPC: %r", text.strip()[:_SHOWN])
        else:
            self._has_dropped = True


def is_reply(error: MCPError) -> bool:
    """Whether a server sent an error whose code is one that the SDK uses itself."""
    return isinstance(error.data, dict) and REPLIED in error.data


def root_causes(error: BaseException) -> list[BaseException]:
    """The errors inside nested groups, in order."""
    if isinstance(error, BaseExceptionGroup):
        return [cause for inner in error.exceptions for cause in root_causes(inner)]
    return [error]


def is_closed(cause: BaseException) -> bool:
    if not isinstance(cause, MCPError) or is_reply(cause):
        return False
    return cause.code in (CONNECTION_CLOSED, REQUEST_TIMEOUT)


def cause_text(cause: BaseException) -> str:
    """A cause in words for people."""
    if isinstance(cause, ValidationError):
        return f"invalid answer ({flaw_text(cause)})"
    if isinstance(cause, MCPError):
        return f"{cause.message} ({cause.code})"
    return str(cause) or type(cause).__name__


def _raw(frame: Message, text: bytes) -> RawMessage:
    if isinstance(frame, JSONRPCError) and frame.error.code in _SDK_CODES:
        frame.error.data = {REPLIED: frame.error.data}
    return RawMessage(frame, raw=text, size=len(text))
