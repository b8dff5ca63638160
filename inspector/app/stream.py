"""A session's records as a replay needs them: any range, the state at any record, and the timeline."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from threading import RLock
from typing import Self

from msgspec import Struct

from inspector.core.events import AnswerStreamed, Record
from inspector.core.fold import fold
from inspector.core.server import ServerPhase
from inspector.core.session import SessionState
from inspector.session.timeline import Timeline
from inspector.session.workbench import Workbench

KEPT_IN_FEED = 500
LIVE = "live"
"""The moment that is the newest one of a session that another program records."""


class ReplayedState(SessionState, frozen=True, dict=True):
    """A session at a past moment.

    `moment` names the moment for the header line; `source` is the session's id unless it is the running one.
    """

    moment: str = ""
    source: str = ""

    @classmethod
    def of(cls, state: SessionState, moment: str, source: str = "") -> Self:
        """Mark a state as replayed."""
        return cls(
            **{name: getattr(state, name) for name in SessionState.__struct_fields__},
            moment=moment,
            source=source,
        )


class View(Struct, frozen=True):
    """What every screen draws: the state and the newest events."""

    state: SessionState = SessionState()
    feed: tuple[Record, ...] = ()


# Seconds in which records are gathered before the page is drawn again: while a hundred servers connect, time
# is left for keys.
_GATHERED, _GATHERED_AS_SERVERS_CONNECT = 0.06, 0.1


class Bridge:
    """Follows a workbench and passes on one `View` per burst of records."""

    def __init__(
        self,
        bench: Workbench,
        soon: Callable[[Callable[[], None], float], object],
        show: Callable[[View], None],
    ) -> None:
        """`soon` calls a function once, after so many seconds, in which records are gathered."""
        self._bench = bench
        self._soon = soon
        self._show = show
        self._feed: tuple[Record, ...] = ()
        self._waiting = False
        self._stop = bench.subscribe(self._on_record)

    def close(self) -> None:
        """Stop following."""
        self._stop()

    def _on_record(self, record: Record) -> None:
        if self._feed and self._feed[-1].session != record.session:
            self._feed = ()
        if not isinstance(record.event, AnswerStreamed):
            self._feed = (*self._feed[-KEPT_IN_FEED + 1 :], record)
        if not self._waiting:
            self._waiting = True
            servers = self._bench.state.servers.values()
            connecting = any(server.phase is ServerPhase.CONNECTING for server in servers)
            self._soon(self._flush, _GATHERED_AS_SERVERS_CONNECT if connecting else _GATHERED)

    def _flush(self) -> None:
        self._waiting = False
        self._show(View(self._bench.state, self._feed))


CHECKPOINT = 500
# Records are read again in blocks of so many, of which so many stay in memory.
_BLOCK, _BLOCKS = 250, 12

Reader = Callable[[int, int], Sequence[Record]]
"""Reads the records with a number above the first and up to the second one."""


class Stream:
    """A session's numbers and timeline in memory, and its records as they are asked for.

    A state is folded from the last checkpoint before it, or from the last state that was asked for. There is
    a checkpoint every 500 records, made when first needed, so the first look far into a long session takes
    longest. Everything may be called from any thread.
    """

    def __init__(self, session_id: str, read: Reader, records: Iterable[Record] = (), last: int = 0) -> None:
        """`records` are all up to number `last`, or at least those that a timeline is made of.

        `read` is asked again for records that were given to `extend`, so it has to have them by then.
        """
        self.session_id = session_id
        self.is_live = False
        """Whether another program was still recording it when it was read last."""
        self.timeline = Timeline()
        self.last = last
        """The number of the newest record, 0 if there is none."""
        self.between = read
        self._cached = lru_cache(_BLOCKS)(read)
        self._checkpoints = [SessionState()]
        self._last = (0, SessionState())
        self._lock = RLock()
        self.extend(records)

    def extend(self, records: Iterable[Record]) -> None:
        """Append new records."""
        for record in records:
            self.timeline.after(record)
            self.last = max(self.last, record.seq)

    def until(self, seq: int) -> Iterator[Record]:
        """The records up to and including that number, a block of them in memory at a time."""
        return self._between(0, seq)

    def state(self, seq: int) -> SessionState:
        """The state after the record of that number."""
        end = min(seq, self.last)
        wanted = end // CHECKPOINT
        with self._lock:
            while len(self._checkpoints) <= wanted:
                start = (len(self._checkpoints) - 1) * CHECKPOINT
                part = self._between(start, start + CHECKPOINT)
                self._checkpoints.append(fold(part, self._checkpoints[-1]))
            start, state = wanted * CHECKPOINT, self._checkpoints[wanted]
            if start < self._last[0] <= end:
                start, state = self._last
            self._last = (end, fold(self._between(start, end), state))
            return self._last[1]

    def feed(self, seq: int) -> tuple[Record, ...]:
        """The newest events at that moment, as the bridge gathers them."""
        end = min(seq, self.last)
        newest: list[Record] = []
        while end and len(newest) < KEPT_IN_FEED:
            start = max((end - 1) // _BLOCK * _BLOCK, 0)
            part = [one for one in self._between(start, end) if not isinstance(one.event, AnswerStreamed)]
            newest, end = [*part, *newest], start
        return tuple(newest[-KEPT_IN_FEED:])

    def seq_of(self, column: int) -> int:
        """The record number of a timeline column: its model call, or the end."""
        calls = self.timeline.calls
        return calls[column - 1].seq if 0 < column <= len(calls) else self.last

    def _between(self, start: int, end: int) -> Iterator[Record]:
        end = min(end, self.last)
        while start < end:
            first = start // _BLOCK * _BLOCK
            # A block that still grows is read anew once it has grown.
            block = self._cached(first, min(first + _BLOCK, self.last))
            yield from (record for record in block if start < record.seq <= end)
            start = first + _BLOCK
