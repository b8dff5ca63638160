"""The six places: where one is, how one goes elsewhere, and that pages stay as they were left."""

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from textual.color import Color
from textual.css import stylesheet
from textual.css.model import RuleSet
from textual.css.parse import parse
from textual.css.stylesheet import Stylesheet
from textual.pilot import Pilot
from textual.widgets import Static

from inspector.app.app import ToolsightApp
from inspector.app.command import COMMANDS
from inspector.app.dialogs.approver import ModalApprover, QuestionDialog
from inspector.app.draw.header import header
from inspector.app.opening import Opened
from inspector.app.place import PLACES, SCREENS, Activity, Where, listed, page_info, place_of
from inspector.app.terminal import Styles
from inspector.core.feature import Parts
from inspector.core.server import ServerPhase
from inspector.core.session import ServerState, SessionState
from inspector.core.tool import Tool
from inspector.features.registry.feature import REGISTRY
from tests.features.bench.test_page import HeldEmbedder
from tests.support.app import RigApp, app_rig, goes, ready, seen, until
from tests.support.canned import library_of
from tests.support.office import office
from tests.support.picture import READ_STYLES
from tests.support.workbench import Rig, opened
from widgets import Prompt, RecordList

NAMES = [page.name for place in PLACES for page in place.pages]


def page_of(pilot: Pilot[None]) -> str:
    app = pilot.app
    assert isinstance(app, ToolsightApp)
    return app.page


def is_at(pilot: Pilot[None], page: str) -> bool:
    return page_of(pilot) == page


def test_every_page_has_a_screen_and_every_screen_a_page() -> None:
    assert {page_info(name).screen for name in NAMES} == set(SCREENS)


async def test_the_registry_is_listed_once_something_is_in_it() -> None:
    approver = ModalApprover()
    async with opened(approver=approver) as rig:
        library = library_of()

        async def start() -> Opened:
            return Opened(rig.bench, rig.memory, approver, Parts(lambda: {REGISTRY: library}), home="servers")

        app: ToolsightApp = RigApp(start)
        async with app.run_test() as pilot:
            await ready(pilot, rig)
            assert app.page == "servers"
            assert "registry" not in app.filled
            await goes(pilot, "registry")
            assert "[registry]" in seen(pilot).splitlines()[1]
            library.opened().sync("shop", (Tool("shop", "list", "Lists."),), at=1.0)
            await goes(pilot, "servers")
            await until(pilot, lambda: "registry" in app.filled)


async def test_a_page_reads_its_own_styles_when_it_is_first_opened() -> None:
    async with app_rig(at_home=True) as (pilot, _):

        def styled() -> set[str]:
            paths = (Path(path) for path, _ in pilot.app.stylesheet.source if path.endswith("page.tcss"))
            return {path.parent.name for path in paths}

        assert styled() == {"chat"}
        await goes(pilot, "servers")
        assert styled() == {"chat", "tools"}


async def test_v_shows_the_other_view_of_a_page_and_again_the_first() -> None:
    async with app_rig() as (pilot, _):
        await goes(pilot, "clients")
        for page in ("manifest", "clients"):
            await pilot.press("v")
            await until(pilot, partial(is_at, pilot, page))


async def test_a_digit_and_an_f_key_go_to_a_place_and_the_first_line_says_so() -> None:
    async with app_rig() as (pilot, _):
        for key in ("1", "f6"):
            place = PLACES[int(key[-1]) - 1]
            await goes(pilot, "events")
            await pilot.press(key)
            await until(pilot, partial(is_at, pilot, place.pages[0].name))
            assert f"[{key[-1]} {place.title}" in seen(pilot).splitlines()[0]


async def test_the_digit_of_the_place_where_one_is_goes_to_its_next_page() -> None:
    async with app_rig() as (pilot, _):
        pages = listed(PLACES[5], frozenset())
        for page in [*pages, pages[0]]:
            await pilot.press("6")
            assert page_of(pilot) == page.name
            assert f"[{page.title}]" in seen(pilot).splitlines()[1]


async def test_a_page_is_found_again_as_it_was_left() -> None:
    async with app_rig() as (pilot, _):
        await goes(pilot, "budget")
        table = pilot.app.screen.query_one("#budget-table", RecordList)
        await until(pilot, lambda: len(table.records) > 4)
        await pilot.press("down", "down")
        before = table.current
        await pilot.press("5", "6", "4")
        assert pilot.app.screen.query_one("#budget-table", RecordList) is table
        # Its row may have got its numbers meanwhile.
        assert table.current is not None
        assert before is not None
        assert table.current.key == before.key


async def test_a_click_on_the_first_two_lines_goes_there() -> None:
    async with app_rig() as (pilot, _):
        column = seen(pilot).splitlines()[0].index("5 Trace")
        await pilot.click(offset=(column + 1, 0))
        await until(pilot, lambda: page_of(pilot) == "timeline")
        column = seen(pilot).splitlines()[1].index("events")
        await pilot.click(offset=(column + 1, 1))
        await until(pilot, lambda: page_of(pilot) == "events")


