"""The circuit breaker of a tool or server as a pure state machine.

Every function takes the breaker as it is and returns it as it is then; what keeps breakers may call it again
if another process was faster. Times are in seconds since 1970, as several processes share them.
"""

from dataclasses import dataclass, replace

from inspector.core.error import (
    ArgumentsRejected,
    BreakerState,
    CallTimeout,
    FailureKind,
    ProtocolError,
    RateLimited,
    StoreError,
    ToolsightError,
    failure_words,
)


def failure_of(error: ToolsightError) -> FailureKind:
    """The kind of failure that an error of a call is."""
    match error:
        case RateLimited():
            return FailureKind.RATE_LIMIT
        case CallTimeout():
            return FailureKind.TIMEOUT
        case ArgumentsRejected():
            return FailureKind.SCHEMA
        case ProtocolError():
            return FailureKind.PROTOCOL
        case StoreError():
            # Our own trouble: it says nothing of the tool, and the call may have run.
            return FailureKind.CANCELLED
        case _:
            return FailureKind.TRANSPORT


def retry_after_of(error: ToolsightError) -> float | None:
    """The seconds after which the server wants to be asked again, None if it does not say."""
    return error.retry_after if isinstance(error, RateLimited) else None


# Seconds for which it stays open: the layered stack has 30 to 60; the least ends soon after a short outage.
COOL_DOWN = 30.0
# The calls that count: those of so many seconds, several times a timeout, and from so many on, since one or
# two may fail by chance; it opens when so many of them failed.
WINDOW, MIN_CALLS, FAILURE_RATE = 300.0, 3, 0.5
# A server cannot shut its users out for longer, whatever its Retry-After says.
LONGEST = 3600.0


# More calls than this are not counted, whatever the window.
MOST_CALLS = 200


BY_HAND = "reset by hand"


@dataclass(frozen=True, slots=True)
class BreakerKey:
    """Whose breaker it is: a server, by the fingerprint of what starts it, or one of its tools."""

    server: str
    tool: str = ""


@dataclass(frozen=True, slots=True)
class Permit:
    """That a call may run: in which `generation` of the breaker; `probe` is 0 for no probe."""

    generation: int = 0
    probe: int = 0


@dataclass(frozen=True, slots=True)
class Breaker:
    """A breaker. `name` is for people: `shop`, or `shop:list_orders`.

    `since` is when it got into its state and `until` the end of an open one's cool-down; `why` says what
    brought it there. `calls` are those within the window with whether they failed. `opened` counts how often
    it opened, `issued` the probes since, `probes` are those that run with the time until which they are
    waited for. `resets` counts how often it was reset by hand.
    """

    name: str = ""
    state: BreakerState = BreakerState.CLOSED
    since: float = 0.0
    until: float = 0.0
    why: str = ""
    calls: tuple[tuple[float, bool], ...] = ()
    opened: int = 0
    issued: int = 0
    probes: tuple[tuple[int, float], ...] = ()
    resets: int = 0

    @property
    def generation(self) -> int:
        """Calls that began in another one say nothing: it opened or was reset since."""
        return self.opened + self.resets

    @property
    def failure_rate(self) -> float:
        """The share of the counted calls that failed, 0 without any."""
        return sum(failed for _, failed in self.calls) / len(self.calls) if self.calls else 0.0

    def wait(self, now: float) -> float:
        """The seconds until a call may try it, 0 if one may now; never more than its cool-down.

        A clock that was set back since by less than the cool-down can only double that, by more ends it.
        """
        cool_down, left = min(self.until - self.since, LONGEST), self.until - now
        if self.state is BreakerState.OPEN and 0 < left <= 2 * cool_down:
            return min(left, cool_down)
        return 0.0


def admitted(breaker: Breaker, now: float, patience: float) -> tuple[Breaker, Permit | None]:
    """Let a call through, or not (None). A probe is waited for `patience` seconds, then another may go."""
    if breaker.state is BreakerState.CLOSED:
        return breaker, Permit(breaker.generation)
    if breaker.wait(now):
        return breaker, None
    if breaker.state is BreakerState.OPEN:
        why = "a call tries whether it works again"
        breaker = replace(breaker, state=BreakerState.HALF_OPEN, since=now, why=why, probes=())
    running = tuple((probe, until) for probe, until in breaker.probes if now < until <= now + patience)
    if running:
        return replace(breaker, probes=running), None
    number = breaker.issued + 1
    return replace(breaker, issued=number, probes=((number, now + patience),)), Permit(
        breaker.generation, number
    )


def answered(breaker: Breaker, permit: Permit, now: float) -> Breaker:
    """After a call that succeeded, as far as the breaker is concerned."""
    if permit.generation != breaker.generation or breaker.state is BreakerState.OPEN:
        return breaker
    if breaker.state is BreakerState.CLOSED:
        return replace(breaker, calls=_counted(breaker, now, failed=False))
    return _closed(breaker, now, "it answers again")


def failed(
    breaker: Breaker, permit: Permit, now: float, kind: FailureKind, retry_after: float | None = None
) -> Breaker:
    """After a call that failed; a server that said when to ask again is not asked before."""
    if permit.generation != breaker.generation or breaker.state is BreakerState.OPEN:
        return breaker
    words = failure_words(kind, retry_after)
    pause = max(COOL_DOWN, min(retry_after or 0.0, LONGEST))
    if breaker.state is BreakerState.HALF_OPEN:
        return _open(breaker, now, pause, f"the call that tried it failed: {words}")
    breaker = replace(breaker, calls=_counted(breaker, now, failed=True))
    if len(breaker.calls) < MIN_CALLS or breaker.failure_rate < FAILURE_RATE:
        return breaker
    failures = sum(did_fail for _, did_fail in breaker.calls)
    return _open(breaker, now, pause, f"{failures} of {len(breaker.calls)} calls failed, the last: {words}")


def released(breaker: Breaker, permit: Permit) -> Breaker:
    """After a call without a result: it was cancelled."""
    return replace(breaker, probes=tuple(each for each in breaker.probes if each[0] != permit.probe))


def reset(breaker: Breaker, now: float) -> Breaker:
    """Closed, and with nothing counted; calls that still run count no more."""
    return replace(_closed(breaker, now, BY_HAND), resets=breaker.resets + 1)


def _closed(breaker: Breaker, now: float, why: str) -> Breaker:
    return Breaker(breaker.name, since=now, why=why, opened=breaker.opened, resets=breaker.resets)


def _open(breaker: Breaker, now: float, pause: float, why: str) -> Breaker:
    return replace(
        breaker,
        state=BreakerState.OPEN,
        since=now,
        until=now + pause,
        why=why,
        opened=breaker.opened + 1,
        probes=(),
    )


def _counted(breaker: Breaker, now: float, *, failed: bool) -> tuple[tuple[float, bool], ...]:
    """The calls within the window, with this one; those of a clock that was set back since are gone."""
    kept = (call for call in breaker.calls if now - WINDOW < call[0] <= now)
    return (*kept, (now, failed))[-MOST_CALLS:]
