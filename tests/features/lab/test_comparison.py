"""One scenario under several profiles: savings, and notes, over written records."""

from collections.abc import Sequence
from typing import Any

import pytest

from inspector.core.budget import Prices, TokenParts
from inspector.core.events import (
    CallFinished,
    CallRejected,
    CallStarted,
    CatalogBuilt,
    Event,
    ModelRequested,
    ModelResponded,
    Record,
    UserSaid,
)
from inspector.core.message import ToolCall, Usage
from inspector.features.lab.comparison import ProfileComparison, ScenarioResult, compare_profiles, totals
from inspector.features.lab.scenario import Step
from tests.support.lab import story

FORECAST = "weather:get_forecast"


def catalog(static: int) -> CatalogBuilt:
    return CatalogBuilt("", (), "", 0, static)


def asked(definitions: int, searches: int = 0, history: int = 0) -> ModelRequested:
    return ModelRequested(1, (), TokenParts(tools=definitions, searches=searches, history=history), 1)


def replied(*names: str) -> ModelResponded:
    calls = tuple(ToolCall(str(number), name, {}) for number, name in enumerate(names))
    return ModelResponded(1, "", calls, Usage(output_tokens=10))


def rejected(name: str, reason: str) -> CallRejected:
    return CallRejected("1", name, reason, "")


def called(tool: str, *, ok: bool = True) -> CallFinished:
    return CallFinished("1", tool, ok, "")


def recorded(*events: Event) -> tuple[Record, ...]:
    return tuple(Record("s", number, 0.0, event) for number, event in enumerate(events, 1))


def played(profile: str, *events: Event, settings: dict[str, Any] | None = None) -> ScenarioResult:
    records = recorded(*events)
    scenario = story([Step(say="b")], settings=settings or {})
    return ScenarioResult(scenario, profile, records, (), totals(records))


def conversation(messages: Sequence[Sequence[int]]) -> list[Event]:
    return [event for calls in messages for event in (UserSaid("a"), *map(asked, calls))]


def compared(*results: ScenarioResult, scripted: bool = True) -> ProfileComparison:
    return compare_profiles(results, scripted=scripted)


def test_savings_are_against_the_measured_run_of_static() -> None:
    static = played("static", catalog(999), *conversation([[100, 100]]))
    found = compared(played("prd", catalog(999), *conversation([[20, 20, 10]])), static)
    assert found.measured
    assert [row.saved for row in found.rows] == [0.75, 0.0]
    assert (found.rows[0].first, found.rows[0].last) == (20, 10)


def test_without_static_the_catalog_at_each_call_says_what_it_would_cost_searches_counted() -> None:
    found = compared(played("prd", catalog(100), *conversation([[20]]), catalog(300), *conversation([[60]])))
    assert not found.measured
    assert (found.rows[0].static_tokens, found.rows[0].saved) == (400, 0.8)
    (row,) = compared(played("prd", catalog(100), UserSaid("a"), asked(20, 30, history=50))).rows
    assert row.saved == pytest.approx(1 - 50 / 100)
    assert row.input_saved == pytest.approx(1 - 100 / 150)


def test_binding_every_tool_needs_no_call_that_only_follows_a_search() -> None:
    search, both = replied("search_tools"), replied("search_tools", "weather__get_forecast")
    calls = [asked(5), search, asked(5), search, asked(5), both, asked(5), replied()]
    (row,) = compared(played("prd", catalog(100), UserSaid("a"), *calls)).rows
    assert row.static_tokens == 2 * 100
    assert row.totals.model_calls == 4


def test_a_step_costs_the_whole_session_divided_by_what_was_solved() -> None:
    prices = Prices("m", 1e-6, 10e-6)
    solved = [
        event
        for number in range(2)
        for event in (CallStarted("1", FORECAST, {"x": number}), called(FORECAST))
    ]
    records = recorded(UserSaid("a"), asked(1000), replied(), *solved)
    had = totals(records, prices)
    assert had.dollars == pytest.approx(1000e-6 + 10 * 10e-6)
    assert had.steps == 2
    assert had.dollars_per_step == pytest.approx((had.dollars or 0) / 2)
    assert totals(records).dollars is None
    assert totals(records[:3], prices).dollars_per_step is None


NO_SEARCH = rejected("search_tools", "unknown tool")


def test_what_is_the_scripts_fault_is_noted_where_there_is_a_script() -> None:
    events = (NO_SEARCH, NO_SEARCH, rejected("weather__get_forecast", "deferred"))
    told = ("attention: 2 scripted searches were rejected; the script expects a search tool.",)
    assert compared(played("attention", *events)).notes == told
    assert not compared(played("attention", *events), scripted=False).notes


def test_a_setting_of_the_scenario_that_changes_a_profile_is_told() -> None:
    settings = {"binding.policy": "bounded"}
    found = compared(played("advisory", settings=settings), played("kaman", settings=settings))
    assert found.notes == ("advisory: binding.policy is bounded instead of the profile's all.",)


def test_who_leaves_out_a_call_that_others_made_is_told() -> None:
    found = compared(
        played("static", called(FORECAST)),
        played("prd", called(FORECAST), called("calc:evaluate")),
        played("attention", called(FORECAST, ok=False)),
        scripted=False,
    )
    assert found.notes == (f"attention: no successful call to {FORECAST}, unlike other profiles.",)
