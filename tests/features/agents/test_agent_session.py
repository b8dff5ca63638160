"""What a transcript's entries become: the events of a session, and no number that nobody knows."""

from collections.abc import Iterable
from typing import TypeVar

import pytest
from msgspec.structs import replace

from inspector.core.events import (
    BudgetMeasured,
    CatalogBuilt,
    ContextReduced,
    Event,
    ModelRequested,
    SearchPerformed,
    ServerReady,
    ToolLoaded,
    ToolsChanged,
    TurnEnded,
)
from inspector.core.fold import fold
from inspector.core.session import Binding
from inspector.features.agents.agent_session import AgentSession
from inspector.features.agents.transcript import (
    AgentTool,
    Answered,
    Asked,
    Begun,
    Compacted,
    Entry,
    Interrupted,
    Searched,
    ToolsOffered,
    ToolsWithdrawn,
)
from tests.core.test_event import records
from tests.support.fakes import WordCounter

E = TypeVar("E", bound=Event)
BEGUN = Begun("claude-code", "s1", "2.1", "/home/ada", "claude-x")
ORDERS = AgentTool("list_orders", "shop", "mcp__shop__list_orders")
LATE = AgentTool("late_orders", "shop", "mcp__shop__late_orders")
DEFINITION = {"name": "list_orders", "description": "Lists all orders", "parameters": {"properties": {}}}
DEFINED = AgentTool("list_orders", "shop", "mcp__shop__list_orders", DEFINITION)


def events(*entries: Entry, begun: Begun = BEGUN) -> list[Event]:
    session = AgentSession(begun, WordCounter(), "s1.jsonl")
    found: list[Event] = [session.start()]
    for entry in entries:
        found += session.after(entry)
    return [*found, *session.end()]


def of_type(kind: type[E], found: Iterable[Event]) -> list[E]:
    return [event for event in found if isinstance(event, kind)]


def test_a_deferred_tool_is_loaded_by_the_search_that_found_it() -> None:
    found = events(ToolsOffered((ORDERS, LATE), deferred=True), Searched("s1", "late", found=(LATE,)))
    state = fold(records(found))
    assert state.tools["shop:late_orders"].binding is Binding.LOADED
    assert state.tools["shop:list_orders"].binding is Binding.DEFERRED


def test_a_search_keeps_its_order_and_has_no_score() -> None:
    found = events(ToolsOffered((ORDERS, LATE), deferred=True), Searched("s1", "late", found=(LATE, ORDERS)))
    search = of_type(SearchPerformed, found)[0]
    assert [hit.tool_id for hit in search.report.results] == ["shop:late_orders", "shop:list_orders"]
    assert search.report.unscored
    assert "0.00" not in search.summary()


def test_a_tool_without_a_definition_has_no_tokens_and_the_catalog_says_so() -> None:
    catalog = of_type(CatalogBuilt, events(ToolsOffered((DEFINED, LATE), deferred=True)))[-1]
    tokens = {entry.id: entry.tokens for entry in catalog.entries}
    assert tokens["shop:list_orders"] > 0
    assert tokens["shop:late_orders"] == 0
    assert catalog.uncounted == 1
    assert "1 of unknown size" in catalog.summary()


def test_no_budget_is_claimed_while_a_size_is_unknown() -> None:
    begun = Begun("codex", "s", model="gpt-5", window=1000)
    answered = Answered("a1", "gpt-5", "done")
    assert of_type(BudgetMeasured, events(ToolsOffered((DEFINED,)), answered, begun=begun))
    assert not of_type(BudgetMeasured, events(ToolsOffered((DEFINED, LATE)), answered, begun=begun))
    assert not of_type(BudgetMeasured, events(ToolsOffered((DEFINED,)), answered))


def test_a_definition_that_is_known_later_is_counted_from_then_on() -> None:
    found = events(
        ToolsOffered((ORDERS,), deferred=True),
        Answered("a1", text="hm"),
        ToolsOffered((DEFINED,), deferred=True),
    )
    assert of_type(ServerReady, found)[0].tokens == 0
    assert of_type(ToolsChanged, found)[-1].tokens > 0
    state = fold(records(found))
    assert state.recorded("shop:list_orders") is not None


def test_withdrawn_tools_leave_the_catalog() -> None:
    found = events(ToolsOffered((ORDERS, LATE)), Answered("a1"), ToolsWithdrawn((LATE.sent,)), Answered("a2"))
    assert of_type(ToolsChanged, found)[0].removed == ("late_orders",)
    assert set(fold(records(found)).tools) == {"shop:list_orders"}


def test_after_a_compaction_only_the_summary_is_counted() -> None:
    found = events(
        Asked("one two three"),
        Answered("a1", text="four five"),
        Compacted("all done", before=900),
        Answered("a2"),
    )
    assert of_type(ContextReduced, found)[0].sizes == "900 -> ? tokens"
    assert of_type(ModelRequested, found)[-1].tokens.history == 2


@pytest.mark.parametrize(
    ("last", "outcomes"),
    [
        ((Answered("a1", text="done"),), ["answered"]),
        ((Answered("a1"), Asked("more")), ["answered"]),
        ((Interrupted("stop", by_user=True), Asked("more")), ["cancelled"]),
        ((), []),
    ],
)
def test_a_turn_ends_once_it_is_answered_stopped_or_followed_by_another(
    last: tuple[Entry, ...], outcomes: list[str]
) -> None:
    assert [event.outcome for event in of_type(TurnEnded, events(Asked("hi"), *last))] == outcomes


def test_a_definition_that_a_search_brought_is_no_new_catalog_until_the_end() -> None:
    names = [AgentTool(f"t{number}", "big", f"mcp__big__t{number}") for number in range(50)]
    defined = [replace(tool, definition={"description": f"Does {tool.name}"}) for tool in names]
    searches = [Searched("s", tool.name, found=(tool,)) for tool in defined]
    made = events(ToolsOffered(tuple(names), deferred=True), Answered("a"), *searches)
    built = of_type(CatalogBuilt, made)
    assert [catalog.uncounted for catalog in built] == [50, 0]
    loaded = {event.tool: event.tokens for event in of_type(ToolLoaded, made)}
    assert loaded == {entry.id: entry.tokens for entry in built[-1].entries}
    assert all(loaded.values())
    # Until then a replay has the tokens from the search.
    before = fold(records(made[: made.index(built[-1])]))
    assert {id_: tool.tokens for id_, tool in before.tools.items()} == loaded
