"""The circuit breaker of a tool or server as a pure state machine, and the stores that sessions share.

Every function takes the breaker as it is and returns it as it is then; a store may call it again if another
process was faster. Times are in seconds since 1970, as several processes share them.
"""

from collections.abc import Callable, Mapping
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.error import BreakerState, FailureKind, failure_words
from inspector.store.codec import decode_as, decode_value, encode, encode_value
from inspector.store.database import InDatabase

# Seconds for which it stays open: the layered stack has 30 to 60; the least ends soon after a short outage.
COOL_DOWN = 30.0
# The calls that count: those of so many seconds, several times a timeout, and from so many on, since one or
# two may fail by chance; it opens when so many of them failed.
WINDOW, MIN_CALLS, FAILURE_RATE = 300.0, 3, 0.5
# A server cannot shut its users out for longer, whatever its Retry-After says.
LONGEST = 3600.0
# More calls than this are not counted, whatever the window.
MOST_CALLS = 200


class BreakerKey(Struct, frozen=True):
    """Whose breaker it is: a server, by the fingerprint of what starts it, or one of its tools."""

    server: str
    tool: str = ""


class Permit(Struct, frozen=True):
    """That a call may run, in a `generation` of the breaker; a `probe` tries whether it works again."""

    generation: int = 0
    probe: bool = False


class Breaker(Struct, frozen=True):
    """A breaker. `name` is for people: `shop`, or `shop:list_orders`.

    `since` is when it got into its state and `until` the end of an open one's cool-down; `why` says what
    brought it there. `calls` are those within the window with whether they failed. Calls of an earlier
    `generation` say nothing: it opened, was probed or was reset since. `probed_until` is until when a probe
    is waited for.
    """

    name: str = ""
    state: BreakerState = BreakerState.CLOSED
    since: float = 0.0
    until: float = 0.0
    why: str = ""
    calls: tuple[tuple[float, bool], ...] = ()
    generation: int = 0
    probed_until: float = 0.0

    @property
    def failure_rate(self) -> float:
        """The share of the counted calls that failed, 0 without any."""
        return sum(failed for _, failed in self.calls) / len(self.calls) if self.calls else 0.0

    def wait(self, now: float) -> float:
        """The seconds until a call may try it, 0 if one may now; never more than its cool-down.

        A clock that was set back since by less than the cool-down can only double that, by more ends it.
        """
        cool_down, left = self.until - self.since, self.until - now
        return min(left, cool_down) if self.state is BreakerState.OPEN and 0 < left <= 2 * cool_down else 0.0


def admitted(breaker: Breaker, now: float, patience: float) -> tuple[Breaker, Permit | None]:
    """Let a call through, or not (None). A probe is waited for `patience` seconds, then another may go."""
    if breaker.state is BreakerState.CLOSED:
        return breaker, Permit(breaker.generation)
    is_probed = breaker.state is BreakerState.HALF_OPEN and now < breaker.probed_until <= now + patience
    if is_probed or breaker.wait(now):
        return breaker, None
    if breaker.state is BreakerState.OPEN:
        why = "a call tries whether it works again"
        breaker = replace(breaker, state=BreakerState.HALF_OPEN, since=now, why=why)
    probed = replace(breaker, generation=breaker.generation + 1, probed_until=now + patience)
    return probed, Permit(probed.generation, probe=True)


def ended(
    breaker: Breaker,
    permit: Permit,
    now: float,
    failure: FailureKind | None,
    retry_after: float | None = None,
) -> Breaker:
    """After a call: None if it succeeded as far as the breaker is concerned, CANCELLED without a result.

    A server that said when to ask again is not asked before.
    """
    if permit.generation != breaker.generation or breaker.state is BreakerState.OPEN:
        return breaker
    if failure is FailureKind.CANCELLED:
        return replace(breaker, probed_until=0.0)
    pause = max(COOL_DOWN, min(retry_after or 0.0, LONGEST))
    words = failure_words(failure, retry_after) if failure is not None else ""
    if breaker.state is BreakerState.HALF_OPEN:
        if failure is None:
            return _closed(breaker, now, "it answers again")
        return _open(breaker, now, pause, f"the call that tried it failed: {words}")
    # Those of a clock that was set back since are gone.
    kept = (call for call in breaker.calls if now - WINDOW < call[0] <= now)
    breaker = replace(breaker, calls=(*kept, (now, failure is not None))[-MOST_CALLS:])
    if failure is None or len(breaker.calls) < MIN_CALLS or breaker.failure_rate < FAILURE_RATE:
        return breaker
    failures = sum(did_fail for _, did_fail in breaker.calls)
    return _open(breaker, now, pause, f"{failures} of {len(breaker.calls)} calls failed, the last: {words}")


