"""Every routing decision with the fields of Tool Attention, section 5.7: what a dashboard can read."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from inspector.core.events import GateApplied, ModelRequested, Record, SearchPerformed, TurnEnded, UserSaid
from inspector.core.ranking import Outcome
from inspector.measure.telemetry.cell import Sample
from inspector.measure.telemetry.otel import plain

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
    """Makes decisions of records; one of a search comes with the model call after it."""

    def __init__(self) -> None:
        self._session = ""
        self._waiting: list[RoutingDecision] = []
        self._latency = Sample()

    def after(self, record: Record) -> Iterator[RoutingDecision]:
        """The decisions that are complete with this record."""
        if record.session != self._session:
            yield from self.end()
            self._session, self._latency = record.session, Sample()
        match record.event:
            case GateApplied() as event:
                yield _gated(record, event)
            case SearchPerformed(by="model") as event:
                self._latency.add(event.report.latency_ms)
                self._waiting.append(_searched(record, event, self._latency.at(0.5) or 0.0))
            case ModelRequested(tokens=parts) as event:
                first = parts.meta + parts.manifest + parts.pool
                for one in self._taken():
                    yield replace(
                        one,
                        turn_id=event.call,
                        active_set=event.bound,
                        phase1_tokens=first,
                        phase2_tokens=parts.tools,
                    )
            case UserSaid() | TurnEnded():
                yield from self.end()

    def end(self) -> Iterator[RoutingDecision]:
        """The decisions that no model call came after."""
        yield from self._taken()

    def _taken(self) -> list[RoutingDecision]:
        waiting, self._waiting = self._waiting, []
        return waiting


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


def _searched(record: Record, event: SearchPerformed, median: float) -> RoutingDecision:
    report = event.report
    query = plain(report.request.query or report.request.label())
    return RoutingDecision(
        *(record.session, record.at, "search", None),
        query_embedding_hash=hashlib.sha256(query.encode()).hexdigest()[:_DIGITS],
        candidates=tuple(hit.tool_id for hit in report.hits),
        scores=() if report.unscored else tuple(hit.score.value for hit in report.hits),
        gated_out_by_state=tuple(hit.tool_id for hit in report.hits if hit.outcome is Outcome.PRECONDITION),
        active_set=(),
        phase1_tokens=None,
        phase2_tokens=None,
        latency_ms=report.latency_ms,
        p50_latency_ms=median,
    )


def decisions(records: Iterable[Record]) -> Iterator[RoutingDecision]:
    """The routing decisions of one or more sessions in sequence."""
    log = RoutingLog()
    for record in records:
        yield from log.after(record)
    yield from log.end()
