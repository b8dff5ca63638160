"""`toolsight config access` and --user, on a real server."""

import json
from pathlib import Path

import pytest

from inspector.access.policy_file import load_policy
from inspector.access.reach import EvalCase
from inspector.access.restriction import OpenedConfiguration
from inspector.config.configuration import Configuration
from inspector.core.settings import DiscoverySettings, GateSettings
from inspector.core.tool import Catalog, Tool
from inspector.features.bench.dataset import LiveCatalog, _read
from inspector.search.answer.evalset import append_cases
from tests.support.commands import Toolsight
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


@pytest.mark.parametrize(
    "command",
    [
        ("sessions",),
        ("sessions", "show", "--as", "events"),
        ("sessions", "show"),
        ("doctor", "orphans"),
        ("audit",),
        ("cost", "--session", "s"),
        ("bench", "label", "cases.jsonl", "--from-log"),
        ("config", "access"),
    ],
)
def test_what_shows_everything_takes_no_user(toolsight: Toolsight, command: tuple[str, ...]) -> None:
    for named in (("--user", "ada"), ("--set", "access.user=ada")):
        result = toolsight(*command, *named)
        assert result.exit_code == 2
        assert "this command shows everything, so --user does not apply" in result.stderr


def test_settings_are_listed_as_a_user_sees_them(toolsight: Toolsight, tmp_path: Path) -> None:
    policy, path = tmp_path / "policy.yaml", tmp_path / "toolsight.json"
    policy.write_text(POLICY, encoding="utf-8")
    patterns = ["weather:get_forecast", "bank:wire_money"]
    given = {
        "guard.exempt": patterns,
        "guard.guidance": dict.fromkeys(patterns, "Think first."),
        "retry.tools": patterns,
    }
    path.write_text(json.dumps({"settings": given, "mcpServers": {"s": {"command": "x"}}}), encoding="utf-8")
    config = ("config", "settings", "--config", str(path))
    for form in ((), ("--json",)):
        whole = toolsight(*config, *form)
        assert whole.stdout.count("bank:wire_money") == len(given)
        seen = toolsight(*config, *form, "--policy", str(policy), "--user", "ada")
        assert seen.stdout.count("weather:get_forecast") == len(given)
        assert "bank" not in seen.stdout + seen.stderr


def test_a_benchmark_asks_a_user_what_permitted_tools_can_serve(tmp_path: Path) -> None:
    path, policy = tmp_path / "cases.jsonl", tmp_path / "policy.yaml"
    policy.write_text(POLICY, encoding="utf-8")
    cases = [
        EvalCase("one", "will it rain", (frozenset({"weather:get_forecast", "weather:get_alerts"}),)),
        EvalCase("two", "what is dangerous", (frozenset({"weather:get_alerts"}),)),
        EvalCase("three", "sing", ()),
    ]
    append_cases(path, cases)
    tools = (Tool("weather", "get_forecast", "Forecast."),)
    live = LiveCatalog(Catalog(tools), DiscoverySettings(), GateSettings(), load_policy(policy).sight("ada"))
    dataset = _read(path, lambda: live)
    assert [case.id for case in dataset.evalset.cases] == ["one", "three"]
    assert "get_alerts" not in repr(dataset)
    lines = tmp_path / "toolsight.requests"
    lines.write_text("rain -> get_forecast\ndanger -> get_alerts\nsing -> nothing\n", encoding="utf-8")
    dataset = _read(lines, lambda: live)
    assert [case.query for case in dataset.evalset.cases] == ["rain", "sing"]
    assert "get_alerts" not in repr(dataset)


def test_who_may_see_only_some_tools_gets_no_file_of_requests(tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(POLICY, encoding="utf-8")
    whole = Configuration("c", (), requests="toolsight.requests")
    assert OpenedConfiguration(whole).seen.requests == "toolsight.requests"
    assert not OpenedConfiguration(whole, load_policy(policy).sight("ada")).seen.requests


def test_the_grant_that_decides_is_explained(toolsight: Toolsight, policy: tuple[str, ...]) -> None:
    told = toolsight("config", "access", "ada", "get_forecast", *policy).stdout
    assert "ada may see weather:get_forecast" in told
    assert "role forecasters of acme" in told
    assert "no grant covers it" in toolsight("config", "access", "ada", "get_alerts", *policy).stdout
    data = json.loads(toolsight("config", "access", "ada", "get_alerts", "--json", *policy).stdout)
    assert (data["seen"], data["grants"]) == (False, [])
    withheld = toolsight("config", "access", "bob", "get_forecast", "--expert", "alarm", *policy).stdout
    assert "the expert alarm may not see it" in withheld


def test_two_users_are_compared_and_all_are_listed(toolsight: Toolsight, policy: tuple[str, ...]) -> None:
    data = json.loads(toolsight("config", "access", "ada", "--compare", "bob", "--json", *policy).stdout)
    assert data["only"]["ada"] == []
    assert "weather:get_alerts" in data["only"]["bob"]
    rows = json.loads(toolsight("config", "access", "--json", *policy).stdout)
    assert (rows[0]["user"], rows[0]["tools"]) == ("ada", 1)
    assert "weather:get_forecast" in toolsight("config", "access", "ada", *policy).stdout


def test_a_pattern_that_matches_no_tool_fails_the_list(
    toolsight: Toolsight, policy: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "policy.yaml").write_text(POLICY.replace("get_alerts", "get_alarms"), encoding="utf-8")
    result = toolsight("config", "access", *policy)
    assert result.exit_code == 2
    assert "weather:get_alarms" in result.stderr
    assert "there is no policy" in toolsight("config", "access", *policy[:-2]).stderr