def reset(breaker: Breaker, now: float) -> Breaker:
    """Closed, and with nothing counted; calls that still run count no more."""
    closed = _closed(breaker, now, "reset by hand")
    return replace(closed, generation=breaker.generation + 1)


def _closed(breaker: Breaker, now: float, why: str) -> Breaker:
    return Breaker(breaker.name, since=now, why=why, generation=breaker.generation)


def _open(breaker: Breaker, now: float, pause: float, why: str) -> Breaker:
    generation, state = breaker.generation + 1, BreakerState.OPEN
    return replace(breaker, state=state, since=now, until=now + pause, why=why, generation=generation)


class BreakerStore(Protocol):
    """Circuit breakers that every session on this machine shares. Each method raises StoreError.

    A key that was never updated has a breaker that is closed, `Breaker()`.
    """

    def get(self, key: BreakerKey) -> Breaker:
        """The breaker as it is now, whoever changed it last."""

    def update(self, key: BreakerKey, change: Callable[[Breaker], Breaker]) -> tuple[Breaker, Breaker]:
        """Change it so that no other change comes in between; return it as it was and as it is.

        `change` must be pure: a store that finds that another process was faster calls it once more.
        """

    def every(self) -> Mapping[BreakerKey, Breaker]:
        """All breakers that were ever updated."""


class MemoryBreakers:
    """See `BreakerStore`."""

    def __init__(self) -> None:
        self._breakers: dict[BreakerKey, Breaker] = {}

    def get(self, key: BreakerKey) -> Breaker:
        """The breaker as it is now."""
        return self._breakers.get(key, Breaker())

    def update(self, key: BreakerKey, change: Callable[[Breaker], Breaker]) -> tuple[Breaker, Breaker]:
        """Change it; return it as it was and as it is."""
        before = self.get(key)
        after = self._breakers[key] = change(before)
        return before, after

    def every(self) -> Mapping[BreakerKey, Breaker]:
        """All breakers that were ever updated."""
        return dict(self._breakers)


_ONE = "SELECT state FROM breaker WHERE server = ? AND tool = ?"
_EVERY = "SELECT server, tool, state FROM breaker ORDER BY rowid"
_KEEP = """
INSERT INTO breaker (server, tool, state) VALUES (?, ?, ?)
ON CONFLICT (server, tool) DO UPDATE SET state = excluded.state
"""


class SqliteBreakers(InDatabase):
    """See `BreakerStore`. Every call reads what is in the file, so that two processes agree at once."""

    def get(self, key: BreakerKey) -> Breaker:
        """The breaker as it is now, whoever changed it last."""
        rows = self._database.rows(_ONE, _columns(key))
        return _decoded(rows[0][0]) if rows else Breaker()

    def update(self, key: BreakerKey, change: Callable[[Breaker], Breaker]) -> tuple[Breaker, Breaker]:
        """Change it in one transaction; return it as it was and as it is."""
        with self._database.transaction() as connection:
            row = connection.execute(_ONE, _columns(key)).fetchone()
            before = _decoded(row[0]) if row else Breaker()
            after = change(before)
            if row is None or after != before:
                state = encode(after)
                connection.execute(_KEEP, (*_columns(key), state))
        return before, after

    def every(self) -> Mapping[BreakerKey, Breaker]:
        """All breakers that were ever updated."""
        rows = self._database.rows(_EVERY)
        return {BreakerKey(server, decode_value(tool)): _decoded(state) for server, tool, state in rows}


def _columns(key: BreakerKey) -> tuple[str, str]:
    """The key's columns; a tool's name may hold what SQLite cannot store as text."""
    return key.server, encode_value(key.tool)


def _decoded(state: str) -> Breaker:
    """The breaker of a row; one that cannot be read is closed, as it says nothing."""
    try:
        return decode_as(state, Breaker)
    except ValueError:
        return Breaker()
