"""Whose circuit breaker is asked about a call, and what the end of the call means for it."""

from collections.abc import Callable
from dataclasses import dataclass

from inspector.domain.breaker import Breaker, BreakerKey, Permit, answered, failed, released
from inspector.domain.composition_settings import BreakerSettings
from inspector.domain.failure import FailureKind
from inspector.domain.server import ServerSpec

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
    subject: Subject,
    permit: Permit,
    now: float,
    rules: BreakerSettings,
    failure: FailureKind | None,
    retry_after: float | None,
) -> Callable[[Breaker], Breaker]:
    """How the end of a call changes a breaker."""
    if failure is FailureKind.CANCELLED:
        return lambda one: released(one, permit)
    if failure is None or not subject.counts(failure):
        return lambda one: answered(one, permit, now, rules)
    return lambda one: failed(one, permit, now, rules, failure, retry_after)
