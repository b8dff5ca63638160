"""A client's file in a client's place, and what differs between it and the known one."""

import re
import sys
from pathlib import Path

import pytest

from tests.support.commands import Toolsight, in_process
from tests.support.mcp_case import SERVERS

WEATHER = str(SERVERS / "weather.py")
FILE = """
title = "Mine 2"
about = "a client"
names = { form = "{tool}", limit = 12 }
texts = {}
schemas = {}
listing = {}
search = { none = "not measured" }
[every_fact]
confidence = "measured"
version = "2"
date = "2027-01-02"
dated = "measured"
[[facts]]
topic = "names"
says = "A name of 13 characters is refused."
request = "request 1: tools[3]"
"""


@pytest.fixture
def toolsight(tmp_path: Path) -> Toolsight:
    return in_process(
        {"TOOLSIGHT_DB": str(tmp_path / "x.db"), "XDG_STATE_HOME": str(tmp_path), "COLUMNS": "200"}
    )


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "mine.toml"
    path.write_text(FILE)
    return str(path)


def test_a_clients_file_is_taken_wherever_a_clients_name_is(file: str, toolsight: Toolsight) -> None:
    assert "measured; 2; 2027-01-02; request 1: tools[3]" in toolsight("clients", file).stdout
    tools = toolsight("tools", "--client", file, "--", sys.executable, WEATHER)
    assert tools.exit_code == 0
    searched = toolsight("search", "rain", "--client", file, "--", sys.executable, WEATHER)
    assert searched.exit_code == 2
    assert "cannot search as Mine 2: not measured" in searched.stderr


def test_clients_side_by_side_name_each_rule_that_differs(file: str, toolsight: Toolsight) -> None:
    printed = toolsight("clients", "codex", file).stdout
    assert re.search(r"names\.limit +\d+ +12", printed)
    assert "names.form" in printed
    assert "toolsight clients A B" in toolsight("clients", "diff", "codex", file).stderr
