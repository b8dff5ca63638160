"""Messages that have been read already, on their way through the SDK's HTTP transport, which reads again."""

import json
from typing import Any

from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCResponse

from inspector.mcp.client.frame import Message, RawMessage

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
