"""Profiles: sets of values that the tree takes, over the file and under what was set by hand."""

import pytest

from inspector.config.setting import (
    DEFAULT_PROFILE,
    PROFILES,
    Profile,
    find_profile,
    profile_settings,
    value_of,
)
from inspector.core.error import ConfigError
from inspector.core.settings import BindingSettings, DiscoverySettings, Settings


@pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda profile: profile.name)
def test_a_profile_is_what_its_values_say(profile: Profile) -> None:
    settings = profile_settings(profile.name)
    assert {path: value_of(settings, path) for path in profile.values} == dict(profile.values)
    assert profile.title
    assert profile.about


def test_the_own_profile_is_the_defaults() -> None:
    assert profile_settings(DEFAULT_PROFILE) == Settings()


def test_a_profile_wins_over_the_file_and_a_value_over_the_profile() -> None:
    base = Settings(discovery=DiscoverySettings(max_search_results=9), binding=BindingSettings(capacity=3))
    settings = profile_settings("kaman", base)
    assert (settings.discovery.max_search_results, settings.binding.capacity) == (9, 8)
    assert profile_settings("kaman", base, {"binding.capacity": 4}).binding.capacity == 4


def test_no_two_profiles_bind_and_search_alike() -> None:
    assert len({repr(profile_settings(name)) for name in PROFILES}) == len(PROFILES)


def test_a_profile_that_there_is_not_is_told_with_the_nearest() -> None:
    with pytest.raises(ConfigError) as raised:
        find_profile("kamann")
    assert raised.value.hint == "Profiles: kaman."
    with pytest.raises(ConfigError) as raised:
        find_profile("zzz")
    assert "toolsight" in raised.value.hint


def test_a_wrong_value_over_a_profile_is_refused() -> None:
    with pytest.raises(ConfigError, match="at least 0"):
        profile_settings("kaman", None, {"binding.capacity": -1})
