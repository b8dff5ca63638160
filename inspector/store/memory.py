"""An in-memory fake of every port, for tests and offline use."""

from collections.abc import Collection, Iterator, Sequence

from inspector.core.error import StoreError
from inspector.core.events import CallFinished, Record, SearchPerformed, SessionStarted
from inspector.core.ports import SessionAge, SessionSummary, Snapshot
from inspector.core.server import ConsentItem, Era, RunFile
from inspector.core.turns import turns


class MemoryStore:
    """An EventStore in memory. Tests say which sessions are `written_elsewhere`."""

    def __init__(self) -> None:
        self.written_elsewhere: set[str] = set()
        self._streams: dict[str, dict[int, Record]] = {}
        self._written: set[str] = set()

    def append(self, record: Record) -> None:
        self._written.add(record.session)
        stream = self._streams.setdefault(record.session, {})
        if record.seq in stream:
            hint = "Two programs may be writing the same session; start a new one."
            raise StoreError(f"{record.session} already has an event {record.seq}", hint=hint)
        stream[record.seq] = record

    def append_all(self, records: Sequence[Record]) -> None:
        before = {session: dict(stream) for session, stream in self._streams.items()}
        try:
            for record in records:
                self.append(record)
        except StoreError:
            self._streams = before
            raise

    def cut(self, session: str, after: int) -> None:
        kept = {seq: record for seq, record in self._streams.pop(session, {}).items() if seq <= after}
        if kept:
            self._streams[session] = kept

    def read(self, session: str, *, kinds: Sequence[str] = (), limit: int | None = None) -> list[Record]:
        stream = self._streams.get(session, {})
        records = [stream[seq] for seq in sorted(stream) if not kinds or stream[seq].kind in kinds]
        return records if limit is None else records[max(len(records) - max(limit, 0), 0) :]

    def between(self, session: str, after: int, until: int) -> list[Record]:
        return [record for record in self.read(session) if after < record.seq <= until]

    def stream(self, session: str) -> Iterator[Record]:
        yield from self.read(session)

    def ages(self) -> list[SessionAge]:
        return [SessionAge(one.id, one.ended_at) for one in self.sessions() if not one.agent]

    def forget(self, sessions: Sequence[str]) -> tuple[str, ...]:
        free = [session for session in sessions if session not in self._written]
        return tuple(session for session in free if self._streams.pop(session, None) is not None)

    def is_written(self, session: str) -> bool:
        return session in self.written_elsewhere

    def release(self, session: str) -> None:
        self._written.discard(session)

    def sessions(self) -> list[SessionSummary]:
        summaries = [_summary(session, tuple(stream.values())) for session, stream in self._streams.items()]
        return sorted(summaries, key=lambda summary: (summary.started_at, summary.id), reverse=True)


def _summary(session: str, records: Sequence[Record]) -> SessionSummary:
    told = list(turns(records))
    start = next((event for turn in reversed(told) for event in reversed(turn.of(SessionStarted))), None)
    return SessionSummary(
        session,
        started_at=records[0].at,
        ended_at=max(record.at for record in records),
        config=start.config if start else "",
        model=told[-1].session.model,
        events=len(records),
        searches=sum(record.kind == SearchPerformed.kind for record in records),
        calls=sum(record.kind == CallFinished.kind for record in records),
        agent=told[-1].session.agent,
        user=start.user if start else "",
        expert=start.expert if start else "",
        question=next((turn.said.text[:200] for turn in told if turn.said), ""),
    )


class MemoryServerMemory:
    """A ServerMemory that is not stored; `approvals` maps consent items to their files and sources."""

    def __init__(self) -> None:
        self.eras: dict[str, Era] = {}
        self.approvals: dict[str, tuple[tuple[RunFile, ...], str]] = {}
        self.versions: dict[str, str] = {}
        self.snapshots: dict[str, Snapshot] = {}

    def era(self, fingerprint: str) -> Era | None:
        return self.eras.get(fingerprint)

    def remember_era(self, fingerprint: str, era: Era) -> None:
        self.eras[fingerprint] = era

    def approved(self, ids: Collection[str]) -> dict[str, tuple[RunFile, ...]]:
        return {known: self.approvals[known][0] for known in ids if known in self.approvals}

    def approve(self, items: Collection[ConsentItem], source: str) -> None:
        for item in items:
            self.approvals[item.id] = (item.files, source)
            self.versions.pop(item.id, None)

    def first_version(self, id: str, version: str) -> str:  # noqa: A002 - as consent items call it
        if not version or id not in self.approvals:
            return version
        return self.versions.setdefault(id, version)

    def snapshot(self, fingerprint: str) -> Snapshot | None:
        return self.snapshots.get(fingerprint)

    def remember_tools(self, fingerprint: str, snapshot: Snapshot) -> Snapshot | None:
        before = self.snapshots.get(fingerprint)
        self.snapshots[fingerprint] = snapshot
        return before if before is not None and before.tools != snapshot.tools else None
