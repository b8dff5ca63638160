"""The demo's servers as forks of one process: to whoever started them, processes of their own."""

import subprocess
import sys
from pathlib import Path

import pytest

from inspector.features.lab.open_lab import forked_server

INITIALIZE = (
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",'
    b'"capabilities":{},"clientInfo":{"name":"test","version":"1"}}}\n'
)
SERVERS = Path(__file__).parents[3] / "fixtures" / "servers"


def run(arguments: tuple[str, ...], **environment: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, input=INITIALIZE, capture_output=True, env=environment, check=False)


@pytest.mark.slow
def test_a_fork_says_what_a_server_with_its_own_interpreter_says(tmp_path: Path) -> None:
    server = str(SERVERS / "notes.py")
    alone = run((server,), TOOLSIGHT_STATE=str(tmp_path / "alone"))
    forked = run(forked_server(server), TOOLSIGHT_STATE=str(tmp_path / "forked"))
    assert (forked.returncode, forked.stdout) == (alone.returncode, alone.stdout)
    assert b"notes" in forked.stdout
    assert (tmp_path / "forked" / "notes.sqlite3").exists()


@pytest.mark.slow
def test_a_fork_that_fails_says_why_and_leaves_the_others_alone(tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("raise ValueError('no luck')\n", encoding="utf-8")
    failed = run(forked_server(str(broken)))
    assert failed.returncode == 1
    assert b"ValueError: no luck" in failed.stderr
    assert run(forked_server(str(SERVERS / "calc.py"))).returncode == 0
