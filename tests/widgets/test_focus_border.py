"""A border that shows where the focus is, without styling what is inside it again."""

import pytest
from textual.app import App, ComposeResult
from textual.color import Color
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
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


async def test_a_lit_border_follows_another_theme() -> None:
    app = Framed()
    async with app.run_test() as pilot:
        app.query_one("#inside").focus()
        await pilot.pause()
        before = app.lit
        app.theme = "textual-light"
        await pilot.pause()
        assert app.border == app.lit != before


async def test_a_moved_focus_styles_nothing_else_inside_again(monkeypatch: pytest.MonkeyPatch) -> None:
    app, styled = Framed(), list[DOMNode]()
    apply = Stylesheet.apply

    def counting(self: Stylesheet, node: DOMNode, **more: object) -> None:
        styled.append(node)
        apply(self, node, **more)  # type: ignore[arg-type]

    async with app.run_test() as pilot:
        await pilot.pause()
        monkeypatch.setattr(Stylesheet, "apply", counting)
        app.query_one("#inside").focus()
        await pilot.pause()
        assert app.query_one("#inside") in styled
        assert app.query_one("#quiet") not in styled
