"""Every page and dialog, by its keys."""

import json
from pathlib import Path

import pytest
from textual.widgets import Static

from inspector.app.command import COMMANDS
from inspector.app.dialogs.approver import ConsentDialog
from inspector.app.dialogs.detail import HelpScreen
from inspector.app.dialogs.export import ExportDialog
from inspector.app.pages.trace.events import ALL, GROUPS
from inspector.config.consent import check_consent
from tests.support.app import app_rig, goes, until


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


async def test_help_lists_every_command() -> None:
    async with app_rig() as (pilot, _):
        await goes(pilot, "servers")
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(pilot.app.screen, HelpScreen))
        text = str(pilot.app.screen.query_one(Static).render())
        assert all(command.help in text for command in COMMANDS)


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
