"""A session's timeline and its verdict."""

import pytest
from hypothesis import example, given

from inspector.core.budget import TokenParts
from inspector.core.events import (
    Actor,
    CallFinished,
    CallRejected,
    CallStarted,
    CatalogBuilt,
    CatalogEntry,
    Event,
    LoopDetected,
    ModelRequested,
    SearchPerformed,
    SessionStarted,
    ToolEvicted,
    ToolLoaded,
    ToolRefreshed,
    TurnEnded,
    UserSaid,
)
from inspector.core.fold import apply, fold
from inspector.core.ranking import SearchReport, SearchRequest
from inspector.core.session import Binding, SessionState
from inspector.session.timeline import COST_KINDS, KINDS, Timeline
from inspector.session.verdict import Answer, Verdict
from inspector.tokens.break_even import BreakEven
from tests.core.test_event import records
from tests.core.test_fold_property import streams

ENTRIES = (
    CatalogEntry("calc:evaluate", 40, deferred=False),
    CatalogEntry("shop:list", 100, deferred=True),
    CatalogEntry("shop:refund", 120, deferred=True),
    CatalogEntry("mail:send", 90, deferred=True),
)
CATALOG = CatalogBuilt("", ENTRIES, "manifest", 50, 350)


def request(call: int, *bound: str, **more: object) -> ModelRequested:
    return ModelRequested(call, bound, TokenParts(tools=10 * call, meta=50), 1, **more)  # type: ignore[arg-type]


def found(by: Actor = "model") -> SearchPerformed:
    return SearchPerformed(SearchReport(SearchRequest("orders"), "bm25", (), (), 5, 1.0), "found", by)


STORY: list[Event] = [
    CATALOG,
    UserSaid("which orders are late?"),
    request(1),
    found(),
    ToolLoaded("shop:list", 100, "search: orders"),
    request(2, "shop:list", same=50, resent=100, change="1 tool added"),
    CallStarted("c1", "shop:list", {"city": "Oslo", "days": 3, "why": f"a\nb {'c' * 900}"}),
    CallFinished("c1", "shop:list", True, "3 orders", 12.0),
    LoopDetected("shop:list", 3, 120.0, "abc", "try another"),
    ToolEvicted("shop:list", "called 3x with equal arguments", "loop"),
    request(3),
    CallRejected("c2", "shop:list", "not loaded", "search first"),
    TurnEnded("answered", "three"),
]


def test_a_call_has_its_arguments_on_one_line_of_bounded_length() -> None:
    result = next(one for one in Timeline.of(records(STORY)).calls[1].actions if one.kind == "result")
    assert result.arguments.startswith("city=Oslo  days=3  why=a b ccc".replace("  ", " "))
    assert len(result.arguments) <= 300


def test_a_record_without_model_calls_has_a_column_for_each_call_of_a_tool() -> None:
    """As a tap's. Calls may overlap; the tools that were called have lanes."""
    done = [CallFinished(call, f"calc:{call}", True, "", 12.0, tokens=7) for call in "ab"]
    told = [CallStarted(call, f"calc:{call}", {}) for call in "ab"]
    entries = tuple(CatalogEntry(f"calc:{name}", 40, deferred=False) for name in "abc")
    timeline = Timeline.of(records([CatalogBuilt("", entries, "", 0, 120), *told, *done]))
    assert [(call.called, call.tool_tokens) for call in timeline.calls] == [("calc:a", 120), ("calc:b", 120)]
    assert [[one.text for one in call.actions] for call in timeline.calls] == [
        [f"calc:{name}  ok  12 ms  7 tokens"] for name in "ab"
    ]
    assert [lane.tool for lane in timeline.lanes] == ["calc:a", "calc:b"]
    assert (timeline.kind, Timeline.of(records(STORY)).kind) == ("tool call", "model call")


def test_a_tool_is_bound_in_the_calls_between_its_loading_and_its_eviction() -> None:
    timeline = Timeline.of(records(STORY))
    (lane,) = timeline.lanes
    states = [lane.during(call) for call in range(1, timeline.now + 1)]
    assert lane.tool == "shop:list"
    assert states == [Binding.DEFERRED, Binding.LOADED, Binding.EVICTED, Binding.EVICTED]


def test_a_turn_knows_its_message_its_tokens_and_what_the_model_did() -> None:
    first, second, third = Timeline.of(records(STORY)).calls
    assert [call.message for call in (first, second, third)] == [1, 1, 1]
    assert first.said == "which orders are late?"
    assert (second.tool_tokens, second.same, second.resent, second.change) == (70, 50, 100, "1 tool added")
    assert [action.kind for action in first.actions] == ["search"]
    assert [(action.kind, action.ok) for action in second.actions] == [("result", True), ("loop", False)]
    assert [action.kind for action in third.actions] == ["reject"]


