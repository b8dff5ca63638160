"""`toolsight access` and --user, on a real server."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Toolsight
from tests.support.weather_configuration import write_weather_configuration

POLICY = """
organisations:
  acme:
    roles: {forecasters: ["weather:get_forecast"]}
    users: {ada: {roles: [forecasters]}, bob: {tools: ["weather:get_*"]}}
experts: {alarm: ["weather:get_alerts"]}
"""


@pytest.fixture
def configured(tmp_path: Path) -> tuple[str, ...]:
    return ("--config", str(write_weather_configuration(tmp_path)), "--approve")


@pytest.fixture
def policy(tmp_path: Path, configured: tuple[str, ...]) -> tuple[str, ...]:
    path = tmp_path / "policy.yaml"
    path.write_text(POLICY, encoding="utf-8")
    return (*configured, "--policy", str(path))


def test_a_user_lists_the_own_tools_alone(toolsight: Toolsight, policy: tuple[str, ...]) -> None:
    result = toolsight("tools", "--json", *policy, "--user", "ada")
    assert [tool["id"] for tool in json.loads(result.stdout)] == ["weather:get_forecast"]
    through = toolsight("tools", "--json", *policy, "--user", "bob", "--expert", "alarm")
    assert [tool["id"] for tool in json.loads(through.stdout)] == ["weather:get_alerts"]


def test_a_policy_without_a_user_shows_nothing_and_says_why(
    toolsight: Toolsight, policy: tuple[str, ...]
) -> None:
    result = toolsight("tools", "--json", *policy)
    assert json.loads(result.stdout) == []
    assert "--user" in result.stderr


def test_the_grant_that_decides_is_explained(toolsight: Toolsight, policy: tuple[str, ...]) -> None:
    told = toolsight("access", "explain", "ada", "get_forecast", *policy).stdout
    assert "ada may see weather:get_forecast" in told
    assert "role forecasters of acme" in told
    assert "no grant covers it" in toolsight("access", "explain", "ada", "get_alerts", *policy).stdout
    data = json.loads(toolsight("access", "explain", "ada", "get_alerts", "--json", *policy).stdout)
    assert (data["seen"], data["grants"]) == (False, [])
    withheld = toolsight("access", "explain", "bob", "get_forecast", "--expert", "alarm", *policy).stdout
    assert "the expert alarm may not see it" in withheld


def test_two_users_are_compared_and_all_are_listed(toolsight: Toolsight, policy: tuple[str, ...]) -> None:
    data = json.loads(toolsight("access", "diff", "ada", "bob", "--json", *policy).stdout)
    assert data["only"]["ada"] == []
    assert "weather:get_alerts" in data["only"]["bob"]
    rows = json.loads(toolsight("access", "list", "--json", *policy).stdout)
    assert (rows[0]["user"], rows[0]["tools"]) == ("ada", 1)
    assert "weather:get_forecast" in toolsight("access", "show", "ada", *policy).stdout


def test_a_pattern_that_matches_no_tool_fails_the_list(
    toolsight: Toolsight, policy: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "policy.yaml").write_text(POLICY.replace("get_alerts", "get_alarms"), encoding="utf-8")
    result = toolsight("access", "list", *policy)
    assert result.exit_code == 1
    assert "weather:get_alarms" in result.stderr
    assert "there is no policy" in toolsight("access", "list", *policy[:-2]).stderr
