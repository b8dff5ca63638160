"""A search in the conversation, and what came of its results later in its turn."""

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, strategies as st

from inspector.core.conversation import Conversation, Item, ItemKind, ItemStatus
from inspector.core.events import (
    CallFinished,
    CallStarted,
    Event,
    Record,
    RedundantSearch,
    SearchPerformed,
    TaskChanged,
    ToolLoaded,
    TurnEnded,
    UserSaid,
)
from inspector.core.message import TaskState
from inspector.core.ranking import Hit, Outcome, Score, SearchReport, SearchRequest


def searched(*found: str) -> SearchPerformed:
    hits = [Hit(rank, Score(tool, 1.0), Outcome.LOADED) for rank, tool in enumerate(found, 1)]
    missed = Hit(len(found) + 1, Score("s:missed", 0.1), Outcome.BELOW_FLOOR)
    return SearchPerformed(SearchReport(SearchRequest("q"), "bm25", (*hits, missed)), "")


def called(tool: str) -> CallStarted:
    return CallStarted("c", tool, {})


def items(events: Sequence[Event]) -> tuple[Item, ...]:
    conversation = Conversation()
    for number, event in enumerate(events, 1):
        conversation = conversation.after(Record("s", number, 0.0, event))
    return conversation.items


def test_a_result_that_the_model_calls_later_is_marked_as_called() -> None:
    search, _ = items([searched("s:a", "s:b"), called("s:a")])
    assert search.called == {"s:a"}


@given(st.lists(st.tuples(st.sampled_from([searched, called]), st.sampled_from(["s:a", "s:b"]))))
def test_every_search_is_marked_whose_result_was_called_after_it(
    events: list[tuple[Callable[[str], Event], str]],
) -> None:
    found = items([kind(tool) for kind, tool in events])
    for number, ((kind, tool), item) in enumerate(zip(events, found, strict=True)):
        if kind is searched:
            assert item.called == ({tool} if (called, tool) in events[number:] else set())


def test_a_call_of_a_later_turn_marks_nothing() -> None:
    found = items([searched("s:a"), UserSaid("again"), called("s:a")])
    assert found[0].called == frozenset()


def test_tokens_stand_with_the_search_that_loaded_the_tool() -> None:
    load = ToolLoaded("s:a", 274, "“q”", place=1)
    first, second = items([searched("s:a"), searched("s:a", "s:b"), load])
    assert (dict(first.loaded), dict(second.loaded)) == ({}, {"s:a": 274})


def test_the_last_search_is_the_newest_that_was_one() -> None:
    def asked(query: str, error: str = "") -> SearchPerformed:
        return SearchPerformed(SearchReport(SearchRequest(query), "bm25", (), error=error), "")

    conversation = Conversation()
    assert conversation.last_search is None
    for number, event in enumerate([asked("first"), asked("second"), asked("broken", "no such server")], 1):
        conversation = conversation.after(Record("s", number, 0.0, event))
    assert conversation.last_search == SearchRequest("second")


def test_a_tool_bound_ahead_is_told_by_itself() -> None:
    ahead = ToolLoaded("s:b", 9, "follows s:a: 67 %, at least 58 %", cause="inertia")
    search, notice = items([searched("s:a"), ahead])
    assert search.loaded == {}
    assert (notice.kind, notice.title) == (
        ItemKind.NOTICE,
        "s:b bound ahead: follows s:a: 67 %, at least 58 %",
    )


def test_only_a_search_with_an_overlap_is_called_redundant() -> None:
    known = RedundantSearch("“late”", "“orders”", 0.8, "[Note]")
    nothing = RedundantSearch("“pizza”", "", None, "[Note]", in_a_row=3)
    assert [item.title for item in items([known, nothing])] == [
        "redundant search: 80 % already found by “orders”",
        "3 searches in a row found no tool to call",
    ]


def test_a_turn_that_ends_closes_what_runs_even_from_before_the_last_message() -> None:
    ended = TurnEnded("answered", "")
    first, second, _, third = items(
        [called("s:a"), ended, called("s:b"), UserSaid("and?"), called("s:c"), ended]
    )
    assert {first.status, second.status, third.status} == {ItemStatus.FAILED}


def test_a_running_call_says_how_its_task_goes_until_it_has_its_result() -> None:
    state = TaskChanged("c", "s:a", TaskState("t1", "working", "page 2", polls=1))
    (item,) = items([called("s:a"), state])
    assert (item.status, item.text) == (ItemStatus.RUNNING, "task working: page 2, 1 poll")
    (item,) = items([called("s:a"), state, CallFinished("c", "s:a", ok=True, text="the result")])
    assert item.text == "the result"


ENDED = TurnEnded("answered", "")
DONE = CallFinished("c", "s:a", True, "sunny", 1.0)


def test_an_event_copies_the_items_of_its_turn_alone() -> None:
    conversation = Conversation()
    for number, event in enumerate([UserSaid("go on"), searched("s:a"), called("s:a"), DONE, ENDED] * 200):
        before, conversation = conversation, conversation.after(Record("s", number, 0.0, event))
        if before.turn and event is not ENDED:
            assert conversation.earlier is before.earlier
    assert (len(conversation.items), conversation.turn) == (600, ())


@pytest.mark.parametrize("between", [(), (UserSaid("and now?"),)])
def test_a_call_that_ends_after_its_turn_has_its_result(between: tuple[Event, ...]) -> None:
    _said, call, *rest = items([UserSaid("go"), called("s:a"), ENDED, *between, DONE])
    assert (call.text, call.status, len(rest)) == ("sunny", ItemStatus.OK, len(between))
