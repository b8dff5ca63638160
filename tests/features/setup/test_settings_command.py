"""`toolsight config settings`, and the options that change settings for one run."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inspector.cli.options import CONFIGURED, Options, session_command
from inspector.config.setting import knobs
from inspector.core.error import ConfigError
from tests.support.commands import Toolsight
from tests.support.weather_configuration import write_weather_configuration


@pytest.fixture
def file(tmp_path: Path) -> Path:
    content = {
        "profile": "kaman",
        "tool_discovery": {"max_search_results": 7, "embedding_model": "none"},
        "settings": {"binding": {"ttl_seconds": 60}, "guard.window_calls": 12},
        "mcpServers": {"s": {"command": "x"}},
    }
    path = tmp_path / "toolsight.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


Said = Callable[..., str]
Listed = Callable[..., dict[str, Any]]


@pytest.fixture
def said(toolsight: Toolsight) -> Said:
    def run(*arguments: str) -> str:
        done = toolsight("config", "settings", *arguments)
        assert done.exit_code == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def listed(said: Said) -> Listed:
    def run(*arguments: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(said("--json", *arguments))
        return found

    return run


def by_path(found: dict[str, Any]) -> dict[str, tuple[Any, str]]:
    return {one["path"]: (one["value"], one["origin"]) for one in found["settings"]}


def chosen(*arguments: str) -> Options:
    """The options that a command gets."""
    told: list[Options] = []
    session_command(takes=CONFIGURED)(lambda chosen: told.append(chosen)).main(
        list(arguments), standalone_mode=False
    )
    return told[0]


def test_every_setting_is_listed_with_where_its_value_comes_from(
    said: Said, listed: Listed, file: Path
) -> None:
    assert said("--config", str(file)).startswith(f"profile kaman   {file}")
    found = listed("--config", str(file), "--set", "binding.capacity=3")
    assert found["profile"] == "kaman"
    assert found["config"] == str(file)
    values = by_path(found)
    assert list(values) == [one.path for one in knobs()]
    assert values["discovery.max_search_results"] == (7, "file")
    assert values["discovery.embedding_model"] == ("none", "file")
    assert values["discovery.ranker"] == ("three-tier", "profile")
    assert values["binding.delivery"] == ("rewrite", "profile")
    assert values["binding.ttl_seconds"] == (60.0, "settings")
    assert values["guard.window_calls"] == (12, "settings")
    assert values["binding.capacity"] == (3, "--set")
    assert values["gate.top_k"] == (10, "default")


def test_values_are_typed_checked_and_the_last_one_wins() -> None:
    told = chosen(
        "--profile",
        "stack",
        "--set",
        "guard.enabled=off",
        "--set",
        "binding.always_include=mail:*,shop:list",
        "--set",
        'guard.guidance={"a": "b=c"}',
        "--set",
        "binding.capacity=1",
        "--set",
        "binding.capacity=2",
    )
    assert told.profile == "stack"
    assert told.values == {
        "guard.enabled": False,
        "binding.always_include": ("mail:*", "shop:list"),
        "guard.guidance": {"a": "b=c"},
        "binding.capacity": 2,
    }
    assert chosen() == Options()


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (("--set", "bindng.capacity=3"), "there is no setting 'bindng.capacity'", "binding.capacity"),
        (("--set", "binding.capacity"), "has no value", "--set binding.capacity=VALUE"),
        (("--set", ""), "there is no setting ''", "toolsight config settings"),
        (("--profile", "kamann"), "there is no profile 'kamann'", "kaman"),
    ],
)
def test_an_invalid_setting_is_refused_with_a_suggestion(
    arguments: tuple[str, ...], message: str, hint: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        chosen(*arguments)
    assert message in raised.value.message
    assert hint in raised.value.hint


TYPO = 'access.preconditions={"weather:get_forcast": ["milestone_reached(\'x\')"]}'


def test_a_pattern_that_matches_no_tool_fails_the_check_with_the_closest_name(
    toolsight: Toolsight, tmp_path: Path
) -> None:
    common = ("--config", str(write_weather_configuration(tmp_path)), "--approve")
    check = ("config", "settings", "--check", *common)
    done = toolsight(*check, "--set", TYPO, "--set", "guard.exempt=weather:*")
    assert done.exit_code == 3
    assert "error: access.preconditions “weather:get_forcast” matches no tool on weather." in done.stdout
    assert "Did you mean `weather:get_forecast`?" in done.stdout
    assert done.stderr == ""
    (problem,) = json.loads(toolsight(*check, "--json", "--set", TYPO).stdout)
    assert (problem["severity"], problem["entry"]) == ("error", "weather:get_forcast")
    fits = toolsight(*check, "--set", "guard.exempt=weather:*")
    assert (fits.exit_code, fits.stderr) == (0, "")
    assert fits.stdout.startswith("0 problems in the settings; 1 of 1 server connected")


def test_other_commands_say_on_stderr_what_is_wrong_with_the_settings_and_a_chat_is_refused(
    toolsight: Toolsight, tmp_path: Path
) -> None:
    common = ("--config", str(write_weather_configuration(tmp_path)), "--approve", "--json", "--set", TYPO)
    done = toolsight("tools", *common)
    assert done.exit_code == 0
    assert "weather:get_forcast" in done.stderr
    assert "weather:get_forcast" not in done.stdout
    chat = toolsight("chat", "hello", *common)
    assert chat.exit_code == 2
    kinds = [record["kind"] for record in json.loads(chat.stdout)]
    assert {"problems", "end"} <= set(kinds)
    assert "the message was not sent to the model" in chat.stderr
    assert "Did you mean `weather:get_forecast`?" in chat.stderr
