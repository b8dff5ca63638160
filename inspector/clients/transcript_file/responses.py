"""Items of OpenAI's Responses API: responses, with their requests or without, or bare items, one a line.

A response names its calls and its usage; without one, an answer ends where results of its calls come.
"""

from typing import Any

from inspector.clients.transcript import Asked, Begun, Entry, Interrupted, Tally
from inspector.clients.transcript_file.field import items, mapping, mappings, moment, text
from inspector.clients.transcript_file.flow import Flow
from inspector.clients.transcript_file.openai_item import Items
from inspector.clients.transcript_file.openai_message import usage_of
from inspector.schema.json_value import canonical

_COPY = "copied history"
_LISTED = "mcp_list_tools"
_UNFINISHED = ("in_progress", "queued")


class ResponsesReader:
    """Reads responses and items in the order in which they were made."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._flow = Flow()
        self._items = Items(self._flow, tally)

    def read(self, record: dict[str, Any]) -> list[Entry]:
        """The entries that are finished with this record."""
        response = record if isinstance(record.get("output"), list) else mapping(record.get("response"))
        if "output" in response:
            self._response(response, mapping(record.get("request")))
        else:
            self._alone(record)
        return self._flow.take()

    def finish(self) -> list[Entry]:
        """The entries that waited for more."""
        self._items.end_answer()
        return self._flow.finish()

    def _begin(self, begun: Begun) -> None:
        if self._flow.begun is None or not self._flow.begun.session:
            self._flow.begin(begun)

    def _response(self, response: dict[str, Any], request: dict[str, Any]) -> None:
        response_id, status = text(response.get("id")), text(response.get("status"))
        if status in _UNFINISHED:
            self._tally.leave_out("response in progress")
            return
        if response_id and not self._items.seen.add("response", response_id):
            self._tally.leave_out(_COPY)
            return
        at, model = moment(response.get("created_at"), self._tally), text(response.get("model"))
        conversation = response.get("conversation")
        session = text(mapping(conversation).get("id")) or text(conversation) or response_id
        self._begin(Begun("openai-responses", session=session, model=model, at=at))
        self._items.end_answer()
        self._items.model = model
        self._items.offer(response.get("tools") or request.get("tools"), at)
        self._asked(request, at, continues="previous_response_id" in request)
        # Sorted: the lists of servers were there before the model answered.
        output = sorted(mappings(response.get("output")), key=lambda item: item.get("type") != _LISTED)
        answer = None
        for item in output:
            if answer is None and item.get("type") != _LISTED:
                answer = self._items.begin_answer(response_id, at)
            self._item(item, at)
        answer = answer or self._items.begin_answer(response_id, at)
        answer.usage = usage_of(mapping(response.get("usage")))
        reason = text(mapping(response.get("incomplete_details")).get("reason"))
        answer.finish_reason = reason or status
        self._items.end_answer()
        if message := text(mapping(response.get("error")).get("message")):
            self._flow.add(Interrupted(message, at=at))

    def _asked(self, request: dict[str, Any], at: float | None, *, continues: bool) -> None:
        """What the request adds. Without a response before it, it repeats the whole conversation."""
        given = request.get("input")
        if isinstance(given, str):
            self._flow.add(Asked(given, at))
        for place, item in enumerate(items(given)):
            found = mapping(item)
            mine = found.get("role") == "user" or text(found.get("type")).endswith("_output")
            if not mine:
                self._tally.leave_out(_COPY)
            elif continues or self._items.seen.add("input", place, canonical(found)):
                self._items.read(found, at)

    def _alone(self, item: dict[str, Any]) -> None:
        begun = self._flow.begun
        self._begin(Begun("openai-responses"))
        if not self._item(item, None) and begun is None:
            self._flow.begun = None

    def _item(self, item: dict[str, Any], at: float | None) -> bool:
        item_id = text(item.get("id"))
        if item_id and not self._items.seen.add("item", item_id):
            self._tally.leave_out(_COPY)
            return True
        return self._items.read(item, at)
