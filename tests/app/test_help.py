"""The help screen."""

import pytest

from fixtures.hostile import HOSTILE
from inspector.app.command import COMMANDS, shown_keys
from inspector.app.dialogs.detail import HelpScreen, help_text
from inspector.app.pages.tools.catalog.screen import ToolsScreen
from tests.support.app import app_rig, goes, until


def test_help_names_the_page_every_key_and_those_of_lists() -> None:
    text = help_text(("A page.",)).plain
    assert text.startswith("A page.")
    assert all(shown_keys(command) in text for command in COMMANDS)
    assert "filter" in text


def test_a_page_without_lines_says_so() -> None:
    assert "No help for this page" in help_text(()).plain


@pytest.mark.parametrize("name", ["markup_unbalanced", "markup_action_link", "markup_open_only"])
def test_lines_are_never_markup(name: str) -> None:
    assert HOSTILE[name] in help_text((HOSTILE[name],)).plain


async def test_help_closes_to_the_page_it_explains() -> None:
    async with app_rig() as (pilot, _):
        await goes(pilot, "servers")
        for key in ("escape", "question_mark", "q"):
            await pilot.press("question_mark")
            await until(pilot, lambda: isinstance(pilot.app.screen, HelpScreen))
            await pilot.press(key)
            await until(pilot, lambda: isinstance(pilot.app.screen, ToolsScreen))
