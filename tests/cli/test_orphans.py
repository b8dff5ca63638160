"""A process that starts servers is killed: what ends them, and what can be found of them later."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from inspector.mcp import reaper
from inspector.mcp.reaper import MARKER, Reaper, marker
from tests.support.commands import Toolsight
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

    def __init__(self, folder: Path, *more: str) -> None:
        self._servers = folder
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.run_of_servers", str(folder), *more],
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
        return {int(path.name) for path in self._servers.iterdir()}

    @property
    def alive(self) -> set[int]:
        return set(filter(is_alive, self.pids))

    def kill(self) -> None:
        """As SIGKILL ends it: without a chance to do anything."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.reaper, signal.SIGKILL)
        self.kill()
        for pid in self.alive:
            os.kill(pid, signal.SIGKILL)
        assert self._process.stdout is not None
        self._process.stdout.close()


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Host]]:
    # In this process; a reaper keeps to its times.
    monkeypatch.setattr(reaper, "TERMINATED_GRACE", 0.1)
    made: list[Host] = []

    def make(*arguments: str) -> Host:
        made.append(Host(tmp_path, *arguments))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_a_killed_process_leaves_no_server_and_no_helper_though_its_reaper_was_asked_to_go(
    host: Callable[..., Host],
) -> None:
    started = host("helper")
    assert started.server in started.alive
    assert os.getsid(started.reaper) == started.reaper
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        os.kill(started.reaper, number)
    started.kill()
    until(lambda: not started.alive)
    until(lambda: not is_alive(started.reaper))


def test_a_helper_that_left_its_server_is_ended_on_request_alone(
    host: Callable[..., Host], toolsight: Toolsight
) -> None:
    def listed(*words: str) -> dict[int, str]:
        done = toolsight("doctor", "orphans", "--json", *words)
        return {one["pid"]: one["command"] for one in json.loads(done.stdout)}

    started = host("detached")
    assert started.pids.isdisjoint(listed())
    started.kill()
    until(lambda: started.server not in started.alive and not is_alive(started.reaper))
    (helper,) = started.alive
    found = listed()
    assert "clinging_server.py" in found[helper]
    assert started.server not in found
    listed("--end")
    assert not started.alive


def test_a_group_without_the_mark_of_the_run_is_not_ended() -> None:
    # As where another process has got the pid of a server that ended long ago.
    with subprocess.Popen(["sleep", "60"], start_new_session=True, env={MARKER: "another.1"}) as other:
        reaper.reap(marker(), {other.pid})
        assert is_alive(other.pid)
        other.kill()


def test_a_run_that_ends_as_it_should_leaves_no_reaper() -> None:
    watching = Reaper()
    assert watching.prepare() == {MARKER: marker()}
    watching.watch(os.getpid())
    pid = watching.pid
    watching.close()
    assert not is_alive(pid)


def test_a_reaper_that_was_killed_is_replaced_with_the_next_server() -> None:
    watching = Reaper()
    watching.prepare()
    first = watching.pid
    os.kill(first, signal.SIGKILL)
    until(lambda: not is_alive(first))
    watching.watch(1)
    watching.prepare()
    assert watching.pid != first
    watching.close()
