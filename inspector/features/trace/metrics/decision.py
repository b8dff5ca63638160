"""Every routing decision with the fields of Tool Attention, section 5.7: what a dashboard can read."""

import hashlib
from bisect import bisect_right
from dataclasses import dataclass
from typing import Literal

from inspector.core.events import GateApplied, ModelRequested, Record
from inspector.core.ranking import Outcome
from inspector.core.turns import Search, Session, Turn
from inspector.features.trace.metrics.otel import plain
from inspector.features.trace.metrics.sample import Sample

_DIGITS = 16


@dataclass(frozen=True, slots=True)
class RoutingDecision:
    """Which tools a model call gets, and why: by the gate, or by a search of the model before it.

    `turn_id` is the model call that it was for; None if none came. Phase 1 is what is there before a tool is
    chosen (manifest or summaries), phase 2 the definitions. The hash is that of the query's vector or, of a
    search, its text. `active_set`, of a search, is what the next model call was sent.
    """

    session: str
    at: float
    source: Literal["gate", "search"]
    turn_id: int | None
    query_embedding_hash: str
    candidates: tuple[str, ...]
    scores: tuple[float, ...]
    gated_out_by_state: tuple[str, ...]
    active_set: tuple[str, ...]
    phase1_tokens: int | None
    phase2_tokens: int | None
    latency_ms: float
    p50_latency_ms: float


class RoutingLog:
    """Makes decisions of turns."""

    def __init__(self) -> None:
        self._session: Session | None = None
        self._latency = Sample()

    def of(self, turn: Turn) -> list[RoutingDecision]:
        """The decisions in one turn, in the order in which the model calls made use of them."""
        if turn.session is not self._session:
            self._session, self._latency = turn.session, Sample()
        found = []
        for record in turn.records:
            if isinstance(record.event, GateApplied):
                found.append((record.seq, _gated(record, record.event)))
        for search in turn.searches:
            self._latency.add(search.event.report.latency_ms)
            later = bisect_right(turn.calls, search.record.seq, key=lambda call: call.record.seq)
            call = turn.calls[later] if later < len(turn.calls) else None
            used = call.record.seq if call is not None else turn.records[-1].seq
            request = call.request if call is not None else None
            found.append((used, _searched(search, request, self._latency.at(0.5) or 0.0)))
        return [decision for _, decision in sorted(found, key=lambda one: one[0])]


def _gated(record: Record, event: GateApplied) -> RoutingDecision:
    return RoutingDecision(
        *(record.session, record.at, "gate", event.call, event.query_hash),
        candidates=tuple(one.tool for one in event.candidates),
        scores=tuple(one.score for one in event.candidates),
        gated_out_by_state=event.gated_out,
        active_set=event.active,
        phase1_tokens=event.pool_tokens,
        phase2_tokens=event.tokens,
        latency_ms=event.milliseconds,
        p50_latency_ms=event.p50_milliseconds,
    )


def _searched(search: Search, request: ModelRequested | None, median: float) -> RoutingDecision:
    record, report = search.record, search.event.report
    query = plain(report.request.query or report.request.label())
    parts = request.tokens if request is not None else None
    return RoutingDecision(
        *(record.session, record.at, "search", request.call if request is not None else None),
        query_embedding_hash=hashlib.sha256(query.encode()).hexdigest()[:_DIGITS],
        candidates=tuple(hit.tool_id for hit in report.hits),
        scores=() if report.unscored else tuple(hit.score.value for hit in report.hits),
        gated_out_by_state=tuple(hit.tool_id for hit in report.hits if hit.outcome is Outcome.PRECONDITION),
        active_set=request.bound if request is not None else (),
        phase1_tokens=parts.meta + parts.manifest + parts.pool if parts is not None else None,
        phase2_tokens=parts.tools if parts is not None else None,
        latency_ms=report.latency_ms,
        p50_latency_ms=median,
    )
