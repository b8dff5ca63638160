"""The help screen."""

from inspector.app.command import COMMANDS, shown_keys
from inspector.app.dialogs.detail import HelpScreen, help_text
from inspector.app.pages.tools.catalog import ToolsScreen
from tests.support.app import app_rig, goes, until


def test_help_names_the_page_every_key_and_those_of_lists() -> None:
    text = help_text(("A page.",)).plain
    assert text.startswith("A page.")
    assert all(shown_keys(command) in text for command in COMMANDS)
    assert "filter" in text


async def test_help_closes_to_the_page_it_explains() -> None:
    async with app_rig() as (pilot, _):
        await goes(pilot, "servers")
        for key in ("escape", "question_mark", "q"):
            await pilot.press("question_mark")
            await until(pilot, lambda: isinstance(pilot.app.screen, HelpScreen))
            await pilot.press(key)
            await until(pilot, lambda: isinstance(pilot.app.screen, ToolsScreen))
