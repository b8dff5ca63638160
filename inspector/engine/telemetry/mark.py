"""What is told of an event within a span, instead of a span of its own."""

from collections.abc import Mapping

from inspector.domain.events import (
    CallRejected,
    Event,
    GateApplied,
    LoopDetected,
    RedundantSearch,
    ToolEvicted,
    ToolLoaded,
)
from inspector.engine.telemetry.span import Value

_TOLD_WHOLE = frozenset({"breaker", "retry", "substitute"})


def told_within(event: Event, *, content: bool) -> Mapping[str, Value | None] | None:
    """What is told of an event within a turn; None for those that are told otherwise or not at all."""
    match event:
        case ToolLoaded():
            return {"toolsight.tool": event.tool, "toolsight.tokens": event.tokens}
        case ToolEvicted():
            return {"toolsight.tool": event.tool, "toolsight.cause": event.cause}
        case LoopDetected():
            return {"toolsight.tool": event.tool, "toolsight.count": event.count}
        case RedundantSearch():
            return {"toolsight.overlap": event.overlap}
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
        case _ if event.kind in _TOLD_WHOLE:
            return {f"toolsight.{event.kind}": event.summary() if content else event.kind}
    return None
