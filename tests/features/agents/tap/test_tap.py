"""A tap passes every byte, and is noticed by neither side: not at the end, nor when one of them is killed."""

import json
import os
import random
import resource
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from inspector.features.agents.tap.pump import (
    TO_CLIENT,
    TO_SERVER,
    Copies,
    pass_on,
)
from inspector.features.agents.tap.recorder import pieces
from inspector.store.store import SqliteStore

# Sends back what it gets with every byte inverted.
INVERTING = (
    "import os\nwhile data := os.read(0, 50_000):\n"
    "    rest = data.translate(bytes(range(255, -1, -1)))\n"
    "    while rest: rest = rest[os.write(1, rest):]\n"
)
DEADLINE = 30


class Client:
    """A client of a tapped server."""

    def __init__(
        self, database: Path, *command: str, stderr: int | None = None, largest_file: int = -1
    ) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "inspector", "tap", "--name", "shop", "--", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            bufsize=0,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, -1)),
            env={**os.environ, "TOOLSIGHT_DB": str(database)},
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin, self.stdout = self.process.stdin, self.process.stdout

    def write(self, data: bytes, sizes: Iterator[int]) -> None:
        """Write in pieces of these sizes, and close."""
        at = 0
        while at < len(data):
            at += os.write(self.stdin.fileno(), data[at : at + next(sizes)])
        self.stdin.close()

    def read(self, most: int = 100_000) -> bytes:
        """What has come; empty at the end. Fails after DEADLINE seconds without either."""
        assert select.select([self.stdout], [], [], DEADLINE)[0], "nothing came"
        return os.read(self.stdout.fileno(), most)


@pytest.fixture(autouse=True)
def _own_notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tap that cannot record leaves a note: not among a person's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def no_database(tmp_path: Path) -> Path:
    """A path at which there can be no database: to the traffic it must make no difference."""
    (tmp_path / "file").touch()
    return tmp_path / "file" / "toolsight.db"


def frames(number: int) -> bytes:
    """Messages of many lengths, as bytes that are no text in places."""
    chosen = random.Random(39)
    return b"".join(
        b'{"jsonrpc":"2.0","id":%d,"method":"x","params":"%s"}\n'
        % (at, chosen.randbytes(chosen.choice((0, 3, 200, 5_000))))
        for at in range(number)
    )


def sizes() -> Iterator[int]:
    chosen = random.Random(3)
    while True:
        yield chosen.choice((1, 2, 7, 900, 65_536, 70_001))


def test_ten_thousand_frames_pass_byte_by_byte_both_ways_also_on_a_full_disk(tmp_path: Path) -> None:
    """No file may grow beyond 200 kB there: the database is made, and fails soon after."""
    client = Client(tmp_path / "toolsight.db", sys.executable, "-c", INVERTING, largest_file=200_000)
    sent, got = frames(10_000), bytearray()
    writer = threading.Thread(target=client.write, args=(sent, sizes()))
    writer.start()
    while data := client.read(1_237):
        got += data
    writer.join()
    assert got.translate(bytes(range(255, -1, -1))) == sent
    assert client.process.wait(DEADLINE) == 0


def test_a_client_gets_the_exit_code_and_what_the_server_writes_to_stderr(no_database: Path) -> None:
    program = "import sys; sys.stderr.write('why'); sys.exit(7)"
    client = Client(no_database, sys.executable, "-c", program, stderr=subprocess.PIPE)
    assert client.process.communicate(timeout=DEADLINE) == (b"", b"why")
    assert client.process.returncode == 7


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_signal_to_the_tap_reaches_the_server_which_ends_by_it(
    no_database: Path, number: signal.Signals
) -> None:
    client = Client(no_database, "sh", "-c", "echo up; exec cat")
    assert client.read() == b"up\n"
    client.process.send_signal(number)
    assert client.read() == b""
    assert client.process.wait(DEADLINE) == -number


def test_a_server_whose_client_is_killed_reads_the_end_of_its_input(
    no_database: Path, tmp_path: Path
) -> None:
    """What is killed starts the tap, as a client does, and nothing closes its pipes in order."""
    os.mkfifo(ended := tmp_path / "ended")
    server = f"cat > {ended}"
    starts = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen(sys.argv[1:], stdin=-1, stdout=-1)\n"
        "child.stdin.write(b'last words'); child.stdin.flush()\nprint(flush=True); time.sleep(600)\n"
    )
    command = [sys.executable, "-m", "inspector", "tap", "--", "sh", "-c", server]
    environment = {**os.environ, "TOOLSIGHT_DB": str(no_database)}
    client = subprocess.Popen(
        [sys.executable, "-c", starts, *command], stdout=subprocess.PIPE, env=environment
    )
    assert client.stdout is not None
    client.stdout.readline()
    client.kill()
    client.wait(DEADLINE)
    # This returns once the server has opened it, and ends with the server.
    assert ended.read_bytes() == b"last words"


