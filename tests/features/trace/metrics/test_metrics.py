"""Statistics over sessions: what counts as a use, whose calls failed, and how sets of sessions add up."""

from typing import Any

import pytest
from hypothesis import given

from inspector.core.budget import TokenParts
from inspector.core.error import BreakerState, FailureKind
from inspector.core.events import (
    BreakerChanged,
    CallFinished,
    CallRetried,
    CallStarted,
    CatalogBuilt,
    Event,
    Guess,
    ModelRequested,
    NextPredicted,
    Origin,
    Record,
    SearchPerformed,
    SessionStarted,
    ToolEvicted,
    ToolLoaded,
    ToolSubstituted,
    TurnEnded,
    UserSaid,
)
from inspector.core.ranking import Answer, Hit, Outcome, Part, Score, SearchReport, SearchRequest, Signal
from inspector.core.turns import turns
from inspector.features.trace.metrics.discovery import Cases
from inspector.features.trace.metrics.facts import sections, stats_json
from inspector.features.trace.metrics.gathering import KINDS, Telemetry, telemetry
from inspector.search.answer.metric import share_estimate
from inspector.session.miss import MissCause
from tests.core.test_event import records
from tests.core.test_fold_property import streams

LATE, ALL, POST = "shop:late_orders", "shop:list_orders", "chat:post"


def search(query: str, *found: tuple[str, float], took: float = 1.0, **more: Any) -> SearchPerformed:
    """A search of the model that returned these tools with these scores."""
    hits = tuple(
        Hit(rank, Score(tool, score), Outcome.LOADED) for rank, (tool, score) in enumerate(found, start=1)
    )
    return SearchPerformed(
        SearchReport(SearchRequest(query), "bm25", hits, latency_ms=took, scored=9, **more), ""
    )


def request(call: int) -> ModelRequested:
    return ModelRequested(call, (LATE,), TokenParts(tools=100 * call, meta=10, searches=5), 1)


def call(tool: str, *, ok: bool = True, took: float = 10.0, number: str = "c") -> tuple[Event, Event]:
    return CallStarted(number, tool, {}), CallFinished(number, tool, ok, "", took)


def turn(*said: Event | tuple[Event, ...]) -> list[Event]:
    """A turn with a model call before each event."""
    made: list[Event] = [UserSaid("hi")]
    for number, one in enumerate(said, start=1):
        made += [request(number), *(one if isinstance(one, tuple) else (one,))]
    return [*made, TurnEnded("answered", "")]


def told(cases: Cases) -> tuple[int, int]:
    return cases.held, cases.count


def counted(*sessions: list[Event]) -> Telemetry:
    every = [record for n, events in enumerate(sessions) for record in records(events, f"s{n}")]
    return telemetry(turns(every))


def test_a_called_tool_counts_at_the_newest_search_that_found_it() -> None:
    found = counted(
        turn(search("late", (ALL, 5.0), (LATE, 4.0)))
        + turn(search("overdue", (LATE, 7.0)), call(LATE), call(LATE))
    ).discovery
    assert told(found.used) == (1, 3)
    assert (found.rankers["bm25"].scores_of_called.at(0.5), found.rankers["bm25"].scores_of_others.count) == (
        7.0,
        2,
    )


def test_searches_without_a_use_are_counted_by_what_became_of_them() -> None:
    found = counted(
        turn(search("teleport")),
        turn(search("late", (ALL, 1.0)), search("overdue", (LATE, 2.0)), call(LATE)),
        turn(search("post", (POST, 1.0))),
        [*turn(search("stop", (POST, 1.0)))[:-1], TurnEnded("cancelled")],
    ).discovery
    assert found.without_a_use == dict.fromkeys(MissCause, 1)


