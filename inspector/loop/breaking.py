"""The circuit breakers of a session's servers and tools, on a store that every session shares."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from inspector.core.error import BreakerState, CircuitOpen, FailureKind, StoreError
from inspector.core.events import BreakerChanged, Failed
from inspector.core.number import duration
from inspector.core.ports import Clock
from inspector.core.server import ServerSpec
from inspector.core.stream import Session
from inspector.core.tool import Tool
from inspector.loop.breaker import Breaker, BreakerKey, Permit, admitted, answered, failed, released
from inspector.search.answer.retrieval import Live
from inspector.store.codec import decode_value, encode_value
from inspector.store.database import SqliteDatabase

if TYPE_CHECKING:
    from pydantic import TypeAdapter


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


# Whose circuit breaker is asked about a call, and what the end of the call means for it.

# An error of the protocol is an answer: it speaks against the tool, and not against its server.
AGAINST_SERVER = frozenset({FailureKind.TRANSPORT, FailureKind.TIMEOUT, FailureKind.RATE_LIMIT})
AGAINST_TOOL = AGAINST_SERVER | {FailureKind.PROTOCOL}
# Seconds beyond a server's own limits after which a probe that nobody reported counts as lost.
_GRACE = 5.0


@dataclass(frozen=True, slots=True)
class Subject:
    """Whose breaker it is: a server, or the tool of it with that id."""

    spec: ServerSpec
    tool: str = ""

    @property
    def name(self) -> str:
        return self.tool or self.spec.name

    @property
    def key(self) -> BreakerKey:
        return BreakerKey(self.spec.fingerprint(), self.tool.removeprefix(f"{self.spec.name}:"))

    @property
    def patience(self) -> float:
        """How many seconds a probe may take."""
        return max(self.spec.call_timeout, self.spec.connect_timeout) + _GRACE

    def counts(self, failure: FailureKind | None) -> bool:
        """Whether a failure speaks against it."""
        return failure in (AGAINST_TOOL if self.tool else AGAINST_SERVER)


def ended(
    subject: Subject, permit: Permit, now: float, failure: FailureKind | None, retry_after: float | None
) -> Callable[[Breaker], Breaker]:
    """How the end of a call changes a breaker."""
    if failure is FailureKind.CANCELLED:
        return lambda one: released(one, permit)
    if failure is None or not subject.counts(failure):
        return lambda one: answered(one, permit, now)
    return lambda one: failed(one, permit, now, failure, retry_after)


Permits = tuple[tuple[Subject, Permit], ...]
"""What allows a call: the breakers that need to know how it ended."""


@dataclass(eq=False)
class Breakers:
    """Asked before a call and told after it; a state that the session did not know of becomes an event.

    The settings are read at every call. Switched off, every call is allowed and nothing is counted. So it is
    while the store fails, which is told once: no result of a call may be lost to bookkeeping.
    """

    session: Session
    store: BreakerStore
    clock: Clock
    live: Live
    _has_told_failure: bool = field(default=False, init=False)

    @property
    def is_on(self) -> bool:
        return self.live.settings.breaker.enabled

    def admit(self, tool: Tool) -> Permits:
        """Allow a call. Raises CircuitOpen."""
        return self._admit(*self._subjects(tool.server, tool.id))

    def admit_server(self, server: str) -> Permits:
        """Allow an attempt to connect a server. Raises CircuitOpen."""
        return self._admit(*self._subjects(server))

    def note(
        self, permits: Permits, failure: FailureKind | None, retry_after: float | None = None
    ) -> tuple[Subject, ...]:
        """Note how a call ended: None if it succeeded. What it was about is reported later."""
        now = self.clock.now()
        try:
            for subject, permit in permits:
                self._update(subject, ended(subject, permit, now, failure, retry_after))
        except StoreError as error:
            self._tell_failure(error)
        return tuple(subject for subject, _ in permits)

    def tell(self, subjects: tuple[Subject, ...]) -> None:
        """Emit the states that the session does not know of, be they our doing or another session's."""
        try:
            for subject in subjects:
                self._tell(subject, self.store.get(subject.key))
        except StoreError as error:
            self._tell_failure(error)

    def is_healthy(self, tool: Tool) -> bool:
        """Whether both breakers of a tool are closed."""
        subjects = self._subjects(tool.server, tool.id)
        try:
            return all(self.store.get(one.key).state is BreakerState.CLOSED for one in subjects)
        except StoreError as error:
            self._tell_failure(error)
            return True

    def is_callable(self, tool: Tool) -> bool:
        """Whether a call would be admitted now, be it as the one that tries whether the tool works again."""
        return self._refusing(tool) is None

    def check(self, tool: Tool) -> None:
        """Raise CircuitOpen if a call would be refused now; unlike `admit`, it takes no probe's place."""
        subject = self._refusing(tool)
        if subject is None:
            return
        try:
            refusal = self._refusal(subject)
        except StoreError as error:
            self._tell_failure(error)
            return
        self.tell((subject,))
        raise refusal

    def _subjects(self, server: str, tool: str = "") -> tuple[Subject, ...]:
        """The breakers that are asked, the server's first; none while they are switched off."""
        spec = next((one for one in self.live.configuration.servers if one.name == server), None)
        if spec is None or not self.is_on:
            return ()
        return (Subject(spec), Subject(spec, tool)) if tool else (Subject(spec),)

    def _admit(self, *subjects: Subject) -> Permits:
        permits: Permits = ()
        try:
            for subject in subjects:
                permit = self._permit(subject)
                if permit is None:
                    self.tell(self.note(permits, FailureKind.CANCELLED))
                    raise self._refusal(subject)
                permits = (*permits, (subject, permit))
        except StoreError as error:
            self._tell_failure(error)
        return permits

    def _refusing(self, tool: Tool) -> Subject | None:
        """Whose breaker would refuse a call of the tool now, if any."""
        now = self.clock.now()
        try:
            for subject in self._subjects(tool.server, tool.id):
                if admitted(self.store.get(subject.key), now, subject.patience)[1] is None:
                    return subject
        except StoreError as error:
            self._tell_failure(error)
        return None

    def _permit(self, subject: Subject) -> Permit | None:
        breaker = self.store.get(subject.key)
        if breaker.state is BreakerState.CLOSED:
            # Nothing is written: most breakers are closed at most calls.
            self._tell(subject, breaker)
            return Permit(breaker.generation)
        now, patience = self.clock.now(), subject.patience
        before, after = self._update(subject, lambda one: admitted(one, now, patience)[0])
        self._tell(subject, after)
        return admitted(before, now, patience)[1]

    def _update(self, subject: Subject, change: Callable[[Breaker], Breaker]) -> tuple[Breaker, Breaker]:
        return self.store.update(subject.key, lambda one: change(replace(one, name=subject.name)))

    def _tell(self, subject: Subject, breaker: Breaker) -> None:
        known, now = self.session.state.breakers.get(subject.name), self.clock.now()
        before, wait = known.state if known is not None else BreakerState.CLOSED, breaker.wait(now)
        opened_again = wait > 0 and known is not None and known.until <= now
        if breaker.state is before and not opened_again:
            return
        self._emit(subject, before, breaker)

    def _emit(self, subject: Subject, before: BreakerState, breaker: Breaker) -> None:
        self.session.emit(
            BreakerChanged(
                subject="tool" if subject.tool else "server",
                server=subject.spec.name,
                tool=subject.tool,
                before=before,
                after=breaker.state,
                why=breaker.why,
                failure_rate=breaker.failure_rate,
                calls=len(breaker.calls),
                cool_down=breaker.wait(self.clock.now()),
            )
        )

    def _tell_failure(self, error: StoreError) -> None:
        """Say once in the session that nothing is counted: a store that is locked may fail at every call."""
        if not self._has_told_failure:
            self._has_told_failure = True
            self.session.emit(Failed("circuit breakers", error.message, error.hint))

    def _refusal(self, subject: Subject) -> CircuitOpen:
        breaker = self.store.get(subject.key)
        wait = breaker.wait(self.clock.now())
        when = f"It may be called again in {duration(wait)}." if wait else "Another call is trying it now."
        what = f"the circuit breaker of {subject.name} is {breaker.state}: {breaker.why}"
        return CircuitOpen(what, hint=when, wait=wait)


