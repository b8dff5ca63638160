"""Keys of every page: help, palette, key maps, export, consent."""

import re
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from textual.command import Hit
from textual.content import Content
from textual.pilot import Pilot
from textual.widgets import Static

from fixtures.hostile import HOSTILE
from inspector.app.app import ToolsightApp
from inspector.app.command import COMMANDS, CommandSource, bound_keys, checked, shown_keys
from inspector.app.dialogs.approver import ModalApprover, QuestionDialog
from inspector.app.dialogs.detail import HelpScreen, help_text
from inspector.app.dialogs.export import ExportDialog
from inspector.app.opening import Opened
from inspector.config.consent import check_consent
from inspector.core.tool import Tool
from inspector.features.tools.page import ToolsScreen
from inspector.features.trace.events_page import ALL, GROUPS
from tests.support.app import RigApp, app_rig, goes, ready, toasts, until
from tests.support.examples import examples
from tests.support.memory_servers import MemoryServer
from tests.support.workbench import opened
from tests.widgets.hostile import dangerous


async def test_an_export_has_what_is_shown_and_never_overwrites_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with app_rig() as (pilot, rig):
        written = tmp_path / "events.html"
        written.write_text("mine")
        await goes(pilot, "events")
        await pilot.press(*["t"] * GROUPS.index(ALL), "x")
        await until(pilot, lambda: isinstance(pilot.app.screen, ExportDialog))
        await pilot.press("enter")
        problem = pilot.app.screen.query_one("#path-note", Static)
        await until(pilot, lambda: "exists" in str(problem.render()))
        assert written.read_text() == "mine"
        await pilot.press("enter")
        await until(pilot, lambda: not isinstance(pilot.app.screen, ExportDialog))
        numbers = re.findall(r'data-of="#">(\d+)<', written.read_text())
        assert [*map(int, numbers)] == [record.seq for record in rig.store.read("s")]


async def test_a_no_leaves_without_starting_anything() -> None:
    async with app_rig(settled=False, approved=False) as (pilot, rig):
        await until(pilot, lambda: isinstance(pilot.app.screen, QuestionDialog))
        await pilot.press("enter")
        await until(pilot, lambda: not pilot.app.is_running or pilot.app._exit)
        assert rig.store.sessions() == []
        assert not check_consent(rig.bench.configuration, rig.memory).is_approved


def test_help_names_the_page_every_key_and_those_of_lists() -> None:
    text = help_text(("A page. Its lines", "wrap.", "So do others.")).plain
    assert text.startswith("A page. Its lines wrap.\nSo do others.")
    assert all(shown_keys(command) in text and command.help in text for command in COMMANDS)
    assert "filter" in text


async def test_help_closes_to_the_page_it_explains() -> None:
    async with app_rig() as (pilot, _):
        await goes(pilot, "servers")
        for key in ("escape", "question_mark", "q"):
            await pilot.press("question_mark")
            await until(pilot, lambda: isinstance(pilot.app.screen, HelpScreen))
            await pilot.press(key)
            await until(pilot, lambda: isinstance(pilot.app.screen, ToolsScreen))


IDS = [bound.id for bound in bound_keys(ToolsightApp)]


@pytest.mark.parametrize(
    ("letter", "meaning"),
    [
        ("s", "score"),
        ("t", "group"),
        ("d", "defer/bind"),
        ("p", "pick .*"),
        ("x", "export"),
        ("r", "race|run|again|call again|reload|reconnect|measure"),
    ],
)
def test_a_letter_means_the_same_on_every_page(letter: str, meaning: str) -> None:
    titles = {bound.title for bound in bound_keys(ToolsightApp) if letter in bound.keys.split(",")}
    assert titles
    assert [title for title in titles if not re.fullmatch(meaning, title)] == []


def test_an_id_that_nothing_has_is_named_with_the_closest_ones() -> None:
    keymap, problems = checked({"place.fnd": "f"}, ToolsightApp)
    assert keymap == {}
    assert "place.find" in problems[0]


@examples(share=0.5)
@given(st.dictionaries(st.one_of(st.sampled_from(IDS), st.text()), st.one_of(st.text(), st.integers())))
def test_whatever_stands_in_the_file_is_used_or_told(wanted: dict[str, object]) -> None:
    keymap, problems = checked(wanted, ToolsightApp)
    assert set(keymap) <= set(IDS) & set(wanted)
    assert len(wanted) - len(keymap) <= len(problems)
    assert not dangerous("".join(problems))


async def test_an_own_key_goes_to_its_place_and_a_mistake_is_told() -> None:
    approver = ModalApprover()
    async with opened(approver=approver) as rig:

        async def start() -> Opened:
            return Opened(rig.bench, rig.memory, approver)

        app: ToolsightApp = RigApp(start, lambda: {"place.trace": "z", "nonsense": "x"})
        async with app.run_test() as pilot:
            await ready(pilot, rig)
            await until(pilot, lambda: bool(app._notifications))
            assert "Unknown action 'nonsense'" in next(iter(app._notifications)).message
            await pilot.press("5")
            assert app.page == "session"
            await pilot.press("z")
            await until(pilot, lambda: app.page == "timeline")


async def _found(pilot: Pilot[None], query: str) -> list[Hit]:
    return [hit async for hit in CommandSource(pilot.app.screen).search(query) if isinstance(hit, Hit)]


async def test_tools_servers_and_settings_are_found_by_name() -> None:
    async with app_rig() as (pilot, _):
        wanted = {
            "tool shop:refund_order": "refund_order",
            "server weather": "weather",
            "setting binding.capacity": "capacity",
        }
        for title, query in wanted.items():
            assert title in [str(hit.prompt) for hit in await _found(pilot, query)]


async def test_names_of_servers_and_tools_are_never_markup() -> None:
    tools = {tool.id: tool for tool in (Tool("shop", text[:100], "x") for text in HOSTILE.values())}
    async with app_rig(servers={"shop": MemoryServer([*tools.values()])}) as (pilot, _):
        hits = await _found(pilot, "tool")
        assert not dangerous("".join(str(hit.prompt) for hit in hits))
        assert all(Content.from_markup(hit.prompt) is hit.prompt for hit in hits)  # type: ignore[arg-type]


async def test_a_key_that_does_nothing_now_says_why() -> None:
    async with app_rig() as (pilot, rig):
        await goes(pilot, "servers")
        await pilot.press("c", "i")
        assert "Put the cursor on a tool first." in toasts(pilot)
        assert "Only a server with an address is signed in to." in toasts(pilot)
        await pilot.press("down", "S")
        assert "Put the cursor on a server first." in toasts(pilot)
        assert rig.bench.state.ready_servers == 3
