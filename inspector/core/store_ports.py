"""What is kept between sessions, as interfaces: streams, what is known of servers, and for how long."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from inspector.core.events import Record
from inspector.core.inertia import PastCall, TaskCalls, Viewer
from inspector.core.server import ConsentItem, Era, RunFile
from inspector.core.tool import Tool

DAY = 24 * 60 * 60.0


@dataclass(frozen=True, slots=True)
class SessionAge:
    """A recorded session; `ended_at` is the time of its last event, in seconds since 1970, UTC."""

    id: str
    ended_at: float


def overdue(
    sessions: Sequence[SessionAge], *, max_count: int, max_days: float, now: float
) -> tuple[str, ...]:
    """The ids of the sessions to delete, oldest first; a limit of 0 means no limit."""
    by_age = sorted(sessions, key=lambda session: (session.ended_at, session.id))
    too_old = [session.id for session in by_age if max_days and now - session.ended_at > max_days * DAY]
    kept = by_age[len(too_old) :]
    too_many = [session.id for session in kept[: max(len(kept) - max_count, 0)]] if max_count else []
    return (*too_old, *too_many)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The tools a server had when it was last connected, and its one-line summary.

    `at` is in seconds since 1970, UTC.
    """

    tools: tuple[Tool, ...]
    at: float
    summary: str = ""


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """An overview of a stored session. Times are in seconds since 1970, UTC.

    `agent` is the one whose transcript it was imported from, "" for a session of Toolsight's own. `user` and
    `expert` say whose sight it was restricted to, "" if to nobody's. `question` is how the person's first
    message begins, "" before there is one.
    """

    id: str
    started_at: float
    ended_at: float
    config: str
    model: str
    events: int
    searches: int
    calls: int
    agent: str = ""
    user: str = ""
    expert: str = ""
    question: str = ""


class EventStore(Protocol):
    """Stores the event streams. Each method raises StoreError.

    A session counts as being written from its first `append` until `release`, or until its program ends.
    """

    def append(self, record: Record) -> None:
        """Store a record durably: once this returns, it survives a killed process."""

    def append_all(self, records: Sequence[Record]) -> None:
        """Store records of one session as durably, all of them or none."""

    def cut(self, session: str, after: int) -> None:
        """Delete the session's records with a higher number than `after`; after 0, the session itself."""

    def read(self, session: str, *, kinds: Sequence[str] = (), limit: int | None = None) -> list[Record]:
        """A session's records in order; `limit` returns only the newest."""

    def between(self, session: str, after: int, until: int) -> list[Record]:
        """The session's records in order with a number above `after` and up to `until`."""

    def stream(self, session: str) -> Iterator[Record]:
        """All records that `read` returns, read in parts: a long session need not fit into memory."""

    def sessions(self) -> list[SessionSummary]:
        """All sessions, newest first."""

    def ages(self) -> list[SessionAge]:
        """The age of every session that was recorded here; cheap, however many events there are.

        An imported session has none: its events may be older than what is kept of those recorded here.
        """

    def forget(self, sessions: Sequence[str]) -> tuple[str, ...]:
        """Delete these sessions with all their records, and return those that were deleted.

        A session that is being written, by whatever program, is left alone; unknown ids are ignored.
        """

    def is_written(self, session: str) -> bool:
        """Whether another program is writing the session, or that is unknown."""

    def release(self, session: str) -> None:
        """Say that this program writes the session no more."""


class CallHistory(Protocol):
    """What tools were called for in the recorded sessions, Toolsight's own and imported ones."""

    def successful_calls(self, *, but: str = "", viewer: Viewer | None = None) -> Iterator[PastCall]:
        """The calls of every session but that one that succeeded, with the request before them.

        With a `viewer`, only those of the sessions recorded of that viewer. The newest session comes first,
        read when the iterator gets there. Raises StoreError.
        """

    def tasks(self, *, but: str = "") -> Iterator[TaskCalls]:
        """What models called for each message of the user in every session but that one.

        Calls that failed count too, rejected ones do not: they were no calls. The newest session comes
        first, read when the iterator gets there. Raises StoreError.
        """


class ServerMemory(Protocol):
    """What Toolsight remembers about servers and configurations between sessions."""

    def era(self, fingerprint: str) -> Era | None: ...

    def remember_era(self, fingerprint: str, era: Era) -> None: ...

    def approved(self, ids: Collection[str]) -> Mapping[str, tuple[RunFile, ...]]:
        """Those of the consent items that a person approved, each with its files as they were then."""

    def approve(self, items: Collection[ConsentItem], source: str) -> None:
        """Store a person's approval of all of these; `source` names the file, for people who look."""

    def first_version(self, id: str, version: str) -> str:  # noqa: A002 - as consent items call it
        """The version that a server called itself by when it was connected first after its approval.

        That is this one if there was none, and for a server that needs no approval.
        """

    def snapshot(self, fingerprint: str) -> Snapshot | None:
        """The last known tools of the server with that fingerprint, or None."""

    def remember_tools(self, fingerprint: str, snapshot: Snapshot) -> Snapshot | None:
        """Keep the tools, in place of any earlier ones; return the earlier ones if they are others."""
