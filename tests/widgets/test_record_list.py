"""The list of the app, used with real keys."""

from typing import ClassVar

import pytest
from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.reactive import reactive

from tests.widgets.hostile import HOSTILE, LONG, dangerous
from tests.widgets.screen import lines, seen
from widgets import Column, Record, RecordList, RecordRows

COLUMNS = (Column("name", "Tool", shorten="name", weight=2), Column("tokens", "Tokens", align="right"))


def numbered(*numbers: int) -> tuple[Record, ...]:
    return tuple(Record(f"key {n}", (f"tool_{n}", f"{n:,}")) for n in numbers)


class ListApp(App[None]):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Leave")]
    records: reactive[tuple[Record, ...]] = reactive(())

    def __init__(self, *, lines: int = 1, follow: bool = False, bound: bool = False) -> None:
        super().__init__()
        self.heard: list[tuple[str, str | None]] = []
        self.made = RecordList(
            COLUMNS, empty="No tools. Press a to add a server.", header=True, lines=lines, follow=follow
        )
        self.bound = bound

    def compose(self) -> ComposeResult:
        yield self.made.data_bind(ListApp.records) if self.bound else self.made

    @on(RecordList.Selected)
    @on(RecordList.Highlighted)
    @on(RecordList.Copied)
    def _hear(self, event: RecordList.Selected | RecordList.Highlighted | RecordList.Copied) -> None:
        self.heard.append((type(event).__name__, event.key))

    def action_leave(self) -> None:
        self.heard.append(("back", None))


async def test_the_cursor_stays_on_its_record_when_rows_are_added_above() -> None:
    app = ListApp()
    async with app.run_test(size=(60, 10)) as pilot:
        app.made.records = numbered(*range(50))
        await pilot.press(*["down"] * 20)
        before = next(y for y, line in enumerate(lines(app)) if "▌tool_20" in line)
        app.made.records = numbered(*range(-7, 50))
        await pilot.pause()
        assert app.made.current is not None
        assert app.made.current.key == "key 20"
        assert "▌tool_20" in lines(app)[before]


async def test_rows_added_to_a_list_that_is_longer_than_its_room_move_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app, layouts = ListApp(follow=True), 0
    async with app.run_test(size=(60, 10)) as pilot:
        app.made.records = numbered(*range(20))
        await pilot.pause()

        def lay_out(*_: object, **__: object) -> None:
            nonlocal layouts
            layouts += 1

        monkeypatch.setattr(app.screen, "_refresh_layout", lay_out)
        app.made.records = numbered(*range(60))
        await pilot.pause()
        assert layouts == 0
        assert "▌tool_59" in lines(app)[-1]
        scroll_bar = app.made.query_one(RecordRows).vertical_scrollbar
        assert scroll_bar.window_virtual_size == 61


async def test_the_cursor_goes_to_the_neighbour_when_its_record_is_gone() -> None:
    app = ListApp()
    async with app.run_test() as pilot:
        app.made.records = numbered(1, 2, 3)
        await pilot.press("down")
        app.made.records = numbered(1, 3)
        await pilot.pause()
        assert app.heard[-1] == ("Highlighted", "key 3")
        app.made.records = ()
        await pilot.pause()
        assert app.heard[-1][0] == "Highlighted"
        assert app.heard[-1][1] is None


async def test_the_filter_keeps_rows_that_hold_every_word_in_any_case() -> None:
    app = ListApp()
    async with app.run_test() as pilot:
        app.made.records = (
            Record("a", ("Late Orders", "1")),
            Record("b", ("Orders", "2")),
            Record("c", ("x", "3")),
        )
        await pilot.press("slash", *"ORDERS la")
        assert [record.key for record in app.made.shown] == ["a"]
        assert "1 of 3" in lines(app)[-1]
        await pilot.press("enter", "enter")
        assert app.heard[-1] == ("Selected", "a")


@pytest.mark.parametrize(("word", "found"), [("late", "tool"), ("shop", "server"), ("zzz", None)])
async def test_a_filter_leads_from_a_heading_to_what_it_finds(word: str, found: str | None) -> None:
    app = ListApp()
    async with app.run_test() as pilot:
        app.made.records = (
            Record("server", ("shop", "2"), is_heading=True),
            Record("tool", ("late orders", "1")),
        )
        await pilot.press("slash", *word)
        await pilot.pause()
        assert (app.made.current and app.made.current.key) == found


async def test_a_filter_leads_to_a_row_found_by_its_name_before_one_found_by_its_description() -> None:
    app = ListApp()
    async with app.run_test() as pilot:
        app.made.records = (
            Record("notes", ("notes", "1"), search="notes keeps a memory"),
            Record("Memory", ("memory", "2"), search="memory of a session"),
        )
        await pilot.press("slash", *"memo")
        await pilot.press("enter", "enter")
        assert app.heard[-1] == ("Selected", "Memory")


