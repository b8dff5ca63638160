"""Choosing a toolset or a model."""

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot
from textual.widgets import Static

from inspector.app.dialogs.choice import ChoiceDialog
from inspector.core.access import ServerRule, Toolset
from inspector.core.error import ModelError
from inspector.core.ranking import SearchRequest
from tests.support.app import app_rig, until
from tests.support.workbench import Rig

SUMS = Toolset("all", "Called like the row for everything", {"calc": ServerRule()})


def with_toolsets(rig: Rig, *names: str) -> None:
    known = {name: replace(SUMS, name=name) for name in names}
    rig.bench._live.configuration = replace(rig.bench.configuration, toolsets=known)


async def pick(pilot: Pilot[None], *keys: str) -> None:
    await pilot.app.run_action("ask('toolset')")
    await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceDialog))
    await pilot.press(*keys, "enter")
    await until(pilot, lambda: not isinstance(pilot.app.screen, ChoiceDialog))


def found(rig: Rig) -> list[str]:
    return [hit.tool_id for hit in rig.bench.search(SearchRequest("list orders")).results]


@pytest.mark.parametrize("name", ["all", "all tools"])
async def test_a_toolset_may_be_called_like_the_row_for_everything(name: str) -> None:
    async with app_rig() as (pilot, rig):
        with_toolsets(rig, name)
        await pick(pilot, "end")
        assert rig.bench.state.toolset == name
        await pick(pilot, "home")
        assert rig.bench.state.toolset == ""


async def test_a_toolset_that_cannot_be_taken_keeps_the_dialog_open_with_the_reason() -> None:
    async with app_rig() as (pilot, rig):

        def refuse(_: str) -> None:
            raise ModelError("[/]no\x1b[2J", hint="Take another.")

        rig.bench.switch_toolset = refuse  # type: ignore[method-assign, assignment]
        await pilot.app.run_action("ask('toolset')")
        await pilot.press("down", "enter")
        await until(pilot, lambda: "Take another." in str(pilot.app.screen.query_one(Static).render()))
        assert "\x1b" not in str(pilot.app.screen.query_one("#choice-error", Static).render())
        assert isinstance(pilot.app.screen, ChoiceDialog)


async def test_a_milestone_that_a_tool_waits_for_is_offered_and_opens_the_tool() -> None:
    async with app_rig() as (pilot, rig):
        rules = {"shop:list_orders": ["milestone_reached('plan_confirmed')"], "x:*": ["milestone_reached("]}
        rig.bench.policy.set("access.preconditions", rules)
        assert "shop:list_orders" not in found(rig)
        await pilot.app.run_action("ask('milestone')")
        await pilot.press("down", "enter")
        await until(pilot, lambda: not isinstance(pilot.app.screen, ChoiceDialog))
        assert rig.bench.state.milestones == ("plan_confirmed",)
        assert "shop:list_orders" in found(rig)
