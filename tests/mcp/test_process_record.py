"""What a run notes of the servers it starts, and what of them is found running later."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from inspector.mcp.process import record
from inspector.mcp.process.record import Run, Start, remains
from inspector.mcp.process.table import MARKER, Process, Table
from tests.support.hostile import with_hostile_text

NAMES = st.text(max_size=20)
NUMBERS = st.integers(1, 4)
LINES = st.one_of(
    st.builds(record.line, st.just("announced"), NUMBERS, st.floats(0, 2e9), NAMES.map(json.dumps)),
    st.builds(record.line, st.just("started"), NUMBERS, st.integers(2, 99999), st.integers(0, 10**9)),
    st.builds(record.line, st.sampled_from(["ended", "kept"]), NUMBERS),
)


def written(folder: Path, content: bytes) -> Run | None:
    path = folder / "ab12"
    path.write_bytes(content)
    return record.read(path)


def test_a_start_is_read_as_it_was_noted(tmp_path: Path) -> None:
    run = written(
        tmp_path,
        record.opening("here")
        + record.line("announced", 1, 5.5, '"git"')
        + record.line("announced", 2, 6.0, '"time"')
        + record.line("started", 2, 4711, "99")
        + record.line("ended", 2),
    )
    assert run == Run("ab12", "here", (Start(1, 5.5, '"git"'), Start(2, 6.0, '"time"', 4711, "99", True)))
    assert run.unknown == (Start(1, 5.5, '"git"'),)
    assert run.marker(run.starts[1]) == "ab12.2"


@given(lines=st.lists(LINES), cut=st.integers(0, 400))
def test_a_run_that_was_killed_while_it_wrote_is_read_up_to_the_last_whole_line(
    lines: list[bytes], cut: int, tmp_path_factory: object
) -> None:
    folder = Path(tmp_path_factory.getbasetemp())  # type: ignore[attr-defined]
    whole = record.opening("here") + b"".join(lines)
    torn = whole[:cut]
    assert written(folder, torn) == written(folder, torn[: torn.rfind(b"\n") + 1])


@with_hostile_text
def test_a_servers_name_stays_within_its_line(tmp_path_factory: object, text: str) -> None:
    folder = Path(tmp_path_factory.getbasetemp())  # type: ignore[attr-defined]
    run = written(folder, record.opening("here") + record.line("announced", 1, 0.0, json.dumps(text)))
    assert run is not None
    assert json.loads(run.starts[0].name) == text


def test_what_is_no_record_says_nothing_of_any_process(tmp_path: Path) -> None:
    assert written(tmp_path, b"") is None
    assert written(tmp_path, b"something else\n") is None
    run = written(
        tmp_path, record.opening("here") + b"started\t1\t4711\t9\nstarted\nannounced\tx\ty\tz\n\xff\t\n"
    )
    assert run == Run("ab12", "here")


RUN = "ab12"


class FakeTable(Table):
    """Processes that are made up, with the markers in their environments."""

    def __init__(self, *processes: Process, markers: Mapping[int, str] | None = None) -> None:
        self._processes = processes
        self._markers = markers or {}

    def processes(self) -> list[Process]:
        return list(self._processes)

    def marked(self, processes: Iterable[Process]) -> Mapping[int, str]:
        return {each.pid: self._markers[each.pid] for each in processes if each.pid in self._markers}


def process(pid: int, group: int = 0, *, parent: int = 1, started: str = "", over: bool = False) -> Process:
    return Process(pid, parent, group or pid, started or f"s{pid}", over)


def found(start: Start, table: FakeTable) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The members of the server's group, and what has left it."""
    left = remains(Run(RUN, "here", (start,)), table)
    return (left[0].members, left[0].detached) if left else ((), ())


NOTED = Start(1, 0.0, '"s"', pid=4000, started="s4000")
UNKNOWN = Start(1, 0.0, '"s"')


def test_a_server_is_found_with_its_helpers() -> None:
    assert found(NOTED, FakeTable(process(4000), process(4001, 4000), process(5000))) == ((4000, 4001), ())


def test_a_pid_that_was_used_again_is_left_alone() -> None:
    assert found(NOTED, FakeTable(process(4000, started="later"), process(4001, 4000))) == ((), ())


def test_a_group_without_its_leader_is_known_by_a_marker_only() -> None:
    orphan = process(4001, 4000)
    assert found(NOTED, FakeTable(orphan)) == ((), ())
    assert found(NOTED, FakeTable(orphan, process(4002, 4000), markers={4001: f"{RUN}.1"})) == (
        (4001, 4002),
        (),
    )


