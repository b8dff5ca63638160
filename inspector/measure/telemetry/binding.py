"""What is bound and sent: loads, evictions, the gate, definitions a model call, loops."""

from collections import Counter

from inspector.core.events import (
    CatalogBuilt,
    GateApplied,
    LoopDetected,
    ModelRequested,
    Record,
    ToolEvicted,
    ToolLoaded,
)
from inspector.measure.telemetry.cell import Sample

KINDS = tuple(each.kind for each in (ToolLoaded, ToolEvicted, LoopDetected, CatalogBuilt, ModelRequested))
"""The kinds of events that are counted of bindings."""
GATE_KINDS = (GateApplied.kind,)
_UNKNOWN = "unknown"


class BindingCount:
    """Counts what happens to tools before a model call, and the tokens of each."""

    def __init__(self) -> None:
        self.loads: Counter[str] = Counter()
        self.evictions: Counter[str] = Counter()
        self.loops: Counter[str] = Counter()
        self.definitions, self.discovery, self.request = Sample(), Sample(), Sample()
        self.static = Sample()
        self.bound, self.resent = Sample(), Sample()
        self._static = 0

    def begin(self) -> None:
        """Another session begins."""
        self._static = 0

    def after(self, record: Record) -> None:
        """Count one record."""
        match record.event:
            case ToolLoaded() as event:
                self.loads[_cause_of(event)] += 1
            case ToolEvicted(cause=cause):
                self.evictions[cause or _UNKNOWN] += 1
            case LoopDetected(counted=counted):
                self.loops[counted] += 1
            case CatalogBuilt(static_tokens=tokens):
                self._static = tokens
            case ModelRequested(tokens=parts, bound=bound) as event:
                self.definitions.add(parts.tools + parts.meta)
                self.discovery.add(parts.discovery_tokens)
                self.request.add(parts.input)
                self.static.add(self._static)
                self.bound.add(len(bound))
                self.resent.add(event.resent)


def _cause_of(event: ToolLoaded) -> str:
    """Why a tool was bound: as the event says, or by what older records have."""
    return event.cause or ("search" if event.place else "by hand")


class GateCount:
    """Counts the gate's decisions (Tool Attention, section 5.7)."""

    def __init__(self) -> None:
        self.candidates, self.active, self.gated_out, self.below = (Sample() for _ in range(4))
        self.latency, self.pool_tokens, self.tokens = (Sample() for _ in range(3))

    def after(self, record: Record) -> None:
        """Count one record."""
        match record.event:
            case GateApplied() as event:
                self.candidates.add(len(event.candidates))
                self.active.add(len(event.active))
                self.gated_out.add(len(event.gated_out))
                self.below.add(event.below)
                self.latency.add(event.milliseconds)
                self.pool_tokens.add(event.pool_tokens)
                self.tokens.add(event.tokens)
