"""`ViewStrip`: names in one line, of which one is chosen by key, by click or by the page."""

from collections.abc import Sequence

from tests.widgets.screen import Host, lines
from widgets import Column, Record, RecordList, ViewStrip

VIEWS = ("about", "schema", "cost")


class StripApp(Host[ViewStrip]):
    """A strip, and what was chosen."""

    def __init__(self, views: Sequence[str] = VIEWS) -> None:
        super().__init__(ViewStrip(views))
        self.chosen: list[str] = []

    def on_view_strip_chosen(self, event: ViewStrip.Chosen) -> None:
        self.chosen.append(event.view)


async def test_stepping_goes_round() -> None:
    app = StripApp()
    async with app.run_test(size=(40, 3)) as pilot:
        for by in (-1, 1, 1):
            app.made.step(by)
        await pilot.pause()
        assert app.chosen == ["cost", "about", "schema"]
        assert app.made.current == "schema"


async def test_a_click_chooses_a_name_and_the_gap_none() -> None:
    app = StripApp()
    async with app.run_test(size=(40, 3)) as pilot:
        at = lines(app)[0].index("cost")
        await pilot.click(offset=(at - 1, 0))
        assert app.chosen == []
        await pilot.click(offset=(at + 3, 0))
        assert app.chosen == ["cost"]


async def test_where_the_names_do_not_fit_the_chosen_one_is_still_shown() -> None:
    app = StripApp([f"view-{number}" for number in range(12)])
    async with app.run_test(size=(30, 3)) as pilot:
        app.made.step(-1)
        await pilot.pause()
        assert "[view-11]" in lines(app)[0]


async def test_the_key_of_a_view_is_underlined_in_its_name_or_stands_before_it() -> None:
    app = Host(ViewStrip(VIEWS, {"a": "about", "H": "schema", "n": "cost"}))
    async with app.run_test(size=(40, 3)):
        assert lines(app)[0].strip() == "[about]  schema  n cost"
        line = app.made.render()
        marked = {line.plain[span.start : span.end] for span in line.spans if "underline" in str(span.style)}
        assert marked == {"h", "n"}


async def test_what_is_typed_behind_a_slash_filters_the_view() -> None:
    app = StripApp()
    async with app.run_test(size=(40, 9)) as pilot:
        await app.mount(below := RecordList((Column("name", ""),), (Record("a", ("abc",)),)))
        app.made.focus()
        await pilot.press("slash", "b", "c")
        assert below.filter_text == "bc"
