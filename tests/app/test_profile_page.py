"""The settings dialog, driven by keys."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from msgspec.structs import replace
from textual.pilot import Pilot
from textual.widgets import Static

from inspector.app.dialogs.settings import (
    OF_THE_SESSION,
    KnobDialog,
    ProfileDialog,
    SettingsDialog,
    knob_detail,
)
from inspector.config.profile import profile_settings
from inspector.config.setting import differences, knobs
from inspector.core.settings import BindingSettings, Settings
from tests.support.app import app_rig, said, seen, session_of, until
from tests.support.workbench import Rig, configured, shop_and_weather
from tests.widgets.hostile import dangerous
from tests.widgets.screen import lines
from widgets import PlainInput, RecordList

# What the detail shows at 80x24.
_NARROW, _DETAIL_LINES = 78, 7


@asynccontextmanager
async def opened(size: tuple[int, int] = (120, 32)) -> AsyncGenerator[tuple[Pilot[None], Rig], None]:
    untouched = replace(configured(shop_and_weather()), values={})
    async with app_rig(size=size, configuration=untouched) as (pilot, rig):
        await pilot.app.push_screen(SettingsDialog())
        await pilot.pause()
        yield pilot, rig


async def _to(pilot: Pilot[None], path: str) -> None:
    """Move the cursor to a knob."""
    knob_list = pilot.app.screen.query_one("#knobs", RecordList)
    knob_list.focus()
    if not knob_list.move_to(path):
        await pilot.press("a")
        assert knob_list.move_to(path)
    await until(pilot, lambda: path in said(pilot, "#profile-detail"))


def _paths(pilot: Pilot[None]) -> list[str]:
    shown = pilot.app.screen.query_one("#knobs", RecordList).shown
    return [record.key for record in shown if "." in record.key and record.key not in OF_THE_SESSION]


async def test_every_setting_is_behind_twelve() -> None:
    async with opened() as (pilot, _):
        assert 3 + len(_paths(pilot)) == 12
        await pilot.press("a")
        assert _paths(pilot) == [one.path for one in knobs()]
        assert "Changes take effect with the next model call" in seen(pilot)


async def test_enter_uses_a_profile_and_its_values_are_marked() -> None:
    async with opened() as (pilot, rig):
        await pilot.press("down", "down", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ProfileDialog))
        assert pilot.app.screen.query_one(RecordList).move_to("kaman")
        await pilot.press("enter")
        assert rig.bench.policy.profile == "kaman"
        await until(pilot, lambda: "profile kaman" in said(pilot, "#profile-facts"))
        await pilot.press("slash", *"non-default", "enter")
        await until(pilot, lambda: len(_paths(pilot)) < len(knobs()))
        assert _paths(pilot) == list(differences(profile_settings("kaman"), Settings()))
        await _to(pilot, "binding.ttl_seconds")
        assert "from the profile" in said(pilot, "#profile-detail")


async def test_a_switch_turns_at_once_and_backspace_takes_it_back() -> None:
    async with opened() as (pilot, rig):
        await _to(pilot, "guard.enabled")
        await pilot.press("enter")
        assert not isinstance(pilot.app.screen, KnobDialog)
        assert not rig.bench.settings.guard.enabled
        await until(pilot, lambda: "from the session" in said(pilot, "#profile-detail"))
        assert "1 set in this session" in said(pilot, "#profile-facts")
        await pilot.press("backspace")
        assert rig.bench.settings.guard.enabled
        assert rig.bench.policy.session_values == {}
        await pilot.press("backspace")
        assert [told.message for told in pilot.app._notifications] == [
            "Only settings changed in this session can be reset."
        ]


async def test_a_number_is_checked_while_one_types_and_applied_by_enter() -> None:
    async with opened() as (pilot, rig):
        await _to(pilot, "binding.capacity")
        await pilot.press("enter")
        assert isinstance(pilot.app.screen, KnobDialog)
        below = pilot.app.screen_stack[-2].query_one("#profile-detail", Static)
        assert str(below.visual) == "", "the dialog says it"
        await pilot.press("x")
        wrong = 'binding.capacity must be a whole number, not "x"'
        await until(pilot, lambda: said(pilot, "#knob-error") == wrong)
        await pilot.press("enter")
        assert pilot.app.screen.query_one(PlainInput).value == "x"
        assert rig.bench.settings.binding.capacity == BindingSettings().capacity
        await pilot.press("backspace", "1", "5")
        await until(pilot, lambda: said(pilot, "#knob-error") == "")
        await pilot.press("enter")
        assert isinstance(pilot.app.screen, SettingsDialog)
        assert str(below.visual).startswith("binding.capacity = 15")
        assert rig.bench.settings.binding.capacity == 15


async def test_a_copied_setting_can_be_given_to_set() -> None:
    async with opened() as (pilot, _):
        await _to(pilot, "binding.capacity")
        await pilot.press("y")
        assert pilot.app.clipboard == "binding.capacity=16"


async def test_long_and_hostile_values_are_shown_and_kept() -> None:
    hostile = "\x1b]0;x\x07[bold]a[/]\u202e\ud800\x00" * 40
    async with opened((80, 24)) as (pilot, rig):
        rig.bench.policy.set("chat.system_prompt", hostile)
        await _to(pilot, "chat.system_prompt")
        assert not any(map(dangerous, lines(pilot.app)))
        await pilot.press("enter")
        assert isinstance(pilot.app.screen, KnobDialog)
        assert not any(map(dangerous, lines(pilot.app)))
        await pilot.press("enter")
        assert isinstance(pilot.app.screen, SettingsDialog)
        assert rig.bench.settings.chat.system_prompt == hostile


def test_what_a_setting_does_is_read_whole_in_a_small_terminal() -> None:
    session = session_of(profile_settings("kaman"), profile="kaman")
    for knob in knobs():
        assert len(knob_detail(session, knob).wrap(_NARROW)) <= _DETAIL_LINES, knob.path