async def test_a_measurement_goes_on_while_another_place_is_shown_and_can_be_stopped_there() -> None:
    embedder = HeldEmbedder()
    async with app_rig(servers=office(), embedder=embedder) as (pilot, _):
        app = pilot.app
        assert isinstance(app, ToolsightApp)
        await goes(pilot, "bench")
        await until(pilot, lambda: "requests over" in seen(pilot))
        embedder.hold()
        await pilot.press("r", "4")
        await until(pilot, lambda: "◔ rankers" in seen(pilot).splitlines()[0])
        await app.run_action("stop_measuring")
        embedder.free.set()
        await until(pilot, lambda: not app.activities)
        await until(pilot, lambda: "rankers" not in seen(pilot).splitlines()[0])


async def test_the_app_can_be_left_while_a_question_is_open() -> None:
    async with app_rig(settled=False, approved=False) as (pilot, _):
        await until(pilot, lambda: isinstance(pilot.app.screen, QuestionDialog))
        await pilot.press("ctrl+q")
        await until(pilot, lambda: pilot.app._exit)


def test_a_measurement_is_named_in_the_header_as_far_as_there_is_room() -> None:
    def told(width: int) -> str:
        race = Activity("Which orders are late and where are they?", lambda: None)
        return header(SessionState(), Where("race", (race,)), width).plain.split("\n")[0]

    assert "◔ Which orders…e are they? … ✕" in told(120)
    assert "◔ Which …they? … ✕" in told(92)
    assert "◔ … ✕" in told(80)


def test_nothing_needs_a_key_that_terminals_take() -> None:
    keys = [key for command in COMMANDS for key in command.keys.split(",")]
    taken = {"ctrl+b", "ctrl+n", "f9", "f10", "f11", "f12"}
    assert not [key for key in keys if key in taken or key.startswith("alt+")]


@pytest.mark.parametrize("width", [80, 120, 200])
@pytest.mark.parametrize("page", NAMES)
def test_the_two_lines_fit_and_say_where_one_is(width: int, page: str) -> None:
    servers = {name: ServerState(name, ServerPhase.READY) for name in map(str, range(107))}
    state = SessionState(
        servers=servers, config="/a/long/path/to/the/servers.json", model_label="openai/gpt-5"
    )
    busy = (Activity("rankers", lambda: None, 17, 50),)
    lines = header(state, Where(page, busy), width).plain.split("\n")
    assert [len(line) for line in lines] == [width - 2, width - 2]
    assert f"{place_of(page).title}" in lines[0].partition("[")[2].partition("]")[0]
    assert "107/107 up" in lines[0]
    assert "34 %" in lines[0]


@asynccontextmanager
async def starting(*, approved: bool) -> AsyncIterator[tuple[Pilot[None], RigApp, Rig, Callable[[], None]]]:
    """An app whose servers start only when the last value is called."""
    approver = ModalApprover()
    async with opened(approver=approver, approved=approved) as rig:
        may_start = asyncio.Event()

        async def start() -> Opened:
            await may_start.wait()
            return Opened(rig.bench, rig.memory, approver)

        app = RigApp(start)
        app.at_home = True
        async with app.run_test() as pilot:
            yield pilot, app, rig, may_start.set


async def test_what_is_typed_before_the_first_page_is_there_reaches_its_prompt() -> None:
    async with starting(approved=True) as (pilot, app, _, go_on):
        await pilot.press(*"late", "escape", "5")
        assert app.page == ""
        go_on()
        await until(pilot, lambda: app.page == "timeline")
        await pilot.press("1")
        assert app.screen.query_one(Prompt).value == "late"


async def test_what_is_typed_early_answers_no_question() -> None:
    async with starting(approved=False) as (pilot, app, rig, go_on):
        await pilot.press(*"yes start")
        go_on()
        await until(pilot, lambda: isinstance(app.screen, QuestionDialog))
        assert rig.store.sessions() == []
        assert app.screen_stack[0].query_one(Prompt).value == "yes start"


async def test_what_was_opened_above_a_page_is_gone_once_it_is_closed() -> None:
    async with app_rig() as (pilot, _):
        app = pilot.app
        for key in ("ctrl+o", "question_mark"):
            await pilot.press(key)
            await until(pilot, lambda: len(app.screen_stack) == 2)
            assert seen(pilot)
            kept: list[Callable[[], object]] = [weakref.ref(app.screen)]
            kept += [weakref.ref(one._styles_cache) for one in app.screen.query(Static)]

            def is_gone(refs: Sequence[Callable[[], object]] = kept) -> bool:
                gc.collect()
                return not any(ref() is not None for ref in refs)

            await pilot.press("escape")
            await until(pilot, is_gone)


def test_a_style_sheet_is_read_once_for_a_theme(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def reading(scope: str, css: str, *given: Any, **named: Any) -> Iterable[RuleSet]:
        read.append(css)
        return parse(scope, css, *given, **named)

    monkeypatch.setattr(stylesheet, "parse", reading)
    monkeypatch.setattr(Stylesheet, "_parse_rules", READ_STYLES)
    styles = Styles({"shade": "red"})
    styles.add_source("Static { color: $shade; }", ("static", ""))
    styles.parse()
    for shade, reads in (("blue", 2), ("red", 2), ("blue", 2)):
        styles.set_variables({"shade": shade})
        styles.reparse()
        assert len(read) == reads
        assert styles.rules[0].styles.color == Color.parse(shade)
    styles.add_source("Button { color: $shade; }", ("button", ""))
    styles.reparse()
    assert read[2:] == ["Button { color: $shade; }"]
