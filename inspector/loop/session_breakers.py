"""The circuit breakers of a session's servers and tools, on a store that every session shares."""

from collections.abc import Callable
from dataclasses import dataclass, field

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.error import BreakerState, CircuitOpen, FailureKind, StoreError
from inspector.core.events import BreakerChanged, Failed
from inspector.core.number import duration
from inspector.core.ports import Clock
from inspector.core.server import ServerSpec
from inspector.core.stream import Session
from inspector.core.tool import Tool
from inspector.loop.breaker import Breaker, BreakerKey, BreakerStore, Permit, admitted, ended
from inspector.search.answer.retrieval import Live

# An error of the protocol is an answer: it speaks against the tool, and not against its server.
AGAINST_SERVER = frozenset({FailureKind.TRANSPORT, FailureKind.TIMEOUT, FailureKind.RATE_LIMIT})
AGAINST_TOOL = AGAINST_SERVER | {FailureKind.PROTOCOL}
# Seconds beyond a server's own limits after which a probe that nobody reported counts as lost.
_GRACE = 5.0


class Subject(Struct, frozen=True):
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

    def against(self, failure: FailureKind | None) -> FailureKind | None:
        """The failure as far as it speaks against it, or says nothing at all."""
        said = AGAINST_TOOL if self.tool else AGAINST_SERVER
        return failure if failure in said or failure is FailureKind.CANCELLED else None


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
        for subject, permit in permits:
            end = (permit, self.clock.now(), subject.against(failure), retry_after)
            self._change(subject, lambda one, end=end: ended(one, *end))  # type: ignore[misc]
        return tuple(subject for subject, _ in permits)

    def tell(self, subjects: tuple[Subject, ...]) -> None:
        """Emit the states that the session does not know of, be they our doing or another session's."""
        for subject in subjects:
            self._tell(subject, self._get(subject))

    def is_healthy(self, tool: Tool) -> bool:
        """Whether both breakers of a tool are closed."""
        found = map(self._get, self._subjects(tool.server, tool.id))
        return all(breaker is None or breaker.state is BreakerState.CLOSED for breaker in found)

    def is_callable(self, tool: Tool) -> bool:
        """Whether a call would be admitted now, be it as the one that tries whether the tool works again."""
        return self._refusing(tool) is None

    def check(self, tool: Tool) -> None:
        """Raise CircuitOpen if a call would be refused now; unlike `admit`, it takes no probe's place."""
        if (subject := self._refusing(tool)) is not None:
            refusal = self._refusal(subject)
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
        for subject in subjects:
            permit = self._permit(subject)
            if permit is None:
                self.tell(self.note(permits, FailureKind.CANCELLED))
                raise self._refusal(subject)
            permits = (*permits, (subject, permit))
        return permits

    def _permit(self, subject: Subject) -> Permit | None:
        breaker = self._get(subject)
        if breaker is None or breaker.state is BreakerState.CLOSED:
            # Nothing is written: most breakers are closed at most calls.
            self._tell(subject, breaker)
            return Permit(breaker.generation if breaker is not None else 0)
        now, patience = self.clock.now(), subject.patience
        changed = self._change(subject, lambda one: admitted(one, now, patience)[0])
        if changed is None:
            return Permit()
        self._tell(subject, changed[1])
        return admitted(changed[0], now, patience)[1]

    def _refusing(self, tool: Tool) -> Subject | None:
        """Whose breaker would refuse a call of the tool now, if any."""
        now = self.clock.now()
        for subject in self._subjects(tool.server, tool.id):
            breaker = self._get(subject)
            if breaker is not None and admitted(breaker, now, subject.patience)[1] is None:
                return subject
        return None

    def _get(self, subject: Subject) -> Breaker | None:
        """A breaker as it is; None while the store fails."""
        try:
            return self.store.get(subject.key)
        except StoreError as error:
            self._tell_failure(error)
            return None

    def _change(
        self, subject: Subject, change: Callable[[Breaker], Breaker]
    ) -> tuple[Breaker, Breaker] | None:
        try:
            return self.store.update(subject.key, lambda one: change(replace(one, name=subject.name)))
        except StoreError as error:
            self._tell_failure(error)
            return None

    def _tell(self, subject: Subject, breaker: Breaker | None) -> None:
        if breaker is None:
            return
        known, now = self.session.state.breakers.get(subject.name), self.clock.now()
        before, wait = known.state if known is not None else BreakerState.CLOSED, breaker.wait(now)
        opened_again = wait > 0 and known is not None and known.until <= now
        if breaker.state is before and not opened_again:
            return
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
                cool_down=wait,
            )
        )

    def _tell_failure(self, error: StoreError) -> None:
        """Say once in the session that nothing is counted: a store that is locked may fail at every call."""
        if not self._has_told_failure:
            self._has_told_failure = True
            self.session.emit(Failed("circuit breakers", error.message, error.hint))

    def _refusal(self, subject: Subject) -> CircuitOpen:
        breaker = self._get(subject) or Breaker()
        wait = breaker.wait(self.clock.now())
        when = f"It may be called again in {duration(wait)}." if wait else "Another call is trying it now."
        what = f"the circuit breaker of {subject.name} is {breaker.state}: {breaker.why}"
        return CircuitOpen(what, hint=when, wait=wait)
