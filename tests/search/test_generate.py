"""Evaluation sets made from a catalog and from recorded sessions, and the index they are measured on."""

from collections.abc import Sequence

from hypothesis import given, strategies as st

from inspector.access.reach import EXACT, IMPOSSIBLE, LOGGED, PARAPHRASE, EvalSet
from inspector.core.events import Actor, CallStarted, Event, Record, SearchPerformed, TurnEnded, UserSaid
from inspector.core.ranking import Hit, Outcome, Score, SearchReport, SearchRequest
from inspector.core.tool import Tool
from inspector.search.answer.evalset import logged_cases
from inspector.search.answer.generate import MAX_QUERY, REQUESTS, generate

ROOM = {
    "type": "object",
    "properties": {"room": {"type": "string", "enum": ["kitchen", "hall"]}},
    "required": ["room"],
}
LIGHTS = Tool("home", "set_lights", "Set the lights of a room. They stay on.", ROOM)
ORDERS = Tool("shop", "listOrders", "List orders, newest first.")
TEXT = st.text(max_size=12) | st.sampled_from(["\ud800", "\x00", "get_page", "a " * 2000, "x" * 100_000])
TOOLS = st.lists(st.builds(Tool, TEXT, TEXT, TEXT), max_size=8)


def queries(tools: Sequence[Tool], kind: str, per_tool: int = 99, seed: int = 0) -> list[str]:
    return [case.query for case in generate(tools, seed, per_tool) if case.kind == kind]


def test_exact_requests_are_the_name_in_words_the_id_and_another_spelling() -> None:
    words, tool_id, spelling = queries([LIGHTS], EXACT)
    assert (words, tool_id) == ("set lights", "home:set_lights")
    assert spelling in {"setLights", "set-lights"}


def test_a_paraphrase_says_the_description_in_other_words() -> None:
    (said, *_rest) = queries([ORDERS], PARAPHRASE)
    assert said != ORDERS.description
    assert not said.startswith("List")
    assert said.endswith("newest first")


def test_a_paraphrase_names_a_value_that_the_schema_has() -> None:
    asked = {query for seed in range(20) for query in queries([LIGHTS], PARAPHRASE, seed=seed)}
    assert {"set_lights with room=kitchen", "set_lights with room=hall"} <= asked


def test_tools_of_one_name_are_one_group_unless_the_request_names_an_id() -> None:
    tools = (Tool("wiki", "get_page", "Get a page."), Tool("notes", "getPage", "Read it."))
    relevant = {case.query: case.relevant for case in generate(tools, per_tool=99) if case.is_possible}
    assert relevant["get page"] == (frozenset({"wiki:get_page", "notes:getPage"}),)
    assert relevant["wiki:get_page"] == (frozenset({"wiki:get_page"}),)


def test_an_impossible_request_shares_no_word_with_a_small_catalog() -> None:
    barber = Tool("town", "find_barber", "Find a barber.")
    assert set(queries([LIGHTS], IMPOSSIBLE)) - set(queries([LIGHTS, barber], IMPOSSIBLE)) == {REQUESTS[0]}


@given(TOOLS, st.integers(0, 3), st.integers(0, 3))
def test_any_catalog_gives_a_usable_set_that_is_always_the_same(
    tools: list[Tool], seed: int, per_tool: int
) -> None:
    cases = generate(tools, seed, per_tool)
    assert cases == generate(tools, seed, per_tool)
    assert not EvalSet("", tuple(tools), cases).unknown()
    assert len({case.id for case in cases}) == len(cases)
    assert len({" ".join(case.query.split()).casefold() for case in cases}) == len(cases)
    assert all(case.query.strip() and len(case.query) <= MAX_QUERY for case in cases)
    assert all(case.is_possible is (case.kind != IMPOSSIBLE) for case in cases)
    assert sum(case.is_possible for case in cases) <= 2 * per_tool * len(tools)


def search(query: str, *found: str, by: Actor = "model") -> SearchPerformed:
    hits = tuple(Hit(rank, Score(tool, 1.0), Outcome.LOADED) for rank, tool in enumerate(found, start=1))
    missed = Hit(9, Score("a:missed", 0.1), Outcome.OVER_LIMIT)
    return SearchPerformed(SearchReport(SearchRequest(query), "bm25", (*hits, missed)), "", by=by)


def call(tool: str, by: Actor = "model") -> CallStarted:
    return CallStarted("1", tool, {}, by)


def logged(*events: Event, session: str = "s") -> dict[str, tuple[frozenset[str], ...]]:
    records = [Record(session, seq, 0.0, event) for seq, event in enumerate(events, start=1)]
    cases = logged_cases(records)
    assert all(case.kind == LOGGED for case in cases)
    return {case.query: case.relevant for case in cases}


def groups(*tools: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset({tool}) for tool in tools)


def test_a_search_is_labelled_with_the_tools_that_the_model_then_called() -> None:
    found = logged(
        UserSaid("x"), search("late orders", "a:list", "a:get", "a:b"), call("a:list"), call("a:b")
    )
    assert found == {"late orders": groups("a:list", "a:b")}


def test_a_call_belongs_to_the_latest_search_that_found_the_tool() -> None:
    found = logged(
        search("first", "a:list"), search("second", "a:list"), search("third", "b:x"), call("a:list")
    )
    assert found == {"second": groups("a:list")}


def test_a_repeated_query_is_one_case_with_all_its_tools() -> None:
    turn = (search("orders", "a:list", "a:get"), call("a:list"), TurnEnded("answered"))
    again = (search("  Orders", "a:list", "a:get"), call("a:get"), call("a:list"))
    assert logged(*turn, *again) == {"orders": groups("a:list", "a:get")}
