"""Writes what is exchanged over one connection to its server's log."""

from mcp_types import JSONRPCError, JSONRPCMessage, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from inspector.core.frame import LONGEST_TEXT, Frame, FrameKind, FrameLog, Outcome, beginning
from inspector.core.ports import Clock
from inspector.mcp.client.frame import UNREADABLE

# Requests that a server never answers are forgotten after so many others.
_MOST_PENDING = 1_000


class Recorder:
    """One connection's part of a log: ids start anew with every connection, and so does what waits."""

    def __init__(self, log: FrameLog, clock: Clock) -> None:
        self._log = log
        self._clock = clock
        self._pending: dict[tuple[bool, str], tuple[str, float]] = {}

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
        request_id = _written(message.id)
        if isinstance(message, JSONRPCRequest):
            self._wait(sent, request_id, message.method)
            self._append(data, sent, FrameKind.REQUEST, message.method, request_id)
            return
        method, began = self._pending.pop((not sent, request_id), ("", None))
        took = None if began is None else (self._clock.monotonic() - began) * 1000
        self._append(data, sent, _reply_kind(message), method, request_id, took, size)

    def stray(self, data: bytes) -> None:
        """Record what a server sent that is no message."""
        self._append(data, False, FrameKind.OTHER, "")

    def flaw(self, what: str, outcome: Outcome) -> None:
        """Count something that was wrong with what a server sent."""
        self._log.note(what, outcome)

    def _wait(self, sent: bool, request_id: str, method: str) -> None:
        if len(self._pending) >= _MOST_PENDING:
            del self._pending[next(iter(self._pending))]
        self._pending[sent, request_id] = method, self._clock.monotonic()

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
            self._log.next_number,
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


def _written(request_id: object) -> str:
    return f'"{request_id}"' if isinstance(request_id, str) else str(request_id)