async def test_esc_clears_the_filter_first_and_then_belongs_to_the_screen() -> None:
    app = ListApp()
    async with app.run_test() as pilot:
        app.made.records = numbered(1, 2)
        await pilot.press("slash", *"zzz")
        assert "Nothing matches “zzz”. esc clears the filter." in "\n".join(lines(app))
        await pilot.press("escape")
        await pilot.pause()
        assert len(app.made.shown) == 2
        assert app.focused is app.made.rows
        assert "of 2" not in lines(app)[-1]
        assert "back" not in [what for what, _ in app.heard]
        await pilot.press("escape")
        assert app.heard[-1][0] == "back"


async def test_y_copies_the_row_and_says_so() -> None:
    app = ListApp()
    async with app.run_test() as pilot:
        app.made.records = (Record("k", ("na\x1bme", "1,024")),)
        await pilot.press("y")
        assert app.clipboard == r"na\x1bme  1,024"
        assert app.heard[-1] == ("Copied", "k")


async def test_a_click_moves_and_a_second_click_opens() -> None:
    app = ListApp()
    async with app.run_test() as pilot:
        app.made.records = numbered(1, 2, 3)
        await pilot.pause()
        await pilot.click(app.made.rows, offset=(5, 2))
        assert app.heard[-1] == ("Highlighted", "key 2")
        await pilot.click(app.made.rows, offset=(5, 2))
        assert app.heard[-1] == ("Selected", "key 2")
        await pilot.click(app.made.rows, offset=(5, 0))
        await pilot.click(app.made.rows, offset=(5, 9))
        assert app.heard[-1] == ("Selected", "key 2")


async def test_a_feed_follows_its_tail_until_somebody_looks_back() -> None:
    app = ListApp(follow=True)
    async with app.run_test(size=(60, 8)) as pilot:
        app.made.records = numbered(*range(30))
        await pilot.pause()
        app.made.records = numbered(*range(40))
        await pilot.pause()
        assert "▌tool_39" in lines(app)[-1]
        await pilot.press("up")
        app.made.records = numbered(*range(50))
        await pilot.pause()
        assert app.made.current == app.made.records[38]
        await pilot.press("end")
        app.made.records = numbered(*range(51))
        await pilot.pause()
        assert "▌tool_50" in lines(app)[-1]


@pytest.mark.parametrize("width", [10, 80])
async def test_hostile_records_are_harmless_at_any_width(width: int) -> None:
    app = ListApp(lines=2)
    async with app.run_test(size=(width, 60)) as pilot:
        app.made.records = tuple(Record(text, (text, text), detail=text) for text in (*HOSTILE, LONG))
        app.made.columns = (Column(HOSTILE[0], HOSTILE[2], width=9), Column("b", HOSTILE[5]))
        app.made.filter_text = ""
        await pilot.press("slash", *"a[/]b", "enter", "y")
        await pilot.press("escape", "end")
        assert dangerous("".join(lines(app))) == []
        assert all(strip == width for strip in map(len, seen(app.made.rows).splitlines()[:3]))


async def test_two_rows_of_a_list_never_show_the_same_text() -> None:
    app = ListApp()
    ids = [f"home-automation:{name}" for name in ("get_lights", "set_lights", "lock_door", "unlock_door")]
    async with app.run_test(size=(24, 8)) as pilot:
        app.made.records = tuple(Record(name, (name, "9")) for name in ids)
        await pilot.pause()
        shown = {line.removeprefix("▌").split()[0] for line in lines(app)[1:5]}
        assert shown == {"get_lights", "set_lights", "lock_door", "unlock_door"}
        app.made.records = (*app.made.records, Record("shop:list", ("shop:list", "9")))
        await pilot.resize_terminal(34, 8)
        await pilot.pause()
        assert "home-au…:get_lights" in "\n".join(lines(app))


async def test_a_long_cell_runs_on_over_its_empty_neighbors_and_stops_at_a_full_one() -> None:
    columns = (Column("name", width=8), Column("state", width=8), Column("tokens", align="right"))
    made = RecordList(
        columns, [Record("a", ("list_all_orders", "", "1")), Record("b", ("list_all_orders", "held", "2"))]
    )

    class Shown(App[None]):
        def compose(self) -> ComposeResult:
            yield made

    async with Shown().run_test(size=(30, 6)) as pilot:
        shown = lines(pilot.app)
        assert shown[0].split() == ["▌list_all_orders", "1"]
        assert shown[1].split() == ["list_al…", "held", "2"]
