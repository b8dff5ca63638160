"""A border that shows where the focus is, without styling what is inside it again."""

from textual.app import App, ComposeResult
from textual.color import Color
from textual.widgets import Button, Static

from widgets import FocusFrame


class Framed(App[None]):
    CSS = "#frame { border: round green; height: 10; }"

    def compose(self) -> ComposeResult:
        yield Button("outside", id="outside")
        with FocusFrame(id="frame"):
            yield Button("inside", id="inside")
            yield Static("quiet", id="quiet")

    @property
    def border(self) -> Color:
        return self.query_one("#frame").styles.border_top[1]

    @property
    def lit(self) -> Color:
        return Color.parse(self.theme_variables["primary"])


async def test_the_border_is_lit_while_the_focus_is_within() -> None:
    app = Framed()
    async with app.run_test() as pilot:
        for inside, color in (("#inside", app.lit), ("#outside", Color.parse("green")), ("#inside", app.lit)):
            app.query_one(inside).focus()
            await pilot.pause()
            assert app.border == color
