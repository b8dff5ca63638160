"""What is known of processes, by each platform's way; `ps` of Linux stands in for that of macOS."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector.mcp.process import table as table_module
from inspector.mcp.process.table import MARKER, Process, ProcTable, PsTable, Table

WAITING = [sys.executable, "-c", "input()"]


@pytest.fixture(params=[ProcTable, PsTable])
def processes(request: pytest.FixtureRequest) -> Table:
    if request.param is ProcTable and not Path("/proc/self/stat").exists():
        pytest.skip("this platform has no /proc")
    made: Table = request.param()
    return made


@pytest.fixture
def child() -> Iterator["subprocess.Popen[bytes]"]:
    environment = {**os.environ, MARKER: "run.7"}
    with subprocess.Popen(WAITING, stdin=subprocess.PIPE, env=environment, start_new_session=True) as started:
        yield started


def listed(processes: Table, pid: int) -> Process | None:
    return next((each for each in processes.processes() if each.pid == pid), None)


def test_a_child_is_listed_with_its_parent_and_its_group(
    processes: Table, child: "subprocess.Popen[bytes]"
) -> None:
    found = listed(processes, child.pid)
    assert found is not None
    assert (found.parent, found.group, found.has_ended) == (os.getpid(), child.pid, False)


def test_a_child_is_the_one_that_was_noted(processes: Table, child: "subprocess.Popen[bytes]") -> None:
    noted, found = processes.started(child.pid), listed(processes, child.pid)
    assert found is not None
    assert processes.is_same(noted, found)


@pytest.mark.parametrize("noted", ["", "0", "12", "not a time", "99999999999999999999"])
def test_a_process_that_started_at_another_time_is_another(
    processes: Table, child: "subprocess.Popen[bytes]", noted: str
) -> None:
    found = listed(processes, child.pid)
    assert found is not None
    assert not processes.is_same(noted, found)


def test_a_process_is_known_by_its_marker(processes: Table, child: "subprocess.Popen[bytes]") -> None:
    # It has its own environment only once it runs its own program.
    while b"input" not in b" ".join(word.encode() for word in processes.command(child.pid)):
        pass
    found = listed(processes, child.pid)
    assert found is not None
    assert processes.marked([found]) == {child.pid: "run.7"}
    assert processes.command(child.pid)[-1] == "input()"


def test_a_zombie_has_ended(processes: Table, child: "subprocess.Popen[bytes]") -> None:
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    found = listed(processes, child.pid)
    assert found is None or found.has_ended


def test_a_process_that_is_gone_has_no_command(processes: Table) -> None:
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    assert processes.command(gone.pid) == []


def test_the_lines_of_macos_are_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    user = os.geteuid()
    rows = [
        f"  {user}   812     1   812 Ss   Mon Nov 23 09:08:07 2026    ",
        f"  {user} 99999   812   812 S+   Mon Nov 23 09:08:09 2026    ",
        f"  {user}   900   812   900 Z    Thu Jan  1 00:00:00 1970    ",
        f"{user + 1}     1     0     1 Ss   Sun Nov  1 08:00:00 2026    ",
    ]
    environment = [
        "  812 /opt/bin/python server.py PATH=/usr/bin TOOLSIGHT_RUN=ab.1 HOME=/Users/me",
        "  900 (sh)",
    ]
    answers = {"-A": rows, "-AEww": environment}
    monkeypatch.setattr(table_module, "_ps", lambda first, *_: answers[first])
    monkeypatch.setattr(PsTable, "_with_environment", ("-AEww",))
    found = PsTable().processes()
    assert found == [
        Process(812, 1, 812, "1795424887", False),
        Process(99999, 812, 812, "1795424889", False),
        Process(900, 812, 900, "0", True),
    ]
    assert PsTable().marked(found) == {812: "ab.1"}
