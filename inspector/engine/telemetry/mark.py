"""What a span notes of an event that gets no span of its own."""

from collections.abc import Mapping

from inspector.domain.events import (
    BreakerChanged,
    CallRejected,
    CallRetried,
    Event,
    GateApplied,
    LoopDetected,
    RedundantSearch,
    ToolEvicted,
    ToolLoaded,
    ToolSubstituted,
)
from inspector.engine.telemetry.span import Value


def told_within(event: Event) -> Mapping[str, Value | None] | None:
    """What a turn's span notes of an event; None for events that have spans of their own, or are left out."""
    match event:
        case ToolLoaded():
            return {"toolsight.tool": event.tool, "toolsight.tokens": event.tokens}
        case ToolEvicted():
            return {"toolsight.tool": event.tool, "toolsight.cause": event.cause}
        case LoopDetected():
            return {"toolsight.tool": event.tool, "toolsight.count": event.count}
        case RedundantSearch():
            return {"toolsight.overlap": event.overlap, "toolsight.in_a_row": event.in_a_row or None}
        case CallRejected():
            return {"toolsight.tool": event.name, "toolsight.reason": event.reason}
        case GateApplied():
            return {
                "toolsight.gate.candidates": len(event.candidates),
                "toolsight.gate.active": len(event.active),
                "toolsight.gate.gated_out": len(event.gated_out),
                "toolsight.gate.query_hash": event.query_hash,
                "toolsight.gate.phase1_tokens": event.pool_tokens,
                "toolsight.gate.phase2_tokens": event.tokens,
                "toolsight.gate.milliseconds": event.milliseconds,
            }
        case BreakerChanged():
            return {
                "toolsight.breaker": event.name,
                "toolsight.breaker.before": str(event.before),
                "toolsight.breaker.after": str(event.after),
                "toolsight.breaker.failure_rate": event.failure_rate,
            }
        case CallRetried():
            return {
                "toolsight.retry.attempt": event.attempt,
                "toolsight.retry.wait": event.wait,
                "toolsight.retry.failure": str(event.failure),
            }
        case ToolSubstituted():
            return {
                "toolsight.tool": event.tool,
                "toolsight.substitute.instead_of": event.instead_of,
                "toolsight.substitute.similarity": event.similarity,
            }
    return None
