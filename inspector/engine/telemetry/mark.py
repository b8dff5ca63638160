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

# By kind of event, its fields that are told.
_FIELDS = {
    "breaker": ("server", "tool", "before", "after", "failure_rate", "calls"),
    "retry": ("attempt", "of", "wait", "failure"),
    "substitute": ("instead_of", "tool", "similarity"),
}


def told_within(event: Event) -> Mapping[str, Value | None] | None:
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
    names = _FIELDS.get(event.kind)
    if names is None:
        return None
    return {f"toolsight.{event.kind}.{name}": _plain(getattr(event, name, None)) for name in names}


def _plain(value: object) -> Value | None:
    return value if isinstance(value, int | float) else None if value is None else str(value)
