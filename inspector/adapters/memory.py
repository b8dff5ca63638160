"""An in-memory fake of every port, for tests and offline use."""

from collections.abc import Sequence

from inspector.domain.error import StoreError
from inspector.domain.event import CallFinished, ModelSwitched, Record, SearchPerformed, SessionStarted
from inspector.domain.server import Era
from inspector.engine.ports import ApprovalRequest, Decision, SessionSummary


class ManualClock:
    """A clock that moves only when it is told to. Starts at `at` seconds since 1970, UTC."""

    def __init__(self, at: float = 1_772_438_400.0) -> None:
        self.at = at

    def now(self) -> float:
        return self.at

    def monotonic(self) -> float:
        return self.at

    def advance(self, seconds: float) -> None:
        self.at += seconds


class FixedApprover:
    """Gives the same answer every time, and remembers what it was asked."""

    def __init__(self, decision: Decision = Decision.ONCE) -> None:
        self.decision = decision
        self.asked: list[ApprovalRequest] = []

    async def ask(self, request: ApprovalRequest) -> Decision:
        self.asked.append(request)
        return self.decision


class MemoryStore:
    """An EventStore in memory."""

    def __init__(self) -> None:
        self._streams: dict[str, dict[int, Record]] = {}

    def append(self, record: Record) -> None:
        stream = self._streams.setdefault(record.session, {})
        if record.seq in stream:
            hint = "Two programs may be writing one session; start a new session."
            raise StoreError(f"{record.session} has an event {record.seq} already", hint=hint)
        stream[record.seq] = record

    def read(self, session: str, *, kinds: Sequence[str] = (), limit: int | None = None) -> list[Record]:
        stream = self._streams.get(session, {})
        records = [stream[seq] for seq in sorted(stream) if not kinds or stream[seq].kind in kinds]
        return records if limit is None else records[max(len(records) - max(limit, 0), 0) :]

    def sessions(self) -> list[SessionSummary]:
        found = [_summary(session, tuple(stream.values())) for session, stream in self._streams.items()]
        return sorted(found, key=lambda summary: (summary.started_at, summary.id), reverse=True)


def _summary(session: str, records: Sequence[Record]) -> SessionSummary:
    starts = [record.event for record in records if isinstance(record.event, SessionStarted)]
    models = [
        record.event.model for record in records if isinstance(record.event, SessionStarted | ModelSwitched)
    ]
    return SessionSummary(
        session,
        started_at=records[0].at,
        ended_at=max(record.at for record in records),
        config=starts[-1].config if starts else "",
        model=models[-1] if models else "",
        events=len(records),
        searches=sum(record.kind == SearchPerformed.kind for record in records),
        calls=sum(record.kind == CallFinished.kind for record in records),
    )


class MemoryServerMemory:
    """A ServerMemory that forgets everything at the end; `approved` maps fingerprints to their source."""

    def __init__(self) -> None:
        self.eras: dict[str, Era] = {}
        self.approved: dict[str, str] = {}

    def era(self, fingerprint: str) -> Era | None:
        return self.eras.get(fingerprint)

    def remember_era(self, fingerprint: str, era: Era) -> None:
        self.eras[fingerprint] = era

    def is_approved(self, fingerprint: str) -> bool:
        return fingerprint in self.approved

    def approve(self, fingerprint: str, source: str) -> None:
        self.approved[fingerprint] = source
