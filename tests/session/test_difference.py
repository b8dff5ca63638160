"""What differs between two catalogs, and between two sessions with theirs."""

from collections import Counter
from typing import Any

from hypothesis import given, strategies as st
from msgspec.structs import replace

from inspector.core.definition import ToolDefinition, definition_hash
from inspector.core.events import (
    CallStarted,
    CatalogBuilt,
    CatalogEntry,
    Event,
    Origin,
    ServerReady,
    SessionStarted,
    ToolsChanged,
)
from inspector.core.server import ServerInfo
from inspector.core.tool import Annotations, Tool
from inspector.search.answer.expectation import ExpectationResult, parse
from inspector.session.difference import (
    Side,
    aligned,
    difference,
    difference_json,
    difference_report,
)
from tests.core.test_event import records

LIST = Tool("shop", "list", "Lists orders. Newest first.", {"type": "object"})
GET = Tool("shop", "get", "Gets one order.", {"type": "object"})
STRICT = replace(
    GET, input_schema={"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}}
)


def _side(*tools: Tool, **more: Any) -> Side:
    side = Side("x", {tool.id: tool for tool in tools}, **more)
    return side.counted(lambda tool: len(tool.description))


def _ready(*tools: Tool, said: str = "") -> ServerReady:
    defined = tuple(ToolDefinition(tool.name, definition_hash(tool), tool) for tool in tools)
    return ServerReady("shop", len(tools), 0, ServerInfo(instructions=said), definitions=defined)


def _catalog(*names: str) -> CatalogBuilt:
    return CatalogBuilt("", tuple(CatalogEntry(f"shop:{name}", 0, False) for name in names), "", 0, 0)


def _of(*found: Event) -> Side:
    return Side.of_session("s", records(list(found)))


def test_tools_that_only_one_has_and_definitions_that_changed_with_their_words_and_tokens() -> None:
    reworded = replace(LIST, description="Lists orders. Oldest first.")
    found = difference(_side(LIST, GET), _side(reworded, replace(GET, name="fetch")))
    assert found.only == (("shop:get",), ("shop:fetch",))
    [changed] = found.changed
    assert (changed.tool, changed.change.verdict) == ("shop:list", "words")
    assert changed.changes[0].lines == (("Newest first.", "Oldest first."),)
    assert changed.tokens == (len(LIST.description), len(reworded.description))
    told = "\n".join(map(str, difference_report(found)))
    assert "- Newest first." in told
    assert difference(_side(GET), _side(STRICT)).changed[0].change.verdict == "breaking"


def test_two_servers_with_other_names_are_compared_by_the_names_of_their_tools() -> None:
    other = replace(
        _side(replace(LIST, server="shop-2")),
        instructions={"shop-2": "b"},
        calls=Counter({"shop-2:list": 2, "shop-2:get": 1}),
    )
    first, second = aligned(
        replace(_side(LIST), instructions={"shop": "a"}, calls=Counter({"shop:get": 1})), other
    )
    found = difference(first, second)
    assert (found.only, found.changed) == (((), ()), ())
    assert found.instructions[0][0] == "shop"
    assert found.calls == (("shop:list", 0, 2),)
    # Among others a server is known by its tools.
    two, three = _side(LIST, replace(GET, server="chat")), _side(STRICT, replace(GET, server="chat"))
    assert difference(*aligned(two, other)).only == (("chat:get",), ())
    assert aligned(three, other) == (three, other)


def test_a_session_has_the_tools_that_it_listed_last_and_the_calls_that_it_made() -> None:
    gone = ToolsChanged("shop", removed=("get",), tools=1, tokens=0)
    events = _catalog("list", "get"), gone, _catalog("list"), CallStarted("1", "shop:list", {})
    side = _of(_ready(LIST, GET, said="Hello."), *events)
    assert dict(side.tools) == {LIST.id: LIST}
    assert side.instructions == {"shop": "Hello."}
    assert side.calls == Counter({"shop:list": 1})
    # Of a tool without a definition nobody knows whether it changed.
    bare = _of(_catalog("list"))
    assert bare.tools == {"shop:list": None}
    assert difference(bare, side).changed == ()


def test_of_what_an_agent_was_sent_only_words_and_parameters_are_compared() -> None:
    titled = replace(LIST, title="List", annotations=Annotations(read_only=True))
    began = SessionStarted("", (), "", "", "", 0, origin=Origin("codex", "1", "s"))
    side = _of(began, _ready(LIST), _catalog("list"))
    assert difference(side, _side(titled)).is_none
    assert difference(side, _side(replace(titled, description="Other."))).changed
    assert difference(_side(LIST), _side(titled)).changed


def test_requests_with_another_answer_are_told_and_others_counted() -> None:
    asked = [parse("show orders -> list"), parse("one order -> get")]
    before = tuple(ExpectationResult(one, "t", 1, None, "t") for one in asked)
    after = (before[0], replace(before[1], rank=3, first="u", problem="t has rank 3; u is first"))
    found = difference(replace(_side(LIST), answers=before), replace(_side(LIST), answers=after))
    assert not found.is_none
    told = difference_json(found)
    assert (told["requests"], len(told["answers"])) == (2, 1)
    assert told["answers"][0]["second"]["rank"] == 3
    assert "1 of 2 requests get another answer" in "\n".join(map(str, difference_report(found)))


@given(
    st.lists(st.sampled_from([LIST, GET, STRICT, replace(LIST, server="chat")]), unique_by=lambda one: one.id)
)
def test_nothing_differs_from_itself_and_what_differs_is_the_same_from_both_ends(tools: list[Tool]) -> None:
    side, other = _side(*tools), _side(LIST, GET)
    assert difference(side, side).is_none
    assert list(difference_report(difference(side, side)))[-1] == "\nNo difference."
    there, back = difference(side, other), difference(other, side)
    assert there.only == back.only[::-1]
    assert [one.tool for one in there.changed] == [one.tool for one in back.changed]


def test_what_is_equal_has_as_many_tokens_in_both() -> None:
    first, second = (replace(_side(LIST), tokens={LIST.id: size}) for size in (9, 8))
    assert difference(first, second).sides[0].total == 8