@given(streams)
@example([CATALOG, CallStarted("c1", "shop:list", {}), ToolLoaded("shop:list", 5, "x")])
@example([CATALOG, ToolLoaded("shop:list", 5, "x"), CatalogBuilt("", (), "", 0, 0, 0, held=("shop:list",))])
def test_the_lanes_say_what_the_fold_says_at_every_call(stream: list[Event]) -> None:
    timeline, state = Timeline(), SessionState()
    seen: list[SessionState] = []
    begins = ""
    for record in records(stream):
        is_tools = isinstance(record.event, CallStarted) and record.event.by == "model" and begins != "model"
        if is_tools or isinstance(record.event, ModelRequested):
            # A record that begins with a call has none of its model's, so that each call is a column.
            begins = begins or ("tool" if is_tools else "model")
            seen.append(state)
        state = apply(state, record)
        timeline.after(record)
    for column, known in enumerate([*seen, state], 1):
        own = {lane.tool for lane in timeline.lanes}
        for lane in timeline.lanes:
            tool = known.known(lane.tool)
            assert lane.during(column) == (tool and tool.binding)
            assert next(lane.states(column, 1))[0] == lane.during(column)
        rest = [tool.binding for tool in known.tools.values() if tool.id not in own]
        assert timeline.rest(column) == {binding: rest.count(binding) for binding in Binding}
        assert set(rest) <= {Binding.PINNED, Binding.DEFERRED}
        assert timeline.tally(column).accuracy == known.accuracy
    assert len(timeline.calls) == len(seen)


def test_a_tool_that_was_bound_only_until_more_servers_were_up_has_not_moved() -> None:
    alone = CatalogBuilt("", (CatalogEntry("shop:list", 100, deferred=False),), "", 0, 100)
    timeline = Timeline.of(records([alone, CATALOG, UserSaid("hello"), request(1)]))
    assert not any(move.is_move for move in timeline.moves_at(1))
    assert "shop:list" not in [lane.tool for lane in timeline.lanes]
    assert timeline.rest(1)[Binding.DEFERRED] == 3


def verdict(tools: int, even: BreakEven) -> Verdict:
    return Verdict(tools, even, 0.24, 0.19)


@pytest.mark.parametrize(
    ("tools", "even", "words"),
    [
        (
            84,
            BreakEven(213, 26, 1593),
            ("in some sessions but not all", "with 213 or more tools", "26 to 1,593"),
        ),
        (4, BreakEven(78, 20, 303), ("4 tools are too few for discovery to save", "with 78 or more tools")),
        (900, BreakEven(78, 20, 303), ("discovery is cheaper for these 900 tools", "$0.19 with discovery")),
        (
            1,
            BreakEven(None, None, None),
            ("1 tool is too few for discovery", "would not be cheaper with 5,000 tools"),
        ),
        (
            50,
            BreakEven(None, 40, None),
            ("in some sessions", "Never cheaper under these assumptions; under others", "with 40 or more"),
        ),
        (
            50,
            BreakEven(90, 30, None),
            ("Cheaper with 90 or more tools of this size (30 or more in some sessions, never in others).",),
        ),
    ],
)
def test_the_sentence_says_what_holds_and_from_how_many_tools_on(
    tools: int, even: BreakEven, words: tuple[str, ...]
) -> None:
    text = verdict(tools, even).text
    assert all(word in text for word in words), text


def test_without_prices_no_dollars_are_said() -> None:
    assert "$" not in Verdict(84, BreakEven(213, 26, 1593), None, None).text


@pytest.mark.parametrize(
    ("static", "answer"), [(0.30, Answer.PAYS), (0.19, Answer.COSTS), (0.10, Answer.COSTS)]
)
def test_a_recorded_session_is_judged_by_what_it_cost_and_assumes_nothing(
    static: float, answer: Answer
) -> None:
    found = Verdict(84, BreakEven(213, 26, 1593), static, 0.19, is_recorded=True)
    assert found.answer is answer
    assert found.text == f"This session: $0.19 with discovery, ${static:.2f} with every tool bound."


def test_a_tool_that_is_pinned_by_name_has_a_lane_and_a_server_that_never_waits_has_none() -> None:
    entries = (*ENTRIES, CatalogEntry("shop:get", 10, deferred=False))
    timeline = Timeline.of(records([CatalogBuilt("", entries, "", 0, 0)]))
    assert [lane.tool for lane in timeline.lanes] == ["shop:get"]
    started = SessionStarted("c", (), "", "m", "m", 1, settings={"binding": {"always_include": ["calc:*"]}})
    assert [lane.tool for lane in Timeline.of(records([started, CATALOG])).lanes] == ["calc:evaluate"]


@given(streams)
@example(
    [CATALOG, CallRejected("c", "a:b", "x", "y"), TurnEnded("answered", ""), CallStarted("c", "a:b", {})]
)
@example([CATALOG, ToolRefreshed("calc:evaluate", "search")])
def test_a_timeline_needs_no_other_kinds_than_it_says(stream: list[Event]) -> None:
    """Whoever reads a long session decodes these alone."""
    everything = records(stream)
    state = fold(everything)
    timeline = Timeline.of(one for one in everything if one.kind in (*KINDS, *COST_KINDS))
    without_costs = Timeline.of(one for one in everything if one.kind in KINDS)
    assert (timeline.calls, timeline.lanes) == (without_costs.calls, without_costs.lanes)
    assert tuple(timeline.costs.values()) == state.costs
    tally = timeline.tally(timeline.now)
    for name in (
        "searches",
        "loads",
        "evictions",
        "rejections",
        "refusals",
        "recoveries",
        "loops",
        "accuracy",
    ):
        assert getattr(tally, name) == getattr(state, name)
