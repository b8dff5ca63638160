"""Commands on a server that is typed after `--`, and options before a command's name."""

import json
import sys
from pathlib import Path

import pytest

from tests.support import light_server
from tests.support.commands import Toolsight

LIGHT = ("--", sys.executable, light_server.__file__)
WORDS_ALONE = ("--set", "discovery.embedding_model=none")


@pytest.mark.slow
def test_a_typed_server_is_started_without_a_question(toolsight: Toolsight) -> None:
    listed = toolsight("tools", *LIGHT)
    assert listed.exit_code == 0, listed.stderr
    assert "light_server:get_forecast" in listed.stdout
    found = toolsight("search", "forecast for a city", *WORDS_ALONE, *LIGHT)
    assert "light_server:get_forecast" in found.stdout
    audited = json.loads(toolsight("audit", "--json", *LIGHT).stdout)
    assert audited["configurations"][0]["servers"][0]["tools"]


def test_a_file_behind_a_command_whose_words_may_be_left_out_is_the_server(toolsight: Toolsight) -> None:
    listed = toolsight("tools", light_server.__file__)
    assert listed.exit_code == 0, listed.stderr
    assert "light_server:get_forecast" in listed.stdout
    called = toolsight("call", "get_forecast", "city=Oslo", "--yes", light_server.__file__)
    assert called.exit_code == 0, called.stderr


def test_a_stored_listing_can_be_searched_but_not_called(toolsight: Toolsight, tmp_path: Path) -> None:
    file = tmp_path / "crm.json"
    file.write_text(json.dumps({"tools": [{"name": "late_orders", "description": "Orders that are late."}]}))
    found = toolsight("search", "late orders", *WORDS_ALONE, "--", str(file))
    assert found.exit_code == 0, found.stderr
    assert "crm:late_orders" in found.stdout
    servers = toolsight("servers", "--", str(file))
    assert "stored" in servers.stdout


def test_what_is_no_tool_in_a_stored_listing_is_told(toolsight: Toolsight, tmp_path: Path) -> None:
    file, tools = tmp_path / "crm.json", [{"name": "orders", "tags": ["a", "b"]}, None, {"name": "late"}]
    for listing in (tools, {"result": {"tools": tools}}, {"crm": {"tools": tools}, "authors": ["ada"]}):
        file.write_text(json.dumps(listing))
        (server,) = json.loads(toolsight("servers", "--json", "--", str(file)).stdout)
        assert [(one["number"], one["reason"]) for one in server["skipped"]] == [
            (2, "it is null, not an object")
        ]
        assert server["tools"] == 2


def test_an_option_that_a_command_does_not_have_is_refused_before_its_name_too(toolsight: Toolsight) -> None:
    done = toolsight("--yes", "clients")
    assert done.exit_code == 2
    assert "--yes" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("serach",), "Did you mean `search`?"),
        (("mcp-server-time",), "toolsight -- mcp-server-time"),
        (("tools", "--"), "no server after --"),
        (("tools", "--config", "x.json", "--", "sh"), "use only one of"),
        (("search", "--demo", "--config", "x.json", "late"), " search [OPTIONS] [QUERY]"),
        (("tools", "--", "no-such-command"), "is not a command, file or address"),
    ],
)
def test_what_cannot_be_understood_says_what_to_type(
    toolsight: Toolsight, words: tuple[str, ...], said: str
) -> None:
    done = toolsight(*words)
    assert done.exit_code in (1, 2)
    assert said in done.stderr


def test_a_server_that_lacks_a_value_is_listed_with_it_and_the_others_start(
    toolsight: Toolsight, tmp_path: Path
) -> None:
    listing = tmp_path / "config.json"
    servers = {
        "crm": {"command": "crm", "env": {"KEY": "${MY_TOKEN}"}},
        "weather": {"command": sys.executable, "args": [str(Path("fixtures/servers/weather.py").absolute())]},
    }
    listing.write_text(json.dumps({"mcpServers": servers}))
    done = toolsight("servers", "--config", str(listing), "--approve")
    assert "needs MY_TOKEN" in done.stdout
    assert "Set MY_TOKEN" in done.stdout + done.stderr
    assert "ready" in done.stdout
