"""From the engine to the app: gathers single records into one update per burst."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Self

from inspector.core.events import AnswerStreamed, Record
from inspector.core.session import SessionState
from inspector.session.workbench import Workbench

KEPT_IN_FEED = 500


@dataclass(frozen=True)
class ReplayedState(SessionState):
    """A session at a past moment.

    `moment` names the moment for the header line; `source` is the session's id unless it is the running one.
    """

    moment: str = ""
    source: str = ""

    @classmethod
    def of(cls, state: SessionState, moment: str, source: str = "") -> Self:
        """Mark a state as replayed."""
        return cls(
            **{f.name: getattr(state, f.name) for f in fields(SessionState)}, moment=moment, source=source
        )


@dataclass(frozen=True, slots=True)
class View:
    """What every screen draws: the state and the newest events."""

    state: SessionState = SessionState()
    feed: tuple[Record, ...] = ()


class Bridge:
    """Follows a workbench and passes on one `View` per burst of records."""

    def __init__(
        self, bench: Workbench, soon: Callable[[Callable[[], None]], object], show: Callable[[View], None]
    ) -> None:
        """`soon` calls a function once, after the time for which records are gathered."""
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
            self._soon(self._flush)

    def _flush(self) -> None:
        self._waiting = False
        self._show(View(self._bench.state, self._feed))
