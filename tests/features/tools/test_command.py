"""Headless twins on two of the demo servers."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from inspector.cli import composition
from inspector.core.error import ModelError
from tests.support.commands import Done, Toolsight
from tests.support.fakes import ToldModel
from tests.support.mcp_case import SERVERS, SUPPORT


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("config")

    def server(name: str, **more: Any) -> dict[str, Any]:
        environment = {"TOOLSIGHT_STATE": str(folder), "API_TOKEN": "s3cret-value-1234"}
        return {"command": sys.executable, "args": [str(SERVERS / f"{name}.py")], "env": environment, **more}

    path = folder / "toolsight.json"
    path.write_text(
        json.dumps(
            {
                "tool_discovery": {"enabled": True, "max_search_results": 3},
                "settings": {"discovery.auto": "always"},
                "mcpServers": {
                    "weather": server("weather", defer_loading=True),
                    "calc": server("calc"),
                    "gone": {"command": "no-such-command-anywhere"},
                },
                "tool_sets": {"sums": {"description": "Sums only", "servers": {"calc": True}}},
            }
        )
    )
    return path


@pytest.fixture(scope="module")
def run(toolsight: Toolsight, config: Path) -> Toolsight:
    def approved(*arguments: str, **environment: str | None) -> Done:
        return toolsight(*arguments, "--config", str(config), "--approve", **environment)

    return approved


@pytest.mark.slow
def test_what_a_server_sent_amiss_and_lists_beside_tools_is_told_with_it(
    toolsight: Toolsight, tmp_path: Path
) -> None:
    raw = {"command": sys.executable, "args": [str(SUPPORT / "mcp_raw_server.py")]}
    files = {"command": sys.executable, "args": [str(SERVERS / "files.py")]}
    faulty = {"command": sys.executable, "args": [str(SERVERS / "faulty.py")]}
    servers = {"surrogate": {**raw, "env": {"RAW": "surrogate"}}}
    servers["pages"] = {**faulty, "env": {"FAULT": "repeat_cursor"}}
    servers["files"] = {**files, "env": {"TOOLSIGHT_STATE": str(tmp_path)}}
    path = tmp_path / "raw.json"
    path.write_text(json.dumps({"mcpServers": servers}))
    text = toolsight("servers", "--config", str(path), "--approve").stdout
    for told in (
        "it sent  repaired lone surrogate",
        "skipped  page 3: page 2 lists nothing new",
        "also lists  1 resource, 1 template, 1 prompt",
    ):
        assert told in text


def test_each_server_is_pinged_and_one_that_does_not_answer_says_why(run: Toolsight) -> None:
    answers = {one["server"]: one for one in json.loads(run("servers", "--ping", "--json").stdout)}
    assert answers["calc"]["answer"].startswith("calc answered ping in ")
    assert answers["calc"]["milliseconds"] > 0
    assert answers["gone"]["answer"] == "gone is not connected"
    assert answers["gone"]["milliseconds"] is None


def test_the_wire_of_one_server_has_its_messages_whole_and_without_secrets(run: Toolsight) -> None:
    printed = run("servers", "--wire", "calc", "--json").stdout
    (log,) = json.loads(printed)
    assert (log["server"], log["dropped"]) == ("calc", 0)
    first = log["frames"][0]
    assert (first["sent"], json.loads(first["text"])["method"]) == (True, "initialize")
    assert "s3cret-value-1234" not in printed


def test_a_tool_outside_the_toolset_is_never_found_listed_or_called(run: Toolsight) -> None:
    tools = [tool["id"] for tool in json.loads(run("tools", "--toolset", "sums", "--json").stdout)]
    assert tools
    assert all(tool.startswith("calc:") for tool in tools)
    report = json.loads(run("search", "forecast", "--toolset", "sums", "--json").stdout)
    assert all(hit["score"]["tool_id"].startswith("calc:") for hit in report["hits"])


def test_a_model_that_fails_is_one_line_that_says_where_the_rest_is(
    run: Toolsight, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = ModelError("openai is overloaded (503)", hint="Wait.", raw="HTTP 503\n\nbusy")
    monkeypatch.setattr(composition, "chosen_model", lambda *_: ToldModel(error))
    done = run("chat", "hello")
    assert done.exit_code == 1
    assert "error: openai is overloaded (503)\n" in done.stderr
    assert "HTTP 503" not in done.stdout + done.stderr
    session, command = done.stderr.partition("toolsight sessions show ")[2].split("`")[0].split(" ", 1)
    (stored,) = json.loads(run("sessions", "show", "--as", "events", session, *command.split()).stdout)
    assert stored["event"]["raw"] == "HTTP 503\n\nbusy"


def test_a_claim_that_its_tool_contradicts_is_told(toolsight: Toolsight, tmp_path: Path) -> None:
    file = tmp_path / "crm.json"
    names = ("delete_contact", "get_contact")
    tools = [{"name": name, "annotations": {"readOnlyHint": True}} for name in names]
    file.write_text(json.dumps({"tools": tools}))
    said = "its server says it is read-only, but its name says “delete”"
    text = toolsight("tools", "--trust", "crm", "--", str(file)).stdout
    assert [line for line in text.splitlines() if "⚠" in line] == [f"⚠ crm:delete_contact: {said}"]
    told = json.loads(toolsight("tools", "--json", "--trust", "crm", "--", str(file)).stdout)
    assert [(tool["contradiction"], tool["asked"]) for tool in told] == [(said, said), ("", "")]
    assert told[0]["annotations"]["read_only"] is True
    told = json.loads(toolsight("tools", "--json", "--", str(file)).stdout)
    assert told[1]["asked"] == "only its server says it is read-only"
