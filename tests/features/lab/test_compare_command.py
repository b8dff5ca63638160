"""`toolsight scenario compare`: one scenario under several profiles, side by side."""

import json
from collections.abc import Callable

import pytest

from inspector.config.profile import PROFILES
from tests.support.commands import Toolsight
from tests.support.lab import FORECAST, MemoryLabs

_TWO = ("--profile", "prd", "--profile", "static")


def test_every_profile_has_a_row_and_static_is_played_first(
    toolsight: Toolsight, labs: MemoryLabs, file: Callable[[str], str]
) -> None:
    printed = toolsight("scenario", "compare", file(FORECAST), "--all-profiles")
    assert printed.exit_code == 0, printed.stderr
    assert {profile for profile, _ in labs.opened} == set(PROFILES)
    assert labs.opened[0][0] == "static"
    rows = [line.split()[0] for line in printed.stdout.splitlines() if line.endswith("answered")]
    assert sorted(rows) == sorted(PROFILES)


@pytest.mark.usefixtures("labs")
def test_the_notes_say_where_the_script_does_not_fit_a_profile(
    toolsight: Toolsight, file: Callable[[str], str]
) -> None:
    printed = toolsight("scenario", "compare", file(FORECAST), *_TWO, "--script")
    assert "static: 1 scripted search was rejected; the script expects a search tool." in printed.stdout
    assert "prd: " not in printed.stdout


@pytest.mark.usefixtures("labs")
def test_json_has_the_totals_and_the_tokens_of_each_call(
    toolsight: Toolsight, file: Callable[[str], str]
) -> None:
    told = json.loads(toolsight("scenario", "compare", file(FORECAST), *_TWO, "--script", "--json").stdout)
    assert [row["profile"] for row in told["profiles"]] == ["static", "prd"]
    assert told["static"] == "measured"
    assert told["profiles"][0]["saved"] == 0
    for place, row in enumerate(told["profiles"]):
        assert sum(one["tool_tokens"][place] or 0 for one in told["calls"]) == row["tool_tokens"]


@pytest.mark.usefixtures("labs")
def test_a_narrow_terminal_gets_more_tables_and_every_number(
    toolsight: Toolsight, file: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector.features.lab.compare_command.terminal_width", lambda: 60)
    printed = toolsight("scenario", "compare", file(FORECAST), "--all-profiles")
    table = printed.stdout.partition("Savings are relative to")[0]
    assert all(len(line) <= 60 for line in table.splitlines())
    assert table.count("\nadvisory") > 1
    assert "outcome" in table


def test_ctrl_c_prints_the_profiles_that_were_played(
    toolsight: Toolsight, labs: MemoryLabs, file: Callable[[str], str]
) -> None:
    labs.interrupted = 3
    stopped = toolsight("scenario", "compare", file(FORECAST), "--all-profiles", "--json")
    assert stopped.exit_code == 130
    assert "2 of 7 profiles played" in stopped.stderr
    assert len(json.loads(stopped.stdout)["profiles"]) == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("loop",),
        ("loop", "--profile", "prd", "--profile", "prd"),
        ("loop", "--profile", "prd", "--profile", "no-such-profile"),
        ("loop", *_TWO, "--script", "--model", "demo/planner"),
        ("no-such-scenario", *_TWO),
    ],
)
def test_a_mistake_exits_with_two_and_plays_nothing(
    toolsight: Toolsight, labs: MemoryLabs, arguments: tuple[str, ...]
) -> None:
    failed = toolsight("scenario", "compare", *arguments)
    assert failed.exit_code == 2, failed.stderr
    assert not labs.opened
