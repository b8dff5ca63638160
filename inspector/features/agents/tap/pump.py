"""Passes on what a client and its server write, and sends copies to the process that records them.

That one may be slow, fail or be killed: copies then wait, up to MOST_WAITING, and after that they are dropped
and counted.
"""

import os
import select
import struct
import time
from collections import deque
from threading import Condition, Thread

TO_SERVER, TO_CLIENT, SECRET, BEGUN, END = range(5)
"""What a piece is: bytes on their way, a value never to store; whose session begins, as JSON, where a tap has
several servers; the end."""
MOST_WAITING = 16_000_000
"""Bytes that may wait for the process that records them."""
_PIECE = 65_536
HEADER = struct.Struct("<BIdQI")
"""Before each piece: its kind, its session, when it was read, the bytes lost before it, its size."""
# A clock that is set meanwhile must not change a latency.
_BEGAN = time.time() - time.monotonic()
_GONE = select.POLLERR | select.POLLHUP
# Seconds that the last copies get to reach the process that records them.
_LAST = 10.0


def pump(to_server: int, from_server: int, recorder: int) -> None:
    """Pass on what both sides write until they have ended, and send copies through the pipe `recorder`."""
    with Copies(recorder) as copies:
        ends = ((0, to_server, TO_SERVER), (from_server, 1, TO_CLIENT))
        threads = [Thread(target=pass_on, args=(*end, copies)) for end in ends]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def pass_on(source: int, target: int, side: int, copies: "Copies | None") -> None:
    """Pass on everything until one end is gone; the other one then learns it as it would without a tap."""
    watch = select.poll()
    watch.register(source, select.POLLIN)
    watch.register(target, 0)
    try:
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
            # Before it is passed on: no answer is recorded before its request, or measured from too late.
            if copies is not None:
                copies.add(side, now(), data)
            _write(target, data)
    except OSError:
        pass
    os.close(source)
    os.close(target)


def now() -> float:
    """Seconds since 1970, UTC."""
    return _BEGAN + time.monotonic()


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
        self._waiting: deque[tuple[int, int, float, int, bytes]] = deque()
        self._size = self._session = 0
        self._lost = [0] * (END + 1)
        self._changed = Condition()
        self._is_ended = self._is_dead = False

    def add(self, kind: int, at: float, data: bytes, session: int = 0) -> bool:
        """Add what was passed on, or count it as lost. Never waits for whoever records."""
        with self._changed:
            if self._is_dead or self._size + len(data) > self._most:
                self._lost[kind] += len(data)
                return False
            self._session = session
            self._waiting.append((kind, session, at, self._lost[kind], data))
            self._lost[kind] = 0
            self._size += len(data)
            self._changed.notify()
            return True

    def __enter__(self) -> "Copies":
        self._sender = Thread(target=self.send, daemon=True)
        self._sender.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.end()
        self._sender.join(_LAST)

    @property
    def is_waiting(self) -> bool:
        return bool(self._waiting)

    def end(self) -> None:
        """Nothing more comes; what was lost last is told, too."""
        with self._changed:
            self._waiting.extend(
                (kind, self._session, now(), lost, b"") for kind, lost in enumerate(self._lost) if lost
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
                *told, data = self._waiting.popleft()
            try:
                _write(self._pipe, HEADER.pack(*told, len(data)) + data)
            except OSError:
                with self._changed:
                    self._is_dead = True
                    self._waiting.clear()
                break
            with self._changed:
                self._size -= len(data)
        os.close(self._pipe)
