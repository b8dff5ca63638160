"""An agent of ours that is installed in the place of a client, and what it leaves."""

import json
import shutil
import sys
import tempfile
from pathlib import Path

import psutil
import pytest

from inspector.cli.location import fixtures_path
from inspector.features.clients.measured import measurement, program as measured_program
from inspector.features.clients.measured.marks import SERVER
from inspector.features.lab.open_lab import forked_server
from tests.support import tiny_agent
from tests.support.commands import Toolsight, in_process

KEY = "sk-ant-my-own-secret-key-1234567890"


@pytest.fixture
def toolsight(tmp_path: Path) -> Toolsight:
    return in_process(
        {"TOOLSIGHT_DB": str(tmp_path / "x.db"), "XDG_STATE_HOME": str(tmp_path), "COLUMNS": "200"}
    )


def commands(fixtures: Path) -> dict[str, tuple[str, ...]]:
    """Those that start the marked servers; the one that imports the SDK is forked: a second less."""
    own = dict(measured_program.server_commands(fixtures))
    python, script = own[SERVER]
    return {**own, SERVER: (python, *forked_server(script))}


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a program `claude`, alone on PATH; and a home of the person's."""
    folder = tmp_path / "bin"
    folder.mkdir()
    # The folder of what forks is no test's.
    commands(fixtures_path())
    monkeypatch.setattr(measurement, "server_commands", commands)
    program = folder / "claude"
    shutil.copy(tiny_agent.__file__, folder / "tiny_agent.py")
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {folder}/tiny_agent.py "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return folder


def is_there(pid: int) -> bool:
    """Whether a process runs; one that has ended may wait for its parent to look."""
    return psutil.pid_exists(pid) and bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)


def leaves_nothing(agent: Path, tmp_path: Path, folders: str = "toolsight-*") -> bool:
    """Whether no process of the agent's is there, and no file but those of its program."""
    pids = [json.loads((agent / "environment.json").read_text())["pid"]]
    pids += [int((agent / "pids").read_text())] if (agent / "pids").exists() else []
    files = [*tmp_path.glob(folders), tmp_path / "home", *tmp_path.rglob("litter")]
    return not any(map(is_there, pids)) and not any(path.exists() for path in files)
