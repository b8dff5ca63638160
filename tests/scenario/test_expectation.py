"""Expectations: what meets them, in which order, and what is told where nothing does."""

from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given, strategies as st

from inspector.core.budget import TokenParts
from inspector.core.error import ConfigError
from inspector.core.events import (
    CallStarted,
    Event,
    Event as AnyEvent,
    LoopDetected,
    ModelRequested,
    Record,
    SearchPerformed,
    ToolEvicted,
    ToolLoaded,
    UserSaid,
)
from inspector.core.ranking import Hit, Outcome, Score, SearchReport, SearchRequest
from inspector.scenario.expectation import Finding, check, expectation

LOADED = ToolLoaded("a:b", 10, "search")
LOOP = LoopDetected("a:b", 3, 120.0, "f00d", "try something else")
EVICTED = ToolEvicted("a:b", "loop guard", "loop")


def recorded(*events: AnyEvent) -> list[Record]:
    return [Record("s", seq, float(seq), event) for seq, event in enumerate(events, 1)]


def found(records: list[Record], *entries: dict[str, Any]) -> tuple[Finding, ...]:
    return check(records, [expectation(entry) for entry in entries])


def is_met(event: Event, **conditions: Any) -> bool:
    (finding,) = found(recorded(event), {"event": event.kind, **conditions})
    return finding.met


def test_events_in_their_order_meet_expectations_with_others_between() -> None:
    records = recorded(LOADED, UserSaid("x"), LOOP, UserSaid("y"), EVICTED)
    findings = found(
        records, {"event": "load"}, {"event": "loop", "tool": "a:b", "count": 3}, {"event": "evict"}
    )
    assert [(finding.met, finding.seq) for finding in findings] == [(True, 1), (True, 3), (True, 5)]
    assert findings[1].text == 'loop, tool "a:b", count 3: met at 3'


def test_an_event_that_comes_too_early_is_named() -> None:
    _, early = found(recorded(LOADED, EVICTED), {"event": "evict"}, {"event": "load", "tool": "a:b"})
    assert not early.met
    assert early.reason == "not met in this order: it comes earlier, at 1"


def test_what_is_missing_is_told_by_the_nearest_event_and_what_differs_there() -> None:
    records = recorded(
        LoopDetected("c:d", 9, 1.0, "", ""), LoopDetected("a:b", 2, 1.0, "", ""), UserSaid("loop")
    )
    (finding,) = found(records, {"event": "loop", "tool": "a:b", "count": 3})
    assert (finding.met, finding.seq) == (False, 2)
    assert finding.reason == "not met: the closest event is 2, where count is 2"


def test_one_that_is_not_met_holds_up_none_after_it() -> None:
    missed, met = found(recorded(LOADED, LOOP), {"event": "evict"}, {"event": "load"})
    assert (missed.met, met.met) == (False, True)


def test_what_must_not_occur_is_told_where_it_does() -> None:
    never = [expectation({"event": "loop", "count": {"at_least": 3}}), expectation({"event": "evict"})]
    occurs, absent = check(recorded(LOADED, LOOP), (), never)
    assert (occurs.met, occurs.seq, occurs.forbidden) == (False, 2, True)
    assert occurs.text == "never loop, count at least 3: occurs at 2"
    assert (absent.met, absent.seq) == (True, None)


@pytest.mark.parametrize(
    ("condition", "met"),
    [
        (3, True),
        (3.0, True),
        ("3", False),
        (True, False),
        ({"at_least": 3}, True),
        ({"at_least": 4}, False),
        ({"at_most": 3}, True),
        ({"at_most": 2}, False),
        ({"at_least": 1, "at_most": 5}, True),
        ({"contains": "3"}, False),
    ],
)
def test_a_number_is_compared_as_a_number(condition: Any, met: bool) -> None:
    assert is_met(LOOP, count=condition) is met


def test_a_text_may_contain_what_is_expected() -> None:
    assert is_met(LOOP, guidance={"contains": "something"})
    assert not is_met(LOOP, guidance={"contains": "nothing"})
    assert not is_met(LOOP, guidance={"at_least": 1})


def test_a_list_may_contain_an_item_or_be_equal_item_by_item() -> None:
    request = ModelRequested(1, ("a:b", "c:d"), TokenParts(tools=7), 1)
    assert is_met(request, bound={"contains": "c:d"})
    assert not is_met(request, bound={"contains": "c"})
    assert is_met(request, bound=["a:b", "c:d"])
    assert not is_met(request, bound=["a:b"])


def test_arguments_and_nested_values_are_compared_whole() -> None:
    call = CallStarted("1", "a:b", {"to": ["x"], "dry": True, "contains": "x"})
    assert is_met(call, arguments={"to": ["x"], "dry": True, "contains": "x"})
    assert not is_met(call, arguments={"to": ["x"], "dry": 1, "contains": "x"})
    parts = asdict(TokenParts(tools=7))
    assert is_met(ModelRequested(1, (), TokenParts(tools=7), 1), tokens=parts)


@pytest.mark.parametrize(
    ("entry", "told", "near"),
    [
        ({}, "event is missing", ""),
        ({"event": 3}, "event must be text", ""),
        ({"event": "loops"}, "there is no event 'loops'", "loop"),
        ({"event": "evict", "causes": "lru"}, "the event 'evict' has no field 'causes'", "cause"),
        ({"event": "loop", "count": {"at_least": "3"}}, "count: at_least must be a number", ""),
        ({"event": "loop", "count": {"at_most": True}}, "count: at_most must be a number", ""),
        ({"event": "loop", "guidance": {"contains": 3}}, "guidance: contains must be text", ""),
    ],
)
def test_an_entry_that_cannot_be_met_is_refused_with_the_nearest_name(
    entry: dict[str, Any], told: str, near: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        expectation(entry)
    assert refused.value.message == told
    assert near in refused.value.hint


@given(st.lists(st.text(max_size=3), max_size=8), st.data())
def test_a_part_of_a_stream_in_its_order_is_always_met(texts: list[str], data: st.DataObject) -> None:
    kept = [text for text in texts if data.draw(st.booleans())]
    findings = found(recorded(*map(UserSaid, texts)), *({"event": "user", "text": text} for text in kept))
    assert all(finding.met for finding in findings)
    places = [finding.seq for finding in findings]
    assert places == sorted(set(filter(None, places)))


@pytest.mark.parametrize(("confidence", "answer"), [(0.8, "found"), (0.2, "closest")])
def test_a_search_is_expected_by_what_it_says(confidence: float, answer: str) -> None:
    hits = (Hit(1, Score("a:b", 1.0), Outcome.LOADED),)
    report = SearchReport(SearchRequest("x"), "hybrid", hits, probability=confidence, threshold=0.35)
    assert is_met(SearchPerformed(report, ""), answer=answer)
    assert not is_met(SearchPerformed(report, ""), answer="nothing")
