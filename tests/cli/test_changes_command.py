"""`toolsight tools --changes`: what changed since each server was connected last."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Done, Toolsight
from tests.support.mcp_case import SERVERS


@pytest.fixture
def fault(tmp_path: Path) -> Path:
    """The file that switches the server's tools between two connections."""
    return tmp_path / "fault"


@pytest.fixture
def changes(toolsight: Toolsight, tmp_path: Path, fault: Path) -> Any:
    server = {
        "command": sys.executable,
        "args": [str(SERVERS / "faulty.py")],
        "env": {"FAULT_FILE": str(fault)},
    }
    config = tmp_path / "servers.json"
    config.write_text(json.dumps({"mcpServers": {"faulty": server}}), encoding="utf-8")

    def run(*arguments: str) -> Done:
        options = ("--config", str(config), "--approve", "--db", str(tmp_path / "t.db"))
        return toolsight("tools", "--changes", *options, *arguments)

    return run


def test_a_breaking_change_since_last_time_is_told_with_its_reasons_and_lines(
    changes: Any, fault: Path
) -> None:
    assert "No changes in" in changes().stdout
    fault.write_text("breaking", encoding="utf-8")
    said = changes()
    assert said.exit_code == 0
    assert "faulty since 20" in said.stdout
    assert "~ faulty:echo: breaking" in said.stdout
    assert "parameter times is new and required" in said.stdout
    assert "+ parameters required[0]" in said.stdout
    assert "No changes in" in changes().stdout


def test_tools_that_are_new_and_gone_are_named_also_as_json(changes: Any, fault: Path) -> None:
    changes()
    fault.write_text("renamed", encoding="utf-8")
    (server,) = json.loads(changes("--json").stdout)
    assert (server["server"], server["added"], server["removed"]) == ("faulty", ["repeat"], ["echo"])
    assert server["changed"] == []
    fault.write_text("", encoding="utf-8")
    assert "+ echo" in changes().stdout