def test_a_server_that_writes_to_a_client_that_is_gone_learns_it(no_database: Path) -> None:
    client = Client(no_database, "sh", "-c", "echo up; exec yes")
    assert client.read(3) == b"up\n"
    client.stdout.close()
    assert client.process.wait(DEADLINE) == -signal.SIGPIPE


def test_a_command_that_is_not_there_ends_as_in_a_shell(no_database: Path) -> None:
    client = Client(no_database, "no-such-program-39", stderr=subprocess.PIPE)
    _, said = client.process.communicate(timeout=DEADLINE)
    assert client.process.returncode == 127
    assert b"no-such-program-39 cannot be started" in said


def test_a_copy_is_there_before_the_other_side_can_answer() -> None:
    client, to_tap = os.pipe()
    server, to_server = os.pipe()
    os.set_blocking(server, False)

    class Watching(Copies):
        def add(self, kind: int, at: float, data: bytes, session: int = 0) -> bool:
            with pytest.raises(BlockingIOError):
                os.read(server, 1)
            return super().add(kind, at, data, session)

    os.write(to_tap, b"ask")
    os.close(to_tap)
    pass_on(client, to_server, TO_SERVER, copies := Watching(0))
    assert copies.is_waiting
    assert os.read(server, 9) == b"ask"
    os.close(server)


def test_copies_beyond_the_bound_are_dropped_and_counted_and_nobody_waits() -> None:
    ours, theirs = os.pipe()
    copies = Copies(theirs, most=10)
    for side, data in ((TO_SERVER, b"12345"), (TO_CLIENT, b"abcde"), (TO_SERVER, b"6"), (TO_CLIENT, b"fg")):
        copies.add(side, 1.0, data)
    copies.end()
    copies.send()
    found = [piece for batch in pieces(ours) for piece in batch]
    os.close(ours)
    assert [(one.side, one.lost, one.data) for one in found] == [
        (TO_SERVER, 0, b"12345"),
        (TO_CLIENT, 0, b"abcde"),
        (TO_SERVER, 1, b""),
        (TO_CLIENT, 2, b""),
    ]


def test_copies_for_a_recorder_that_is_gone_are_dropped() -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    copies = Copies(theirs)
    copies.add(TO_SERVER, 1.0, b"x")
    copies.send()
    copies.add(TO_SERVER, 1.0, b"y")
    assert not copies.is_waiting


def test_a_tapped_session_is_stored_while_it_runs_without_the_servers_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "u7-plain-Zk39-words"
    monkeypatch.setenv("SHOP_TOKEN", secret)
    path = tmp_path / "toolsight.db"
    client = Client(path, "cat")
    asked = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"said": secret}}
    message = json.dumps(asked).encode() + b"\n"
    os.write(client.stdin.fileno(), message)
    assert client.read() == message
    with SqliteStore(path) as store:
        until(lambda: path.exists() and [one.events for one in store.sessions()] == [4])
        (session,) = store.sessions()
        assert store.is_written(session.id)
        client.stdin.close()
        assert client.process.wait(DEADLINE) == 0
        until(lambda: not store.is_written(session.id))
        events = store.read(session.id)
        assert events[-1].kind == "stopped"
        assert secret not in repr(events)


def until(condition: Callable[[], bool]) -> None:
    """Wait for another process; fails after DEADLINE seconds."""
    ends = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < ends
        select.select([], [], [], 0.02)


def test_nothing_of_the_program_is_imported_before_the_server_starts() -> None:
    code = (
        "import os, sys\nos.execvp = lambda *_: (print(*sys.modules, flush=True), os._exit(0))\n"
        "os.fork = lambda: 1\nos.waitpid = lambda *_: None\nos.dup2 = lambda *_: None\n"
        "from inspector.cli import main\nmain(['tap', '--', 'cat'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = [name for name in done.stdout.split() if name.partition(".")[0] in ("inspector", "click")]
    above = ["inspector.features", "inspector.features.agents", "inspector.features.agents.tap"]
    assert loaded == ["inspector", "inspector.cli", *above, "inspector.features.agents.tap.tap"]
    assert not {"dataclasses", "inspect", "typing", "json"}.intersection(done.stdout.split())


def test_copies_that_were_sent_make_room_for_others() -> None:
    """The bound is for what waits, not for all that ever passed."""
    ours, theirs = os.pipe()
    left = [b"%08d" % number for number in range(5)]

    class Adding(Copies):
        """Gets the next piece when the one before has been sent."""

        @property
        def is_waiting(self) -> bool:
            if not (super().is_waiting or self._is_ended):
                is_added = bool(left) and self.add(TO_SERVER, 1.0, left.pop(0))
                if not is_added:
                    self.end()
            return super().is_waiting

    Adding(theirs, most=10).send()
    found = [piece for batch in pieces(ours) for piece in batch]
    os.close(ours)
    assert [(one.lost, one.data) for one in found] == [(0, b"%08d" % number) for number in range(5)]
