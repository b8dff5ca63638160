"""Between a server's bytes and the SDK: one tolerant reader for both transports.

What is wrong with a message costs that message, or the tool or page in it, never the connection: it is
repaired or dropped, and counted in the server's log. What a server sends unasked is let through up to an
`Allowance`; the rest is dropped before it is parsed.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress

from mcp import MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    REQUEST_TIMEOUT,
    JSONRPCError,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from inspector.mcp.client.message import Message, RawMessage, Recorder, StandIns, cut_frame
from inspector.mcp.client.translate import flaw_text, repaired
from inspector.mcp.frame import LOG
from inspector.mcp.pace import LONGEST_LINE, REQUEST, Allowance, CutLine, pause_after, size_text

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
MARK = "byte order mark"
STRAY = "output that is not a message"
FLOOD = "unrequested messages"
TOO_LONG = f"message longer than {size_text(LONGEST_LINE)}"
REPLIED = "toolsight/replied"
"""In an error's data: the server itself sent it, with this as its data."""
# The SDK uses these for what it finds out by itself.
_SDK_CODES = (CONNECTION_CLOSED, REQUEST_TIMEOUT)
_SHOWN = 120
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
            self.recorder.flaw(flaw, "repaired")
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
        self.recorder.flaw(STRAY, "dropped")
        shown = text.strip()[:_SHOWN]
        self.stray = self.stray or shown.decode("utf-8", "replace")
        if self._allowance.take(len(text)):
            self.recorder.stray(text)
            LOG.info("not JSON-RPC: %r", shown)
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
