"""Traces of the OpenAI Agents SDK: sessions by group, exact tokens, calls of servers."""

from inspector.features.agents.transcript import (
    Answered,
    Asked,
    Begun,
    Called,
    Interrupted,
    ServerTrouble,
    ToolsOffered,
)
from inspector.features.agents.transcript_file.reader import Format
from tests.support.transcripts import FILES, of, read, records, total, whole

AGENTS = Format.AGENTS


def test_traces_of_one_group_are_a_session_with_exact_tokens() -> None:
    entries = whole(FILES[AGENTS])
    assert [(one.agent, one.session) for one in of(Begun, entries)] == [("openai-agents", "talk-bakery")]
    assert total(entries) == (7000 + 7400 + 7700, 60 + 90 + 25, 19300, 0)
    assert [one.text for one in of(Asked, entries)] == ["Order 20 kg of rye flour.", "Order there."]
    assert [one.message for one in of(Interrupted, entries)] == ["Error getting response"]


def test_calls_of_spans_are_those_of_their_answers_and_of_their_servers() -> None:
    entries = whole(FILES[AGENTS])
    told = [(one.call_id, one.tool.server, one.tool.name, one.ok) for one in of(Called, entries)]
    assert told == [
        ("call-1", "bakery", "order_flour", True),
        ("call-2", "", "note", False),
        ("span_8", "bakery", "list_mills", True),
    ]
    assert [[call.name for call in one.calls] for one in of(Answered, entries)][1] == [
        "mcp_bakery__list_mills"
    ]


def test_the_tools_of_a_run_are_offered_once_and_a_server_that_failed_is_told() -> None:
    spans = records(FILES[AGENTS])
    entries = read(AGENTS, *spans, {**spans[1], "id": "next turn"})
    offered = [[(tool.server, tool.name) for tool in one.tools] for one in of(ToolsOffered, entries)]
    assert offered == [[("bakery", "order_flour"), ("bakery", "list_mills")], [("", "note")]]
    assert [(one.server, one.reason) for one in of(ServerTrouble, entries)] == [("mail", "the server ended")]


def test_a_request_that_sends_spans_is_read_as_its_spans() -> None:
    spans = records(FILES[AGENTS])
    assert read(AGENTS, {"data": spans}) == read(AGENTS, *spans)
