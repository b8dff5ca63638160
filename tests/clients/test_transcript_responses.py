"""OpenAI Responses items: with their requests, alone, and repeated."""

import json
from pathlib import Path

from inspector.clients.transcript import Answered, Asked, Begun, Called, Searched, ServerTrouble, ToolsOffered
from inspector.clients.transcript_file.reader import Format
from inspector.core.message import Usage
from tests.support.transcripts import FILES, of, read, records, whole

RESPONSES = Format.RESPONSES


def test_responses_are_told_in_the_order_in_which_they_came() -> None:
    kinds = [type(entry) for entry in whole(FILES[RESPONSES])]
    assert kinds == [
        *(Begun, ToolsOffered, ToolsOffered, Asked, ToolsOffered, ServerTrouble),
        *(Answered, Searched, Called, Called, Answered),
    ]


def test_a_response_is_one_answer_and_is_paid_once() -> None:
    twice = [record for record in records(FILES[RESPONSES]) for _ in range(2)]
    assert [answer.usage for answer in of(Answered, read(RESPONSES, *twice))] == [
        Usage(2100, 80, 1024, None, None, 16),
        Usage(2300, 12, 2048, None, None, 0),
    ]


def test_a_response_in_progress_is_not_told_before_it_is_whole() -> None:
    first, _ = records(FILES[RESPONSES])
    growing = {"response": {**first["response"], "status": "in_progress", "output": [], "usage": None}}
    assert read(RESPONSES, growing, first) == read(RESPONSES, first)


def test_deferred_tools_are_offered_apart() -> None:
    bound, deferred, listed = of(ToolsOffered, whole(FILES[RESPONSES]))
    assert [(tool.name, tool.server) for tool in bound.tools] == [("tell_time", "")]
    assert ([tool.name for tool in deferred.tools], deferred.deferred) == (["find_mill"], True)
    assert [(tool.name, tool.server) for tool in listed.tools] == [("order_flour", "bakery")]


def test_a_search_by_the_provider_is_a_search() -> None:
    (search,) = of(Searched, whole(FILES[RESPONSES]))
    assert (search.call_id, search.names, [tool.name for tool in search.found]) == (
        *("tsc-1", ("mills",)),
        ["find_mill"],
    )


def test_a_call_that_the_provider_made_has_its_error() -> None:
    order, mill = of(Called, whole(FILES[RESPONSES]))
    assert (order.tool.server, order.ok, order.text) == ("bakery", False, "unavailable (503)")
    assert (mill.tool.server, mill.ok, mill.text) == ("", True, "the mill by the river")


def test_an_error_as_plain_text_is_read_too() -> None:
    call = {"type": "mcp_call", "id": "m", "server_label": "mill", "name": "grind", "error": "stuck"}
    (called,) = of(Called, read(RESPONSES, call))
    assert (called.ok, called.text) == (False, "stuck")


def test_arguments_that_are_no_json_are_told_as_such() -> None:
    answer, _ = of(Answered, whole(FILES[RESPONSES]))
    assert answer.calls[-1].error == "the arguments are not JSON"


def test_a_request_that_repeats_the_conversation_asks_only_what_is_new() -> None:
    asked = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]
    again = [*asked, {"role": "user", "content": "Hi."}]
    responses = [
        {"request": {"input": given}, "response": {"id": name, "object": "response", "output": []}}
        for name, given in (("a", asked[:1]), ("b", again))
    ]
    assert [one.text for one in of(Asked, read(RESPONSES, *responses))] == ["Hi.", "Hi."]


def test_a_file_with_a_list_of_items_is_a_transcript(tmp_path: Path) -> None:
    items = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Order."}]},
        {"type": "function_call", "call_id": "a", "name": "order", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "ok"},
    ]
    (tmp_path / "items.json").write_text(json.dumps(items, indent=2))
    assert [type(entry) for entry in whole(tmp_path / "items.json")] == [Begun, Asked, Answered, Called]
