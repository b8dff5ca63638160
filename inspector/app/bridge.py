"""From the engine to the app: records come in one by one, the app hears of them in bursts."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Protocol, Self

from inspector.domain.events import AnswerStreamed, Record
from inspector.domain.session import SessionState
from inspector.engine.workbench import Workbench

# Seconds in which records are gathered before the screen is drawn again.
INTERVAL = 0.03
KEPT_IN_FEED = 500


class Timers(Protocol):
    """What the bridge needs of the app."""

    def set_timer(self, delay: float, callback: Callable[[], None]) -> object: ...


@dataclass(frozen=True, slots=True)
class ReplayedState(SessionState):
    """A session at a moment of its past. `moment` and `source` say which, for the line at the top.

    `source` is the id of the session where it is not the one that runs.
    """

    moment: str = ""
    source: str = ""

    @classmethod
    def of(cls, state: SessionState, moment: str, source: str = "") -> Self:
        """The state, marked."""
        return cls(
            **{f.name: getattr(state, f.name) for f in fields(SessionState)}, moment=moment, source=source
        )


@dataclass(frozen=True, slots=True)
class View:
    """What every screen draws: the state, and the newest events."""

    session: SessionState = SessionState()
    feed: tuple[Record, ...] = ()


class Bridge:
    """Follows a workbench and hands on one `View` a burst, however many records came."""

    def __init__(self, bench: Workbench, timers: Timers, show: Callable[[View], None]) -> None:
        self._bench = bench
        self._timers = timers
        self._show = show
        self._feed: tuple[Record, ...] = ()
        self._waiting = False
        self._stop = bench.subscribe(self._on_record)

    def close(self) -> None:
        """Follow no longer."""
        self._stop()

    def _on_record(self, record: Record) -> None:
        if not isinstance(record.event, AnswerStreamed):
            self._feed = (*self._feed[-KEPT_IN_FEED + 1 :], record)
        if not self._waiting:
            self._waiting = True
            self._timers.set_timer(INTERVAL, self._flush)

    def _flush(self) -> None:
        self._waiting = False
        self._show(View(self._bench.state, self._feed))
