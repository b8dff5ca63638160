"""Settings that make each other void are told, and no shipped profile has any."""

from typing import Any

import pytest

from inspector.config.configuration import Configuration
from inspector.config.profile import PROFILES, profile_settings
from inspector.config.setting import with_values
from inspector.core.error import Severity
from inspector.core.ranking import IndexPhase, IndexState
from inspector.core.server import ServerSpec
from inspector.core.settings import Settings
from inspector.loop.settings_check import setting_conflicts
from inspector.loop.unmatched_pattern import Checked
from tests.support.fakes import says
from tests.support.workbench import connected

DEFERRED = Configuration("test", (ServerSpec("shop", "x", defer_loading=True),))
NEW, FAILED = IndexState(), IndexState(IndexPhase.FAILED, reason="no such model")


def told(settings: Settings, index: IndexState = NEW) -> list[tuple[str, str]]:
    checked = Checked(DEFERRED, settings, "", {}, index=index)
    found = list(setting_conflicts(checked))
    assert all(problem.severity is Severity.WARNING and problem.hint for problem in found)
    return [(problem.path, problem.entry) for problem in found]


@pytest.mark.parametrize("name", PROFILES)
def test_no_shipped_profile_has_a_conflict(name: str) -> None:
    assert told(profile_settings(name)) == []


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"binding.policy": "gate"}, ("guard.enabled", "")),
        ({"discovery.search_tool": False}, ("discovery.search_tool", "")),
        ({"guard.window_calls": 4, "guard.window_repeats": 4}, ("guard.window_repeats", "4")),
        ({"discovery.ranker": "dense", "discovery.embedding_model": "none"}, ("discovery.ranker", "dense")),
        (
            {"binding.policy": "gate", "guard.enabled": False, "binding.delivery": "native"},
            ("binding.delivery", "native"),
        ),
        ({"binding.delivery": "native"}, ("binding.delivery", "native")),
        (
            {"discovery.enabled": False, "guard.guidance": {"shop:*": "Use search_tools."}},
            ("guard.guidance", "shop:*"),
        ),
    ],
)
def test_settings_that_void_each_other_are_told(values: dict[str, Any], expected: tuple[str, str]) -> None:
    assert told(with_values(Settings(), values)) == [expected]


async def test_a_conflict_is_told_as_soon_as_a_setting_makes_one() -> None:
    async with connected(says("hi")) as rig:
        told: list[list[str]] = []
        for path, value in (("binding.policy", "gate"), ("guard.enabled", False)):
            rig.bench.change_setting(path, value)
            told.append([problem.path for problem in rig.bench.state.problems])
        assert told == [["guard.enabled"], []]


@pytest.mark.parametrize(
    "values",
    [
        {"binding.policy": "gate", "guard.enabled": False},
        {"binding.policy": "gate", "guard.enabled": False, "binding.delivery": "call_tool"},
        {"discovery.search_tool": False, "binding.policy": "all"},
        {"guard.enabled": False, "guard.window_calls": 4, "guard.window_repeats": 4},
        {"discovery.embedding_model": "none"},
        {"guard.guidance": {"shop:*": "Use search_tools."}},
    ],
)
def test_settings_that_get_on_with_each_other_are_not(values: dict[str, Any]) -> None:
    assert told(with_values(Settings(), values)) == []
