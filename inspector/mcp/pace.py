"""How fast servers are started, listed again and reported, and how much of what they send is read."""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from msgspec import Struct

LONGEST_LINE = 20_000_000
"""Bytes of a message that is read. Reading one takes some seven times as much memory for a moment."""
HEAD, TAIL = 190_000, 4_000


class CutLine(Struct, frozen=True):
    """Both ends of a line that was too long, and how many bytes it had."""

    head: bytes
    tail: bytes
    size: int


class Lines:
    """Takes the output in pieces, and gives each line once it is whole."""

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self._longest = longest
        self._parts: list[bytes] = []
        self._size = 0
        self._tail = b""
        self._is_cut = False

    @property
    def is_cut(self) -> bool:
        """Whether the line that comes now is too long already."""
        return self._is_cut

    @property
    def rest(self) -> bytes:
        """The beginning of the line that is not whole yet."""
        return b"".join(self._parts)

    def feed(self, data: bytes) -> Iterator[bytes | CutLine]:
        """The lines that a piece completes."""
        first, *others = data.split(b"\n")
        self._add(first)
        for part in others:
            yield self._taken()
            self._add(part)

    def _add(self, part: bytes) -> None:
        self._size += len(part)
        if self._is_cut:
            self._tail = (self._tail + part)[-TAIL:]
            return
        self._parts.append(part)
        if self._size > self._longest:
            whole = b"".join(self._parts)
            self._parts, self._tail, self._is_cut = [whole[:HEAD]], whole[-TAIL:], True

    def _taken(self) -> bytes | CutLine:
        """The line so far, which is whole now."""
        line = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        whole = CutLine(line, self._tail, self._size) if self._is_cut else line
        self._parts, self._tail, self._size, self._is_cut = [], b"", 0, False
        return whole


def size_text(count: float) -> str:
    """A number of bytes for people: `12 KB`."""
    for unit in ("B", "KB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:.0f} GB"


MESSAGES, MESSAGES_A_SECOND = 1_000, 200
REQUEST = 20
"""As how many messages a request counts: each is answered, over HTTP by a POST that our own wait for."""
BYTES, BYTES_A_SECOND = 8_000_000, 1_000_000
# A flood gets a fifth of the thread that reads: other servers share the thread, and the screen its processor.
_REST = 4.0
_LONGEST_PAUSE = 0.2


class Allowance:
    """So many messages and bytes at once, and so many more each second."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._at = clock()
        self._messages, self._bytes = float(MESSAGES), float(BYTES)

    @property
    def is_left(self) -> bool:
        """Whether a short message would be let through."""
        self._refill()
        return self._messages >= 1 and self._bytes > 0

    def take(self, size: int, count: int = 1) -> bool:
        """Let a message of this size through, or not; it may count as several."""
        self._refill()
        if self._messages < count or self._bytes < size:
            return False
        self._messages -= count
        self._bytes -= size
        return True

    def _refill(self) -> None:
        now = self._clock()
        passed, self._at = now - self._at, now
        self._messages = min(self._messages + passed * MESSAGES_A_SECOND, MESSAGES)
        self._bytes = min(self._bytes + passed * BYTES_A_SECOND, BYTES)


def pause_after(seconds: float) -> float:
    """How long to read nothing after a part of a flood took these seconds to read."""
    return min(seconds * _REST, _LONGEST_PAUSE)


_AT_ONCE = 3
# Seconds after which a start no longer keeps others waiting: it may be downloading something.
_PATIENCE = 0.1


class StartPace:
    """Lets a few servers start at a time."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(_AT_ONCE)
        self._waiting = 0
        self._calm = asyncio.Event()
        self._calm.set()

    async def begin(self) -> "Slot":
        """Wait until a server may be started."""
        self._waiting += 1
        self._calm.clear()
        try:
            await self._free.acquire()
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._calm.set()
        return Slot(self._free)

    async def calm(self) -> None:
        """Wait until no server waits for its start."""
        await self._calm.wait()


class Slot:
    """A server that is being started, until `end` or for a moment."""

    def __init__(self, free: asyncio.Semaphore) -> None:
        self._free: asyncio.Semaphore | None = free
        self._timer = asyncio.get_running_loop().call_later(_PATIENCE, self.end)

    def end(self) -> None:
        """Let another server start; a second call does nothing."""
        self._timer.cancel()
        if self._free is not None:
            self._free.release()
            self._free = None


FIRST = 0.05
"""Seconds in which a burst of notifications counts as one."""
LONGEST_PAUSE = 10.0


class ChangePace:
    """The pause before each listing: short for a server that rarely tells, longer the more it does.

    Each listing within `LONGEST_PAUSE` seconds of the one before doubles the pause, so that a server that
    tells a hundred times a second is listed every ten; one that was quiet for so long begins anew.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._pause = FIRST
        self._last: float | None = None

    def pause(self) -> float:
        """Seconds to wait before the listing that is due now; it counts as done after them."""
        now = self._clock()
        is_again = self._last is not None and now - self._last < LONGEST_PAUSE
        self._pause = min(self._pause * 2, LONGEST_PAUSE) if is_again else FIRST
        self._last = now + self._pause
        return self._pause


# The share of the event loop's time that the calls may take while requests keep coming.
_SHARE = 0.1
LONGEST = 1.0
"""Seconds that a request waits at most."""


class Coalesced:
    """Calls `act` soon after a request: in the loop's next round, or after a pause if it was just called.

    The pause grows with what a call takes, up to a second, so that keys are answered however slow it is.
    """

    def __init__(self, act: Callable[[], None]) -> None:
        self.act = act
        self._is_requested = False
        self._timer: asyncio.TimerHandle | None = None
        self._free_at = 0.0

    def soon(self) -> None:
        """Request a call."""
        self._is_requested = True
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_at(max(self._free_at, loop.time()), self.now)

    def now(self) -> None:
        """Call at once if that was requested since the last call; one that fails stays requested."""
        if not self._is_requested:
            return
        self.drop()
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            self.act()
        except BaseException:
            self._is_requested = True
            raise
        finally:
            ended = clock()
            self._free_at = ended + min((ended - began) / _SHARE, LONGEST)

    def drop(self) -> None:
        """Forget the request."""
        self._is_requested = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


# A year: nobody waits longer, and a header of a thousand digits is no number of seconds.
_LONGEST_WAIT = 365 * 24 * 60 * 60.0


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that `Retry-After` names (RFC 9110), at most a year; None without one that can be read."""
    text = headers.get("retry-after", "").strip()
    if text.isdecimal():
        return min(float(text[:20]), _LONGEST_WAIT)
    try:
        until = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    # `-0000` says that the zone is unknown; HTTP knows UTC only.
    until = until if until.tzinfo is not None else until.replace(tzinfo=UTC)
    return min(max((until - datetime.now(UTC)).total_seconds(), 0.0), _LONGEST_WAIT)
