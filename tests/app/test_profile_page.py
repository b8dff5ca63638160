"""The profile page, driven by keys, and how it looks."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace

from textual.pilot import Pilot

from inspector.app.dialogs import settings_text as content
from inspector.app.dialogs.settings import MODEL, PROFILE, TOOLSET, KnobDialog, SettingsDialog
from inspector.config.profile import PROFILES, profile_settings
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
        pilot.app.screen.query_one("#profiles RecordRows").focus()
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
    others = (MODEL, TOOLSET, PROFILE)
    return [
        record.key
        for record in shown
        if not record.key.startswith(content.HEADING) and record.key not in others
    ]


async def test_the_profile_in_use_is_marked_and_every_setting_is_behind_twelve() -> None:
    async with opened() as (pilot, _):
        profiles = pilot.app.screen.query_one("#profiles", RecordList)
        assert [record.key for record in profiles.records if record.cells[0] == "✓"] == ["toolsight"]
        assert 3 + len(_paths(pilot)) == 12
        await pilot.press("a")
        assert _paths(pilot) == [one.path for one in knobs()]
        assert "Every setting is at its default." in said(pilot, "#profile-detail")
        assert "Changes take effect with the next model call" in seen(pilot)


async def test_enter_uses_a_profile_and_its_values_are_marked() -> None:
    async with opened() as (pilot, rig):
        await pilot.press("down", "down", "down")
        assert "binding.ttl_seconds 600" in said(pilot, "#profile-detail")
        await pilot.press("enter")
        assert rig.bench.policy.profile == "kaman"
        await until(pilot, lambda: "profile kaman" in said(pilot, "#profile-facts"))
        await pilot.press("tab", "c")
        assert _paths(pilot) == list(differences(profile_settings("kaman"), Settings()))
        await _to(pilot, "binding.ttl_seconds")
        detail = said(pilot, "#profile-detail")
        assert "from the profile" in detail
        assert "0 toolsight, static, prd, attention, advisory, stack · 600 kaman" in detail


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
        await pilot.press("x")
        await until(pilot, lambda: "must be a whole number" in said(pilot, "#knob-error"))
        await pilot.press("enter")
        assert pilot.app.screen.query_one(PlainInput).value == "x"
        assert rig.bench.settings.binding.capacity == BindingSettings().capacity
        await pilot.press("backspace", "1", "5")
        await until(pilot, lambda: said(pilot, "#knob-error") == "")
        await pilot.press("enter")
        assert isinstance(pilot.app.screen, SettingsDialog)
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


def test_every_knob_says_what_it_is_in_every_profile() -> None:
    session = session_of(profile_settings("kaman"), profile="kaman")
    for knob in knobs():
        told = str(content.by_profile(session, knob))
        assert "every profile" in told or all(other in told for other in PROFILES), knob.path
        assert len(content.knob_detail(session, knob).wrap(_NARROW)) <= _DETAIL_LINES, knob.path
