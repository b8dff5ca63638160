"""`toolsight clients measure` and `diff`, with an agent of ours in the place of a client."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from inspector.clients.client import Confidence, find_client
from inspector.core.ports import SystemClock
from tests.support import tiny_agent
from tests.support.commands import Toolsight, in_process
from tests.support.mcp_case import SERVERS

WEATHER = str(SERVERS / "weather.py")
KEY = "sk-ant-my-own-secret-key-1234567890"


@pytest.fixture
def toolsight(tmp_path: Path) -> Toolsight:
    return in_process(
        {"TOOLSIGHT_DB": str(tmp_path / "x.db"), "XDG_STATE_HOME": str(tmp_path), "COLUMNS": "200"}
    )


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a program `claude`, alone on PATH; and a home of the person's."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "claude"
    shutil.copy(tiny_agent.__file__, folder / "tiny_agent.py")
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {folder}/tiny_agent.py "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return folder


def left(agent: Path) -> bool:
    """Whether the agent's process is there."""
    seen = json.loads((agent / "environment.json").read_text())
    try:
        os.kill(seen["pid"], 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
def test_a_client_is_measured_with_nothing_of_the_persons_and_leaves_nothing(
    agent: Path, tmp_path: Path, toolsight: Toolsight
) -> None:
    file, kept = tmp_path / "mine.toml", tmp_path / "run"
    done = toolsight(
        "clients", "measure", "claude-code", "--yes", "--quick", "-o", str(file), "--requests", str(kept)
    )
    assert done.exit_code == 0, done.stderr
    found = find_client(str(file))
    assert (found.title, found.listing.before) == ("Claude Code 0.1", "definitions")
    assert all(fact.confidence is Confidence.MEASURED for fact in found.facts)
    seen = json.loads((agent / "environment.json").read_text())
    assert KEY not in json.dumps(seen)
    for place in (f"{seen['HOME']}/x", seen["CLAUDE_CONFIG_DIR"], seen["PWD"]):
        assert Path(place).parent == kept
    assert not left(agent)
    assert not (tmp_path / "home").exists()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("toolsight-")] == []
    assert json.loads((kept / "requests" / "001.json").read_text())["body"]["model"] == "tiny-1"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "seconds", "said"),
    [("hang", "1", "not done after 1 second"), ("end", "60", "I have no key.")],
)
def test_a_client_that_hangs_or_gives_up_ends_the_measurement(
    agent: Path, tmp_path: Path, toolsight: Toolsight, mode: str, seconds: str, said: str
) -> None:
    (agent / "mode").write_text(mode)
    file = tmp_path / "mine.toml"
    done = toolsight("clients", "measure", "claude-code", "--yes", "--timeout", seconds, "-o", str(file))
    assert done.exit_code == 1
    assert said in done.stderr
    assert not left(agent)
    assert not file.exists()


def test_a_client_that_is_not_installed_is_an_error_with_a_hint(
    tmp_path: Path, toolsight: Toolsight, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = toolsight("clients", "measure", "codex", "--yes")
    assert done.exit_code == 2
    assert "there is no program `codex` on PATH" in done.stderr
    assert "--by-hand" in done.stderr


def test_nothing_is_started_without_a_yes(agent: Path, toolsight: Toolsight) -> None:
    done = toolsight("clients", "measure", "claude-code")
    assert done.exit_code == 2
    assert "was not started" in done.stderr
    assert not (agent / "environment.json").exists()


@pytest.mark.slow
def test_any_client_can_be_started_by_hand(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    words = ["clients", "measure", "mine", "--by-hand", "--quick", "-o", str(file)]
    waiting = subprocess.Popen(
        [sys.executable, "-m", "inspector", *words],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "200"},
    )
    assert waiting.stderr is not None
    printed = ""
    while "in a new conversation" not in printed:
        printed += waiting.stderr.readline()
    address = re.search(r"ANTHROPIC_BASE_URL=(\S+)", printed)
    assert address is not None
    configuration = tmp_path / "servers.json"
    configuration.write_text(printed[printed.index("{") : printed.rindex("}") + 1])
    program = shutil.copy(tiny_agent.__file__, tmp_path)
    agent = [sys.executable, program, "--mcp-config", str(configuration)]
    subprocess.run(agent, env={**os.environ, "ANTHROPIC_BASE_URL": address[1]}, check=True, timeout=60)
    assert waiting.wait(60) == 0
    assert find_client(str(file)).title == "mine 0.1"


# Files of clients.

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


def test_a_difference_names_rules_facts_and_what_is_stale(
    file: str, toolsight: Toolsight, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SystemClock, "now", lambda _: 1_799_000_000.0)
    printed = toolsight("clients", "diff", "codex", file).stdout
    assert re.search(r"names\.limit +\d+ +12", printed)
    assert "A name of 13 characters is refused." in printed
    assert ", stale" in printed
    data = json.loads(toolsight("clients", "diff", file, file, "--json").stdout)
    assert data["rules"] == []