def test_a_server_whose_pid_was_never_noted_is_known_by_its_marker() -> None:
    table = FakeTable(process(4000), process(4001, 4000), process(5000), markers={4000: f"{RUN}.1"})
    assert found(UNKNOWN, table) == ((4000, 4001), ())


@pytest.mark.parametrize("marker", [f"{RUN}.2", f"{RUN}.11", "other.1", RUN, ""])
def test_the_marker_of_another_start_is_not_this_ones(marker: str) -> None:
    assert found(UNKNOWN, FakeTable(process(4000), markers={4000: marker})) == ((), ())


def test_a_helper_in_a_session_of_its_own_is_told_apart() -> None:
    table = FakeTable(process(4000), process(4001), markers={4000: f"{RUN}.1", 4001: f"{RUN}.1"})
    assert found(NOTED, table) == ((4000,), (4001,))
    assert found(NOTED._replace(has_ended=True), FakeTable(process(4001), markers={4001: f"{RUN}.1"})) == (
        (),
        (4001,),
    )


def test_toolsight_never_finds_itself_or_what_it_was_started_from() -> None:
    """A server may start a terminal, and Toolsight be started in it: then everything there has the marker."""
    shell = process(4000)
    ours = process(os.getpid(), os.getpid(), parent=4000)
    markers = {4000: f"{RUN}.1", ours.pid: f"{RUN}.1"}
    assert found(NOTED, FakeTable(shell, ours, markers=markers)) == ((), ())
    assert found(UNKNOWN, FakeTable(shell, ours, markers=markers)) == ((), ())


PIDS = st.integers(4000, 4005)
PROCESSES = st.lists(
    st.builds(Process, PIDS, st.just(1), PIDS, st.sampled_from(["old", "new"]), st.booleans()),
    unique_by=lambda each: each.pid,
)


@given(
    processes=PROCESSES,
    markers=st.dictionaries(PIDS, st.sampled_from([f"{RUN}.1", f"{RUN}.2", "other.1"])),
    pid=st.one_of(st.just(0), PIDS),
    ended=st.booleans(),
)
def test_nothing_is_found_that_neither_it_nor_its_group_shows_to_be_the_runs(
    processes: list[Process], markers: dict[int, str], pid: int, ended: bool
) -> None:
    start = Start(1, 0.0, '"s"', pid, "old" if pid else "", has_ended=ended)
    members, detached = found(start, FakeTable(*processes, markers=markers))
    marked = {each.pid for each in processes if markers.get(each.pid) == f"{RUN}.1"}
    noted = {each.pid for each in processes if each.pid == pid and each.started == "old"}
    groups = {each.group for each in processes if each.pid in marked | noted}
    assert set(detached) <= marked
    assert all(each.group in groups for each in processes if each.pid in members)
    # A pid that another process has by now names no group of the run's.
    if any(each.pid == pid and each.started == "new" for each in processes):
        assert members == ()


WAITING = [sys.executable, "-c", "input()"]


@pytest.fixture
def child() -> Iterator["subprocess.Popen[bytes]"]:
    environment = {**os.environ, MARKER: "run.7"}
    with subprocess.Popen(WAITING, stdin=subprocess.PIPE, env=environment, start_new_session=True) as started:
        yield started


def listed(pid: int) -> Process | None:
    return next((each for each in Table().processes() if each.pid == pid), None)


def test_a_child_is_listed_with_its_parent_and_its_group_as_the_one_that_was_noted(
    child: "subprocess.Popen[bytes]",
) -> None:
    noted = Table().started(child.pid)
    assert noted
    assert listed(child.pid) == Process(child.pid, os.getpid(), child.pid, noted, has_ended=False)


def test_two_children_started_at_different_moments(child: "subprocess.Popen[bytes]") -> None:
    before = Table().started(child.pid)
    # A machine tells starts apart by hundredths of a second.
    while True:
        with subprocess.Popen(["true"]) as later:
            if Table().started(later.pid) != before:
                break


def test_a_process_is_known_by_its_marker_and_its_command(child: "subprocess.Popen[bytes]") -> None:
    # It has its own environment only once it runs its own program.
    while "input()" not in Table().command(child.pid):
        pass
    found = listed(child.pid)
    assert found is not None
    assert Table().marked([found]) == {child.pid: "run.7"}


def test_a_zombie_has_ended(child: "subprocess.Popen[bytes]") -> None:
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    found = listed(child.pid)
    assert found is None or found.has_ended


def test_nothing_is_known_of_a_process_that_is_gone() -> None:
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    assert (Table().command(gone.pid), Table().started(gone.pid)) == ([], "")