def test_searches_are_counted_by_what_they_said() -> None:
    found = counted(
        turn(search("late", (LATE, 4.0), probability=0.8, threshold=0.35)),
        turn(search("hm", (LATE, 4.0), probability=0.2, threshold=0.35)),
        turn(search("zebra", probability=0.01, threshold=0.35)),
        turn(search("by words", (LATE, 4.0))),
    ).discovery
    assert {answer: cases.held for answer, cases in found.answers.items()} == {
        Answer.FOUND: 2,
        Answer.CLOSEST: 1,
        Answer.NOTHING: 1,
    }
    assert {cases.count for cases in found.answers.values()} == {4}


def test_a_look_up_by_name_is_no_ranking() -> None:
    named = Hit(1, Score(LATE, 1.0, (Part(Signal.EXACT, "late_orders", 1.0),)), Outcome.LOADED)
    by_name = SearchRequest("late", tool_names=("late_orders",))
    looked_up = [
        SearchPerformed(SearchReport(asked, "bm25", (named,), scored=1), "")
        for asked in (by_name, SearchRequest(server_name="shop"))
    ]
    found = counted(
        turn(*looked_up, call(LATE)) + turn(search("posts", (POST, 2.8), (ALL, 2.0)), call(POST))
    ).discovery
    assert (found.searches, found.lookups) == (3, 2)
    scores = found.rankers["bm25"]
    called, others = scores.scores_of_called, scores.scores_of_others
    assert (called.at(0.5), called.count, others.at(0.5), others.count) == (2.8, 1, 2.0, 1)
    assert (found.candidates.count, found.latency_ms.count, found.ranked_first.count) == (1, 1, 1)


def test_a_search_of_a_person_is_none_of_the_models() -> None:
    by_hand = SearchPerformed(SearchReport(SearchRequest("late"), "bm25"), "", by="user")
    found = counted(turn(by_hand)).discovery
    assert (
        found.searches,
        found.by_hand,
        found.turns_with_a_search.held,
        found.turns_with_a_search.count,
    ) == (0, 1, 0, 1)


def test_frequency_is_told_by_agent_and_toolset() -> None:
    agent = SessionStarted("", (), "", "m", "m", 0, origin=Origin("codex"))
    own = SessionStarted("", (), "orders", "m", "m", 0)
    found = counted(
        [agent, *turn(search("a"), search("b")), *turn()],
        [own, CatalogBuilt("orders", (), "", 0, 0), *turn(search("c"))],
    )
    frequency = {
        key: (one.sessions, one.turns, one.searches) for key, one in found.discovery.by_agent.items()
    }
    assert frequency == {("codex", ""): (1, 2, 2), ("toolsight", "orders"): (1, 1, 1)}
    assert found.agents == {"codex": 1, "toolsight": 1}


def test_failures_are_counted_by_tool_and_by_server() -> None:
    calls = counted(turn(call(LATE), call(LATE, ok=False), call(ALL), call(POST))).calls
    assert (calls.tools[LATE].failures.held, calls.tools[LATE].calls) == (1, 2)
    assert (calls.servers["shop"].failures.held, calls.servers["shop"].calls) == (1, 3)
    assert calls.failures_by_kind == {"unknown": 1}
    assert calls.servers["chat"].failures_by_kind == {}


def test_definitions_loads_and_evictions_are_counted_by_cause() -> None:
    bound = counted(
        turn(ToolLoaded(LATE, 9, "search", 1), ToolLoaded(POST, 9, "you"), ToolEvicted(LATE, "old", "ttl"))
    ).binding
    assert (bound.loads, bound.evictions) == ({"search": 1, "by hand": 1}, {"ttl": 1})
    assert bound.definition_tokens.mean == (110 + 210 + 310) / 3


def _breaker(at: float, after: BreakerState, **more: Any) -> Record:
    told = BreakerChanged("server", "shop", "", BreakerState.CLOSED, after, "5 of 6 calls failed", **more)
    return Record("s", int(at), at, told)


