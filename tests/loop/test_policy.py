"""Which settings are in force, in what order they win, and that a wrong one changes nothing."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, strategies as st

from inspector.config.configuration import Configuration
from inspector.config.profile import PROFILES
from inspector.config.setting import value_of
from inspector.core.error import ToolsightError
from inspector.core.settings import BindingSettings, DiscoverySettings, Settings
from inspector.loop.settings_check import Policy

FILE = Settings(
    discovery=DiscoverySettings(max_search_results=7), binding=BindingSettings(capacity=20, ttl_seconds=5.0)
)
CAPACITY = "binding.capacity"

values = st.dictionaries(
    st.sampled_from([CAPACITY, "binding.ttl_seconds", "gate.top_k"]), st.integers(1, 200), max_size=3
)


def policy(
    *, file: Mapping[str, Any] | None = None, profile: str = "kaman", session: Mapping[str, Any] | None = None
) -> Policy:
    return Policy(
        Configuration("test", (), settings=FILE, profile=profile, values=file or {}), values=session
    )


@given(st.sampled_from(list(PROFILES)), values, values)
def test_a_value_is_the_sessions_or_else_the_files_or_else_the_profiles(
    profile: str, file: dict[str, int], session: dict[str, int]
) -> None:
    settings = policy(file=file, profile=profile, session=session).settings
    layers = {**PROFILES[profile].values, **file, **session}
    for path in (CAPACITY, "binding.ttl_seconds", "gate.top_k"):
        assert value_of(settings, path) == layers.get(path, value_of(FILE, path))


@given(st.lists(st.tuples(st.sampled_from([CAPACITY, "gate.top_k"]), st.none() | st.integers(1, 200))))
def test_setting_and_resetting_is_as_if_only_the_last_of_each_had_been_done(
    steps: list[tuple[str, int | None]],
) -> None:
    chosen, last = policy(), dict(steps)
    for path, value in steps:
        if value is None:
            chosen.reset(path)
        else:
            chosen.set(path, value)
    kept = {path: value for path, value in last.items() if value is not None}
    assert chosen.session_values == kept
    assert chosen.settings == policy(session=kept).settings


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (CAPACITY, -1),
        ("binding.no_such_knob", 1),
        ("discovery.ranker", "no such ranker"),
    ],
)
def test_a_wrong_value_changes_nothing_and_is_told_to_nobody(path: str, value: Any) -> None:
    heard: list[Sequence[str]] = []
    chosen = Policy(Configuration("test", ()), values={CAPACITY: 3}, on_change=heard.append)
    before = (chosen.profile, dict(chosen.session_values), chosen.settings)
    with pytest.raises(ToolsightError):
        chosen.set(path, value)
    assert (chosen.profile, dict(chosen.session_values), chosen.settings) == before
    assert heard == []


@pytest.mark.parametrize(
    "arguments", [{"profile": "no such"}, {"values": {CAPACITY: -1}}, {"values": {"gate.ranker": "no such"}}]
)
def test_a_session_does_not_start_with_a_wrong_setting(arguments: dict[str, Any]) -> None:
    with pytest.raises(ToolsightError):
        Policy(Configuration("test", ()), **arguments)
