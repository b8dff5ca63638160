"""A process that starts servers is killed: what ends them, and what the next start finds."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from inspector.core.leftover import Leftover
from inspector.mcp.process import reaper, record
from inspector.mcp.process.registry import ProcessLeftovers, ProcessRegistry, records_folder
from tests.support.mcp_case import PATIENCE, ROOT, is_alive

pytestmark = pytest.mark.slow
_NAP = 0.02


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it never came to that"
        # Nobody tells when a process that is no child has ended.
        time.sleep(_NAP)


class Host:
    """A process that started a clinging server, with that server and the reaper."""

    def __init__(self, folder: Path, when: str = "noted", *more: str) -> None:
        self.database = folder / "t.db"
        self.servers = folder / "servers"
        self.servers.mkdir()
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "tests.support.run_of_servers",
                str(self.database),
                str(self.servers),
                when,
                *more,
            ],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        assert self._process.stdout is not None
        self.reaper, self.server = map(int, self._process.stdout.readline().split())
        # Until it says so it does not cling yet.
        until(lambda: len(self.pids) == 1 + bool(more))

    @property
    def pids(self) -> set[int]:
        """Every process of the server."""
        return {int(path.name) for path in self.servers.iterdir()}

    @property
    def alive(self) -> set[int]:
        return set(filter(is_alive, self.pids))

    @property
    def leftovers(self) -> ProcessLeftovers:
        return ProcessLeftovers(records_folder(self.database))

    @property
    def records(self) -> list[Path]:
        return list(records_folder(self.database).iterdir())

    def kill(self) -> None:
        """As SIGKILL ends it: without a chance to do anything."""
        self._process.kill()
        self._process.wait()

    def kill_with_reaper(self) -> None:
        """As when a whole container or login session is killed."""
        os.kill(self.reaper, signal.SIGKILL)
        self.kill()
        until(lambda: not is_alive(self.reaper))

    def close(self) -> None:
        if self._process.poll() is None:
            self.kill_with_reaper()
        for pid in self.alive:
            os.kill(pid, signal.SIGKILL)
        assert self._process.stdout is not None
        self._process.stdout.close()


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process; a reaper keeps to its times."""
    monkeypatch.setattr(record, "TERMINATED_GRACE", 0.1)
    monkeypatch.setattr(reaper, "_BY_ITSELF", 0.1)


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Callable[..., Host]]:
    made: list[Host] = []

    def make(*arguments: str) -> Host:
        made.append(Host(tmp_path, *arguments))
        return made[-1]

    yield make
    for each in made:
        with suppress(ProcessLookupError):
            each.close()


def test_a_killed_process_leaves_no_server_and_no_helper_though_its_reaper_was_asked_to_go(
    host: Callable[..., Host],
) -> None:
    started = host("noted", "helper")
    assert started.server in started.alive
    assert os.getsid(started.reaper) == started.reaper
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        os.kill(started.reaper, number)
    started.kill()
    until(lambda: not started.alive)
    until(lambda: not is_alive(started.reaper))
    assert started.records == []


def test_a_server_whose_pid_could_not_be_noted_is_reaped_too(host: Callable[..., Host]) -> None:
    started = host("unknown", "helper")
    started.kill_with_reaper()
    (path,) = started.records
    assert reaper.reap(path) == []
    assert not started.alive


def test_a_run_that_is_alive_looks_after_its_own_servers(host: Callable[..., Host]) -> None:
    assert host().leftovers.find() == ()


def test_what_outlives_the_reaper_too_is_told_at_the_next_start_and_ended_then(
    host: Callable[..., Host],
) -> None:
    started = host("noted", "helper")
    started.kill_with_reaper()
    (left,) = started.leftovers.find()
    assert (left.server, left.detached, set(left.pids)) == ("clinging", False, started.pids)
    assert "clinging_server.py" in left.command
    assert started.leftovers.end([left]) == ()
    assert not started.alive
    assert started.leftovers.find() == ()
    assert started.records == []


def test_a_helper_that_left_its_server_is_not_ended_without_a_yes(host: Callable[..., Host]) -> None:
    started = host("noted", "detached")
    started.kill_with_reaper()
    (path,) = started.records
    assert [each.detached for each in reaper.reap(path)] == [tuple(started.pids - {started.server})]
    (left,) = started.leftovers.find()
    assert left.detached
    assert set(left.pids) == started.alive == started.pids - {started.server}
    assert started.leftovers.end([left]) == ()
    assert not started.alive


def test_what_is_kept_goes_on_and_is_told_no_more(host: Callable[..., Host]) -> None:
    started = host("noted", "detached")
    started.kill_with_reaper()
    store = started.leftovers
    assert store.end([Leftover("unknown.1", "", "", 0.0, (started.server,))]) == ()
    store.keep(store.find())
    assert store.find() == ()
    assert started.alive == started.pids


def test_a_record_of_another_machine_names_no_process_of_this_one(
    host: Callable[..., Host], monkeypatch: pytest.MonkeyPatch
) -> None:
    started = host()
    started.kill_with_reaper()
    monkeypatch.setattr("inspector.mcp.process.registry.place", lambda: "elsewhere")
    assert started.leftovers.find() == ()
    assert len(started.records) == 1


def test_a_run_that_ends_as_it_should_leaves_no_record_and_no_reaper(tmp_path: Path) -> None:
    registry = ProcessRegistry(tmp_path)
    server = subprocess.Popen(["true"], start_new_session=True)
    registration = registry.register("short")
    registration.started(server.pid)
    server.wait()
    registration.ended()
    waiting = registry.reaper
    assert waiting is not None
    registry.close()
    assert not waiting.is_alive
    assert list(tmp_path.iterdir()) == []


def test_a_reaper_that_was_killed_is_replaced_with_the_next_server(tmp_path: Path) -> None:
    registry = ProcessRegistry(tmp_path)
    registry.register("one").ended()
    first = registry.reaper
    assert first is not None
    os.kill(first.pid, signal.SIGKILL)
    until(lambda: not first.is_alive)
    registry.register("two").ended()
    assert registry.reaper is not first
    registry.close()


def test_servers_start_without_a_record_where_none_can_be_written(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    registry = ProcessRegistry(blocked / "folder")
    registration = registry.register("any")
    registration.started(1)
    registration.ended()
    assert registration.variables == {}
    registry.close()
