"""Every page and dialog, by its keys."""

import json
from pathlib import Path

import pytest
from textual.widgets import Static

from inspector.app.command import COMMANDS
from inspector.app.dialogs.approver import ConsentDialog
from inspector.app.dialogs.detail import HelpScreen
from inspector.app.dialogs.export import ExportDialog
from inspector.app.pages.chat.session.screen import SessionScreen
from inspector.app.pages.trace.events import ALL, GROUPS
from inspector.config.consent import check_consent
from inspector.core.error import ConnectError
from inspector.core.tool import Tool
from tests.support.app import app_rig, goes, seen, until
from tests.support.memory_servers import MemoryServer
from tests.support.workbench import shop_and_weather
from widgets import PlainInput


def one_fails() -> dict[str, MemoryServer]:
    fault = ConnectError(
        "no-such-command is not installed", hint="Check PATH.", stderr_tail="boom: missing TOKEN"
    )
    return {**shop_and_weather(), "broken": MemoryServer([Tool("broken", "x")], fault=fault)}


async def test_an_export_is_json_lines_and_never_overwrites_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with app_rig() as (pilot, rig):
        written = tmp_path / "toolsight-s.jsonl"
        written.write_text("mine")
        await goes(pilot, "events")
        await pilot.press(*["t"] * GROUPS.index(ALL), "x")
        await until(pilot, lambda: isinstance(pilot.app.screen, ExportDialog))
        await pilot.press("enter")
        problem = pilot.app.screen.query_one("#export-problem", Static)
        await until(pilot, lambda: "exists" in str(problem.render()))
        assert written.read_text() == "mine"
        await pilot.press("enter")
        await until(pilot, lambda: not isinstance(pilot.app.screen, ExportDialog))
        lines = [json.loads(line) for line in written.read_text().splitlines()]
        assert [line["seq"] for line in lines] == [record.seq for record in rig.store.read("s")]


async def test_an_export_that_cannot_be_written_says_why() -> None:
    async with app_rig() as (pilot, _):
        await goes(pilot, "events")
        await pilot.press("x")
        await until(pilot, lambda: isinstance(pilot.app.screen, ExportDialog))
        pilot.app.screen.query_one(PlainInput).value = "/no/such/folder/file.jsonl"
        await pilot.press("enter")
        problem = pilot.app.screen.query_one("#export-problem", Static)
        await until(pilot, lambda: "cannot be written" in str(problem.render()))


async def test_help_lists_every_command() -> None:
    async with app_rig() as (pilot, _):
        await goes(pilot, "servers")
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(pilot.app.screen, HelpScreen))
        text = str(pilot.app.screen.query_one(Static).render())
        assert all(command.help in text for command in COMMANDS)


async def test_a_model_that_cannot_be_had_keeps_its_dialog_open_with_the_reason() -> None:
    async with app_rig() as (pilot, rig):

        def refuse(_: str) -> None:
            raise ConnectError("there is no such model", hint="Try demo/planner.")

        rig.bench.switch_model = refuse  # type: ignore[method-assign, assignment]
        await pilot.app.run_action("ask('model')")
        await pilot.press(*"nope", "enter")
        problem = pilot.app.screen.query_one("#choice-error", Static)
        await until(pilot, lambda: "no such model" in str(problem.render()))
        assert "Try demo/planner." in str(problem.render())


async def test_nothing_starts_before_consent_and_a_yes_is_remembered() -> None:
    async with app_rig(settled=False, approved=False) as (pilot, rig):
        await until(pilot, lambda: isinstance(pilot.app.screen, ConsentDialog))
        assert rig.store.sessions() == []
        await pilot.press("left", "enter")
        await until(pilot, lambda: rig.bench.state.ready_servers == 3)
        assert check_consent(rig.bench.configuration, rig.memory).is_approved


async def test_with_consent_given_on_the_command_line_the_app_starts_without_the_question() -> None:
    async with app_rig(approved=False, approves=True) as (pilot, rig):
        assert not isinstance(pilot.app.screen, ConsentDialog)
        assert rig.bench.state.ready_servers == 3
        assert check_consent(rig.bench.configuration, rig.memory).is_approved


@pytest.mark.parametrize("key", ["escape", "enter"])
async def test_a_no_leaves_without_starting_anything(key: str) -> None:
    async with app_rig(settled=False, approved=False) as (pilot, rig):
        await until(pilot, lambda: isinstance(pilot.app.screen, ConsentDialog))
        await pilot.press(key)
        await until(pilot, lambda: not pilot.app.is_running or pilot.app._exit)
        assert rig.store.sessions() == []
        assert not check_consent(rig.bench.configuration, rig.memory).is_approved


async def test_the_palette_runs_a_command_by_name() -> None:
    async with app_rig() as (pilot, _):
        await pilot.press("ctrl+p", *"tools: req")
        await until(pilot, lambda: "as the model gets it" in seen(pilot) and "Every event" not in seen(pilot))
        await pilot.press("enter")
        await until(pilot, lambda: bool(pilot.app.screen.query("#manifest-text")))
        assert not isinstance(pilot.app.screen, SessionScreen)