def test_a_breaker_stands_as_its_newest_change_left_it() -> None:
    changes = [
        _breaker(1.0, BreakerState.OPEN, failure_rate=0.8, calls=6, cool_down=30.0),
        _breaker(31.0, BreakerState.HALF_OPEN),
        _breaker(32.0, BreakerState.OPEN, failure_rate=1.0, calls=1, cool_down=60.0),
    ]
    found = telemetry(turns(changes)).reliability
    [one] = found.breakers.values()
    assert (one.name, one.state, one.since, one.until, one.opened) == ("shop", "open", 32.0, 92.0, 2)
    assert found.breaker_changes == {"open": 2, "half-open": 1}


def _prediction(after: str, *tools: str) -> NextPredicted:
    guesses = tuple(Guess(tool, 0.5) for tool in tools)
    return NextPredicted(after, guesses, 0.3)


def test_predictions_are_scored_on_the_first_use_of_a_tool() -> None:
    found = counted(
        turn(call(ALL), _prediction(ALL, POST, LATE), call(LATE), _prediction(LATE, ALL), call(ALL))
    ).inertia
    assert (found.predictions, told(found.predicted_first), told(found.predicted_in_three)) == (
        2,
        (0, 1),
        (1, 1),
    )


@pytest.mark.parametrize(
    ("between", "scored"),
    [
        ((), [(1, 1)]),
        # Only the next call, the model's own, for the same message.
        ((call(POST),), [(0, 1)]),
        ((CallStarted("c", LATE, {}, "user"),), [(1, 1)]),
        ((UserSaid("next"),), [(0, 0)]),
    ],
)
def test_a_prediction_is_scored_by_the_models_next_call_for_its_message(
    between: tuple[Any, ...], scored: list[tuple[int, int]]
) -> None:
    found = counted(turn(call(ALL), _prediction(ALL, LATE), *between, call(LATE))).inertia
    assert [told(found.predicted_first)] == scored


def test_retries_and_substitutes_are_counted_by_tool_and_by_what_they_were_for() -> None:
    retry = CallRetried("c", LATE, 1, 3, 2.0, FailureKind.TIMEOUT)
    saved = CallFinished("c", LATE, True, "", 5.0, attempts=3)
    lost = CallFinished("c", LATE, False, "", 5.0, failure=FailureKind.RATE_LIMIT, attempts=2)
    found = counted([retry, retry, saved, retry, lost, ToolSubstituted("c", LATE, ALL)])
    assert (found.reliability.retries, found.reliability.retries_by_failure) == ({LATE: 3}, {"timeout": 3})
    assert told(found.reliability.saved_by_a_retry) == (1, 2)
    assert found.reliability.fallbacks == {f"{ALL} for {LATE}": 1}
    assert found.calls.tools[LATE].failures_by_kind == {"rate_limit": 1}


@given(streams)
def test_statistics_need_only_the_kinds_that_they_say(stream: list[Event]) -> None:
    whole = records(stream)
    needed = [record for record in whole if record.kind in KINDS]
    of_all, of_those = (stats_json(telemetry(turns(one))) for one in (whole, needed))
    for name in ("discovery", "calls", "binding", "turns", "backlog"):
        # As text, in which NaN equals itself.
        assert repr(of_all[name]) == repr(of_those[name])


@given(streams)
def test_whatever_is_recorded_can_be_told(stream: list[Event]) -> None:
    shown = sections(telemetry(turns(records(stream))))
    assert [section.id for section in shown] == [
        "discovery",
        "tools",
        "latency",
        "failures",
        "inertia",
        "backlog",
    ]
    assert all(len(row) == len(table.headers) for one in shown for table in one.tables for row in table.rows)


def test_a_share_over_sessions_takes_each_as_one_cluster() -> None:
    cases, flags, sessions = Cases(), [], []
    for session, held in (("a", (1, 1, 1)), ("b", (0, 0)), ("c", (1, 0))):
        for one in held:
            cases.add(session, one)
            flags.append(bool(one))
            sessions.append(session)
    share, expected = cases.share, share_estimate(flags, sessions)
    assert share is not None
    assert (share.value, share.low, share.high) == pytest.approx((expected.mean, expected.low, expected.high))
