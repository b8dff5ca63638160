"""A tap between a client and its server: every byte passes unchanged, and a copy of it is recorded.

This process becomes the server's command, so that its exit code, its signals and its stderr need no help.
What the client and the server write passes through a second process, which hands copies to a third one that
records them. That one may be slow, fail or be killed: copies then wait, up to MOST_WAITING, and after that
they are dropped and counted. Imports the standard library alone, as a client waits for the start.
"""

import os
import select
import signal
import struct
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Condition, Thread
from typing import NoReturn

TO_SERVER, TO_CLIENT = 0, 1
MOST_WAITING = 16_000_000
"""Bytes that may wait for the process that records them."""
_PIECE, _READ = 65_536, 1_000_000
_HEADER = struct.Struct("<BdQI")
_GONE = select.POLLERR | select.POLLHUP
# Seconds that the last copies get to reach the process that records them.
_LAST = 10.0
_NOT_FOUND, _NOT_EXECUTABLE = 127, 126


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes as they crossed the tap, in the direction `side`; before them, `lost` bytes were not copied.

    `at` is when the other side had them, in seconds since 1970, UTC.
    """

    side: int
    at: float
    lost: int
    data: bytes


Recording = Callable[[Iterator[Sequence[Piece]]], None]
"""Records the pieces, as many at a time as there are, until both sides have ended."""


def run(command: Sequence[str], record: Recording) -> NoReturn:
    """Become the server's command, with a tap on its input and output.

    `record` runs in a process of its own. Exits as a shell does if the command cannot be started.
    """
    server_in, to_server = os.pipe()
    from_server, server_out = os.pipe()
    _in_background(lambda: _pump(to_server, from_server, record))
    os.close(to_server)
    os.close(from_server)
    os.dup2(server_in, 0)
    os.dup2(server_out, 1)
    # Python ignores these two, and a program that takes its place would go on ignoring them.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(command[0], list(command))
    except OSError as error:
        told = f"error: {command[0]} cannot be started: {error.strerror}\n"
        os.write(2, told.encode("utf-8", "backslashreplace"))
        os._exit(_NOT_FOUND if isinstance(error, FileNotFoundError) else _NOT_EXECUTABLE)


def _in_background(work: Callable[[], None]) -> None:
    """Do the work in a process that is nobody's child, and that no signal to this group reaches."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        os.setsid()
        if not os.fork():
            work()
    finally:
        # Whatever happened, this process is not the one that called.
        os._exit(0)


def _pump(to_server: int, from_server: int, record: Recording) -> None:
    """Pass on what both sides write until they have ended."""
    ours, theirs = os.pipe()
    _in_background(lambda: _recorder(ours, record))
    _keep_only(to_server, from_server, theirs)
    _silence(2)
    copies = Copies(theirs)
    sender = Thread(target=copies.send, daemon=True)
    sender.start()
    ends = ((0, to_server, TO_SERVER), (from_server, 1, TO_CLIENT))
    threads = [Thread(target=_pass_on, args=(*end, copies)) for end in ends]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    copies.end()
    sender.join(_LAST)


def _recorder(source: int, record: Recording) -> None:
    _keep_only(source)
    _silence(0, 1, 2)
    record(pieces(source))


def _keep_only(*numbers: int) -> None:
    """Close all else but standard input and output.

    An end of a pipe that stayed open here would keep the other side from noticing that it has ended.
    """
    first = 3
    for number in (*sorted(numbers), os.sysconf("SC_OPEN_MAX")):
        os.closerange(first, number)
        first = number + 1


def _silence(*numbers: int) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in numbers:
        os.dup2(nothing, number)
    os.close(nothing)


def _pass_on(source: int, target: int, side: int, copies: "Copies") -> None:
    """Pass on everything until one end is gone; the other one then learns it as it would without a tap."""
    watch = select.poll()
    watch.register(source, select.POLLIN)
    watch.register(target, 0)
    with suppress(OSError):
        while True:
            ready = dict(watch.poll())
            if ready.get(target, 0) & _GONE:
                break
            try:
                data = os.read(source, _PIECE)
            except BlockingIOError:
                continue
            if not data:
                break
            _write(target, data)
            copies.add(side, time.time(), data)
    os.close(source)
    os.close(target)


def _write(target: int, data: bytes) -> None:
    """Write all of it. Raises OSError if nobody reads any more."""
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(target, rest) :]
        except BlockingIOError:
            select.select((), (target,), ())


class Copies:
    """The copies on their way to the process that records them: so many bytes, the rest is counted."""

    def __init__(self, pipe: int, most: int = MOST_WAITING) -> None:
        self._pipe, self._most = pipe, most
        self._waiting: deque[tuple[int, float, int, bytes]] = deque()
        self._size = 0
        self._lost = [0, 0]
        self._changed = Condition()
        self._is_ended = self._is_dead = False

    def add(self, side: int, at: float, data: bytes) -> None:
        """Add what was passed on, or count it as lost. Never waits for whoever records."""
        with self._changed:
            if self._is_dead or self._size + len(data) > self._most:
                self._lost[side] += len(data)
                return
            self._waiting.append((side, at, self._lost[side], data))
            self._lost[side] = 0
            self._size += len(data)
            self._changed.notify()

    @property
    def is_waiting(self) -> bool:
        return bool(self._waiting)

    def end(self) -> None:
        """Nothing more comes; what was lost last is told, too."""
        with self._changed:
            self._waiting.extend(
                (side, time.time(), lost, b"") for side, lost in enumerate(self._lost) if lost
            )
            self._is_ended = True
            self._changed.notify()

    def send(self) -> None:
        """Send the copies until there are no more, or nobody records them."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self.is_waiting or self._is_ended)
                if not self._waiting:
                    break
                side, at, lost, data = self._waiting.popleft()
            try:
                _write(self._pipe, _HEADER.pack(side, at, lost, len(data)) + data)
            except OSError:
                with self._changed:
                    self._is_dead = True
                    self._waiting.clear()
                break
            with self._changed:
                self._size -= len(data)
        os.close(self._pipe)


def pieces(source: int) -> Iterator[Sequence[Piece]]:
    """The pieces that were sent through a pipe until it ends: each time all that have come."""
    rest = b""
    while read := os.read(source, _READ):
        rest += read
        found, begin = [], 0
        while len(rest) >= begin + _HEADER.size:
            side, at, lost, size = _HEADER.unpack_from(rest, begin)
            data = rest[begin + _HEADER.size : begin + _HEADER.size + size]
            if len(data) < size:
                break
            found.append(Piece(side, at, lost, data))
            begin += _HEADER.size + size
        rest = rest[begin:]
        if found:
            yield found
