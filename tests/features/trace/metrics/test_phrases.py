"""Candidates for `phrases`: what was searched for in vain, and what the tool does that was called instead."""

import pytest

from inspector.core.budget import TokenParts
from inspector.core.definition import ToolDefinition
from inspector.core.events import (
    CallStarted,
    Event,
    ModelRequested,
    SearchPerformed,
    ServerReady,
    SessionStarted,
    ToolsChanged,
    TurnEnded,
    UserSaid,
)
from inspector.core.events.session import Origin
from inspector.core.ranking import Hit, Outcome, Score, SearchReport, SearchRequest
from inspector.core.redaction import SECRETS
from inspector.core.tool import Tool
from inspector.core.turns import turns
from inspector.features.trace.metrics.phrases import Candidate, candidates, phrases_json
from tests.core.test_event import records

LATE = "Lists the orders that are late."
ASKED, ENDED = UserSaid("which?"), TurnEnded("answered")


def search(query: str, *found: str, **more: str) -> list[Event]:
    """A model call that searches for this, and finds these tools."""
    hits = tuple(Hit(rank, Score(tool, 1.0), Outcome.LOADED) for rank, tool in enumerate(found, 1))
    report = SearchReport(SearchRequest(query, **more), "bm25", hits, (), 5, 1.0)  # type: ignore[arg-type]
    return [request(), SearchPerformed(report, "found")]


def request() -> ModelRequested:
    return ModelRequested(1, (), TokenParts(tools=10, meta=50), 1)


def call(tool: str) -> list[Event]:
    return [request(), CallStarted("c", tool, {})]


def ready(*tools: Tool) -> ServerReady:
    definitions = tuple(ToolDefinition(tool.name, "h", tool) for tool in tools)
    return ServerReady(tools[0].server, len(tools), 1, definitions=definitions)


SHOP = ready(Tool("shop", "late_orders", f"{LATE} With their parcels."), Tool("shop", "bareName"))


def found(*events: Event | list[Event], agent: str = "") -> list[tuple[str, str, str]]:
    """The candidates of one turn of a session in which the shop is there."""
    started = SessionStarted("c", (), "", "m", "m", 0, origin=Origin(agent) if agent else None)
    flat = [event for one in events for event in (one if isinstance(one, list) else [one])]
    told = candidates(turns(records([started, SHOP, ASKED, *flat, ENDED], "s")))
    return [(one.searched, one.tool, one.meaning) for one in told]


LATE_CALLED = call("shop:late_orders")


@pytest.mark.parametrize("first", [(), ("shop:bareName",)])
def test_a_search_in_vain_is_offered_with_what_the_tool_says_that_was_called_instead(
    first: tuple[str, ...],
) -> None:
    again = search("late orders", "shop:late_orders")
    told = found(search("where is my stuff", *first), again, LATE_CALLED)
    assert told == [("where is my stuff", "shop:late_orders", LATE)]


def test_a_search_of_which_a_tool_was_called_or_after_which_none_was_is_no_candidate() -> None:
    assert found(search("orders", "shop:late_orders"), search("more"), LATE_CALLED) == [
        ("more", "shop:late_orders", LATE)
    ]
    assert found(search("orders"), search("late orders", "shop:late_orders")) == []
    assert found(search("orders", "shop:bareName"), LATE_CALLED) == []


def test_the_tool_that_a_later_search_found_is_meant_rather_than_one_that_was_there_already() -> None:
    told = found(
        *(search("sums", "calc:add"), search("where is my stuff"), call("calc:add")),
        *(search("late orders", "shop:late_orders"), LATE_CALLED),
    )
    assert told == [("where is my stuff", "shop:late_orders", LATE)]


def test_what_an_agent_does_by_itself_is_on_no_server() -> None:
    events = (search("where is my stuff"), call("codex:shell"))
    assert found(*events, agent="codex") == []
    assert found(*events, LATE_CALLED, agent="codex") == [("where is my stuff", "shop:late_orders", LATE)]


@pytest.mark.parametrize("query", ["", "\n", "lists the orders THAT are late", "long " * 41])
def test_what_says_nothing_new_or_is_too_long_is_left_out(query: str) -> None:
    assert found(search(query, server_name="shop"), search("again"), LATE_CALLED) == [
        ("again", "shop:late_orders", LATE)
    ]


def test_a_tool_without_a_description_means_its_name_and_a_changed_one_what_it_says_now() -> None:
    (new,) = ready(Tool("shop", "late_orders", "Says who is late.")).definitions
    assert found(search("x"), call("shop:bareName")) == [("x", "shop:bareName", "bare name")]
    assert found(search("x"), call("post:sendIt")) == [("x", "post:sendIt", "send it")]
    changed = ToolsChanged("shop", changed=("late_orders",), definitions=(new,))
    assert found(search("x"), LATE_CALLED, changed) == [("x", "shop:late_orders", "Says who is late.")]


def test_a_secret_in_a_description_is_removed_before_the_text_is_cut() -> None:
    secret = "horse-battery-staple-9f8e7d6c5b4a-" * 8
    SECRETS.learn({"shop.TOKEN": secret})
    listed = ready(Tool("shop", "late_orders", f"Goes by {secret} {'and on ' * 40}."))
    ((_, _, meaning),) = found(search("x"), LATE_CALLED, ToolsChanged("shop", definitions=listed.definitions))
    assert secret[:8] not in meaning
    assert len(meaning) <= 200


def test_what_is_pasted_has_for_each_search_its_most_frequent_meaning_and_no_more_than_a_file_may() -> None:
    many = [Candidate(1, str(number), "shop:b", "means b") for number in range(600)]
    pasted = phrases_json([Candidate(2, "1", "shop:a", "means a"), *many, Candidate(1, "1", "x:c", "c")])
    assert (pasted["shop"]["1"], len(pasted["shop"]), pasted["x"]) == ("means a", 500, {"1": "c"})


def test_the_most_frequent_come_first() -> None:
    again = [*search("rare"), *LATE_CALLED, ENDED]
    often = [*search("often"), *LATE_CALLED, ENDED]
    told = candidates(turns(records([SHOP, ASKED, *again, ASKED, *often, ASKED, *often], "s")))
    assert [(one.times, one.searched) for one in told] == [(2, "often"), (1, "rare")]
