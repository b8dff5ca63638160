"""The flow page: what follows what, whose habits they are, and what a replay shows of them."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace

from textual.pilot import Pilot

from inspector.app.pages.trace import flow as content
from inspector.app.pages.trace.flow import FlowScreen
from inspector.core.inertia import Aging, InertiaGraph
from inspector.core.ports import TaskCalls
from inspector.core.session import Hits, InertiaState, SessionState
from inspector.core.settings import InertiaSettings
from inspector.reliability.flow import Flow, FlowLibrary, flow
from tests.support.app import app_rig, goes, seen, until
from tests.support.canned import CannedFlows, graphs_of, task
from tests.support.fakes import calls, says, searches
from tests.support.workbench import Rig
from widgets import RecordList

ON = InertiaSettings(enabled=True, preload="with_search")
STEPS = (searches(query="list orders by status"), calls(("shop__list_orders", {})), says("done"))


@asynccontextmanager
async def page(library: FlowLibrary | None) -> AsyncGenerator[tuple[Pilot[None], Rig]]:
    async with app_rig(*STEPS, size=(120, 36), beside=lambda _: {"flows": library}) as (pilot, rig):
        await goes(pilot, "flow")
        yield pilot, rig


def current(pilot: Pilot[None], selector: str) -> str:
    row = pilot.app.screen.query_one(selector, RecordList).current
    return row.key if row is not None else ""


async def test_the_tool_under_the_cursor_shows_what_follows_it_and_enter_goes_on() -> None:
    async with page(CannedFlows()) as (pilot, _):
        await until(pilot, lambda: "Then, after shop:list_orders" in seen(pilot))
        assert "81 of 100 tasks: still learning" in seen(pilot)
        await pilot.press("tab", "down", "down", "enter")
        await until(pilot, lambda: current(pilot, "#flow-tools") == "office:send_message")
        assert "No tool was called after it" in seen(pilot)


async def test_another_persona_is_chosen_in_a_dialog() -> None:
    async with page(CannedFlows()) as (pilot, _):
        await until(pilot, lambda: "toolsight" in seen(pilot))
        await pilot.press("p", "end", "enter")
        await until(pilot, lambda: "Then, after github:get_issue" in seen(pilot))
        assert isinstance(pilot.app.screen, FlowScreen)


async def test_an_empty_record_says_what_to_do() -> None:
    async with page(CannedFlows({})) as (pilot, _):
        await until(pilot, lambda: "No calls recorded yet" in seen(pilot))


async def test_the_last_call_of_the_shown_moment_has_a_mark_also_in_a_replay() -> None:
    async with page(CannedFlows()) as (pilot, rig):
        await rig.bench.chat("go")
        await until(pilot, lambda: "▸ shop:list_orders" in " ".join(seen(pilot).split()))
        await goes(pilot, "timeline")
        await pilot.press("home", "enter")
        await until(pilot, lambda: "REPLAY" in seen(pilot))
        await goes(pilot, "flow")
        await until(pilot, lambda: "REPLAY" in seen(pilot) and "Called" in seen(pilot))
        assert "▸ shop:list_orders" not in " ".join(seen(pilot).split())


def shown(graphs: Mapping[str, InertiaGraph], persona: str) -> Flow:
    return flow(persona, graphs[persona], Aging(0.0))


def test_what_came_of_predictions_is_told_beside_what_they_have_to_beat() -> None:
    hits = Hits(5, order_1=(2, 3), most_used=(1, 2), same_server=(0, 1))
    inertia = InertiaState(ahead=frozenset({"a:x", "b:y"}), used=frozenset({"a:x"}), hits=hits)
    told = str(content.doing(replace(SessionState(), inertia=inertia), ON))
    assert "1 of 2 tools bound ahead were called." in told
    assert "Predicted 2 of 5 first uses; most used 1, same server 0." in told
    assert "Predictions are off" in str(content.doing(SessionState(), InertiaSettings()))


def test_what_is_never_bound_ahead_is_muted() -> None:
    graphs = graphs_of([TaskCalls("me", (("a:x", 0.0), ("b:y", 0.0)))] * 9)
    graphs["me"].add(TaskCalls("me", (("a:x", 0.0), ("c:z", 0.0))))
    (tool,) = [one for one in shown(graphs, "me").tools if one.tool == "a:x"]
    assert [row.tone for row in content.successors(tool, ON)] == ["", "muted"]


async def test_a_name_with_markup_is_shown_as_it_is() -> None:
    name = "shop:a[/x][bold]b\x1b[31m"
    async with page(CannedFlows(graphs_of([task("toolsight", (name, "shop:b"))] * 3))) as (pilot, _):
        await until(pilot, lambda: "Then, after shop:a[/x][bold]b\\x1b[31m" in seen(pilot))
