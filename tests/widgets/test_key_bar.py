"""The footer never shows half a key, and always the way to help."""

from typing import ClassVar

import pytest
from textual.app import App, ComposeResult
from textual.widgets import Static
from textual.widgets._footer import FooterKey

from widgets import KeyBar

OWN = tuple((letter, f"note('{letter}')", f"choice {letter}") for letter in "abcdefgh")


class Box(Static, can_focus=True):
    """Something to focus, with or without a key of its own."""

    def __init__(self, key: str = "") -> None:
        super().__init__()
        if key:
            self._bindings.bind(key, "app.note('x')", f"choice {key}")


class Keys(App[None]):
    BINDINGS: ClassVar = [*OWN, ("question_mark", "note('?')", "help"), ("f2", "note('f2')", "servers")]

    def compose(self) -> ComposeResult:
        yield Box()
        yield Box()
        yield Box("x")
        yield KeyBar()

    def action_note(self, _key: str) -> None:
        """Nothing to do."""


def shown(app: App[None]) -> list[FooterKey]:
    return list(app.query(FooterKey))


@pytest.mark.parametrize("width", [12, 40, 80, 81, 89, 90, 97, 98, 99, 200])
async def test_every_key_shown_is_whole_and_help_is_among_them(width: int) -> None:
    app = Keys()
    async with app.run_test(size=(width, 4)) as pilot:
        await pilot.pause()
        keys = shown(app)
        assert "question_mark" in [key.key for key in keys]
        assert all(key.region.right <= width for key in keys)
        assert all(key.region.width >= len(f"{key.key_display} {key.description}") for key in keys)


async def test_the_keys_of_the_page_come_first_and_all_of_them_come_where_there_is_room() -> None:
    app = Keys()
    async with app.run_test(size=(200, 4)) as pilot:
        await pilot.pause()
        assert [key.key for key in shown(app)] == [*"abcdefgh", "question_mark", "f2"]
        await pilot.resize_terminal(30, 4)
        await pilot.pause()
        await pilot.pause()
        assert [key.key for key in shown(app)] == ["a", "question_mark"]


async def test_the_keys_are_made_anew_only_where_the_focus_brings_others() -> None:
    app = Keys()
    async with app.run_test(size=(200, 20)) as pilot:
        await pilot.pause()
        before = shown(app)
        await pilot.press("tab")
        assert shown(app) == before
        await pilot.press("tab")
        assert [key.key for key in shown(app)] == ["x", *"abcdefgh", "question_mark", "f2"]