_ONE = "SELECT state FROM breaker WHERE server = ? AND tool = ?"
_EVERY = "SELECT server, tool, state FROM breaker ORDER BY rowid"
_KEEP = """
INSERT INTO breaker (server, tool, state) VALUES (?, ?, ?)
ON CONFLICT (server, tool) DO UPDATE SET state = excluded.state
"""


class SqliteBreakers:
    """See `BreakerStore`. Every call reads what is in the file, so that two processes agree at once."""

    def __init__(self, path: Path) -> None:
        """Nothing is opened yet."""
        self._database = SqliteDatabase(path)

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
                state = encode_value(_adapter().dump_python(after, mode="json"))
                connection.execute(_KEEP, (*_columns(key), state))
        return before, after

    def every(self) -> Mapping[BreakerKey, Breaker]:
        """All breakers that were ever updated."""
        rows = self._database.rows(_EVERY)
        return {BreakerKey(server, decode_value(tool)): _decoded(state) for server, tool, state in rows}

    def close(self) -> None:
        """Close the file; the next call opens it again."""
        self._database.close()


def _columns(key: BreakerKey) -> tuple[str, str]:
    """The key's columns; a tool's name may hold what SQLite cannot store as text."""
    return key.server, encode_value(key.tool)


def _decoded(state: str) -> Breaker:
    """The breaker of a row; one that cannot be read is closed, as it says nothing."""
    try:
        return _adapter().validate_python(decode_value(state))
    except (ValueError, RecursionError):
        return Breaker()


@cache
def _adapter() -> "TypeAdapter[Breaker]":
    from pydantic import TypeAdapter

    return TypeAdapter(Breaker)
