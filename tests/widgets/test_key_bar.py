"""The footer never shows half a key, and always the way to help."""

from typing import ClassVar

from textual.app import App, ComposeResult
from textual.widgets import Static

from widgets import KeyBar
from widgets.key_bar import FooterKey

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

    def __init__(self) -> None:
        super().__init__()
        self.noted: list[str] = []

    def action_note(self, key: str) -> None:
        self.noted.append(key)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        return None if parameters == ("b",) else True


def shown(app: App[None]) -> list[FooterKey]:
    return [key for _, key in app.query_one(KeyBar).placed()]


async def test_every_key_shown_is_whole_and_help_is_among_them() -> None:
    app = Keys()
    async with app.run_test(size=(200, 4)) as pilot:
        for width in (12, 40, 80, 81, 89, 90, 97, 98, 99, 200):
            await pilot.resize_terminal(width, 4)
            await pilot.pause()
            assert "question_mark" in [key.key for key in shown(app)]
            line = app.query_one(KeyBar).render().plain
            assert len(line) <= width
            assert line.split() == [
                word for key in shown(app) for word in (key.display, *key.description.split())
            ]


async def test_a_key_that_is_clicked_is_pressed_and_a_disabled_one_is_not() -> None:
    app = Keys()
    async with app.run_test(size=(200, 4)) as pilot:
        await pilot.pause()
        for at, key in app.query_one(KeyBar).placed():
            await pilot.click(KeyBar, offset=(at + key.cells - 1, 0))
        assert app.noted == ["a", "c", "d", "e", "f", "g", "h", "?", "f2"]


async def test_the_keys_of_the_page_come_first_and_all_of_them_come_where_there_is_room() -> None:
    app = Keys()
    async with app.run_test(size=(200, 4)) as pilot:
        await pilot.pause()
        assert [key.key for key in shown(app)] == [*"abcdefgh", "question_mark", "f2"]
        await pilot.resize_terminal(30, 4)
        await pilot.pause()
        await pilot.pause()
        assert [key.key for key in shown(app)] == ["a", "question_mark"]
