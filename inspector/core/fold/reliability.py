"""What events of circuit breakers, retries and fallbacks change."""

from inspector.core.breaker import BreakerState, BreakerStatus
from inspector.core.events import BreakerChanged, CallRetried, ToolSubstituted
from inspector.core.fold.step import evolve, step
from inspector.core.session import SessionState


@step.register
def _breaker_changed(event: BreakerChanged, state: SessionState) -> SessionState:
    status = breaker_status(event, state.at, state.breakers.get(event.name))
    return evolve(state, breakers={**state.breakers, event.name: status})


def breaker_status(event: BreakerChanged, at: float, before: BreakerStatus | None) -> BreakerStatus:
    """What is known of a breaker after its newest change, `at` seconds since 1970."""
    opens = event.after is BreakerState.OPEN
    return BreakerStatus(
        server=event.server,
        tool=event.tool,
        state=event.after,
        since=at,
        until=at + event.cool_down if opens else 0.0,
        why=event.why,
        failure_rate=event.failure_rate,
        calls=event.calls,
        opened=(before.opened if before is not None else 0) + opens,
    )


@step.register
def _call_retried(_event: CallRetried, state: SessionState) -> SessionState:
    return evolve(state, retries=state.retries + 1, turn_retries=state.turn_retries + 1)


@step.register
def _tool_substituted(_event: ToolSubstituted, state: SessionState) -> SessionState:
    return evolve(state, substitutions=state.substitutions + 1)
