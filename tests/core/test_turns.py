"""A stream as turns: what the model did stands once, in the turn and the call that it belongs to."""

from hypothesis import given

from inspector.core.events import (
    CallRejected,
    Event,
    Failed,
    LoopDetected,
    ModelResponded,
    ModelSwitched,
    Origin,
    RedundantSearch,
    SessionStarted,
    ToolLoaded,
    TurnEnded,
    UserSaid,
)
from inspector.core.turns import Rejection, Search, ToolCall, turns
from tests.core.test_event import records
from tests.core.test_fold_property import streams
from tests.session.test_timeline import CATALOG, STORY, found, request


@given(streams, streams)
def test_every_record_is_in_exactly_one_turn(stream: list[Event], other: list[Event]) -> None:
    both = records(stream) + records(other, "t")
    assert [record for turn in turns(both) for record in turn.records] == both


def test_a_turn_begins_with_a_message_and_ends_with_its_outcome() -> None:
    stream = [
        UserSaid("a"),
        request(1),
        TurnEnded("answered"),
        UserSaid("b"),
        request(2),
        UserSaid("c"),
        found(),
    ]
    made = turns(records(stream))
    told = [(turn.message, turn.outcome, len(turn.calls), len(turn.acts)) for turn in made]
    assert told == [(1, "answered", 1, 0), (2, "", 1, 0), (3, "", 0, 1)]


def test_a_session_ends_the_turn_of_the_one_before_and_counts_anew() -> None:
    for first in (UserSaid("b"), TurnEnded("answered")):
        both = records([UserSaid("a"), request(1)]) + records([first, request(1)], "t")
        assert [call.record.session for turn in turns(both) for call in turn.calls] == ["s", "t"]
    both = records([UserSaid("a"), request(1)]) + records([UserSaid("b"), request(1)], "t")
    assert [(turn.message, turn.calls[0].record.session) for turn in turns(both)] == [(1, "s"), (1, "t")]


def test_a_model_call_knows_its_answer_its_catalog_and_what_was_bound_before_it() -> None:
    loaded = ToolLoaded("shop:list", 100, "search: orders")
    answer = ModelResponded(2, "done")
    stream = [CATALOG, UserSaid("a"), request(1), found(), loaded, request(2), answer]
    first, second = [call for turn in turns(records(stream)) for call in turn.calls]
    assert (first.catalog, first.loaded, first.answer) == (CATALOG, [], None)
    assert (second.loaded, second.answer) == ([loaded], answer)


def test_a_call_is_the_models_until_its_result_and_belongs_to_the_request_before_it() -> None:
    turn = next(turn for turn in turns(records(STORY)) if turn.said)
    calls = [act for act in turn.acts if isinstance(act, ToolCall)]
    assert all(call.end is not None and call.end.call_id == call.event.call_id for call in calls)
    for act in turn.acts:
        assert act.call is not None
        assert act in act.call.acts
        assert act.call.record.seq < act.record.seq
    assert [type(act) for act in turn.acts].count(Search) >= 1


def test_a_loop_and_a_redundant_search_stand_at_the_act_that_they_are_about() -> None:
    loop = LoopDetected("shop:list", 4, 60.0, "5f", "Stop.")
    noted = RedundantSearch("a", "b", 1.0, "Nothing new.")
    rejected = CallRejected("c1", "shop__x", "unknown", "")
    stream = [UserSaid("a"), request(1), found(), noted, noted, rejected, loop]
    (turn,) = turns(records(stream))
    search, rejection = turn.acts
    assert isinstance(search, Search)
    assert isinstance(rejection, Rejection)
    assert (search.redundant, search.loop, rejection.event, rejection.loop) == (noted, None, rejected, loop)
    assert turn.of(RedundantSearch) == [noted, noted]


def test_a_failure_belongs_to_the_model_call_of_its_turn() -> None:
    failed = Failed("model", "no answer")
    stream = [UserSaid("a"), request(1), failed, TurnEnded("failed"), UserSaid("b"), failed]
    first, second = turns(records(stream))
    assert [call.failed for call in first.calls] == [failed]
    assert (second.calls, second.of(Failed)) == ([], [failed])


def test_what_holds_in_the_session_goes_on_from_turn_to_turn() -> None:
    origin = Origin("codex", "1.0")
    start = SessionStarted("c", (), "orders", "m", "M", 0, {"a": 1}, "prd", origin=origin)
    stream = [start, UserSaid("a"), request(1), ModelSwitched("n", "N", 0), UserSaid("b"), request(2)]
    *_, last = told = list(turns(records(stream)))
    assert [call.model for turn in told for call in turn.calls] == ["m", "n"]
    session = last.session
    assert (session.agent, session.label, session.toolset) == ("codex", "N", "orders")
    assert session.settings == {"a": 1}
