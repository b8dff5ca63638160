"""The progress of a run of the reproduction page."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """The current step of a chapter; a `total` of 0 is unknown."""

    what: str
    done: int = 0
    total: int = 0


class ReproduceJob:
    """One run at a time. Runs are numbered, so that late reports of an earlier run are ignored."""

    def __init__(self) -> None:
        self.number = 0
        self.waiting: tuple[str, ...] = ()
        self.step: Step | None = None
        self.stopped: frozenset[str] = frozenset()
        self.failed: frozenset[str] = frozenset()
        self.is_stopping = False

    @property
    def is_running(self) -> bool:
        return bool(self.waiting)

    @property
    def current(self) -> str:
        """The chapter being measured, "" if none is."""
        return self.waiting[0] if self.waiting else ""

    def begin(self, ids: Sequence[str]) -> int:
        """Start a run of these chapters; return its number."""
        self.number += 1
        self.waiting = tuple(ids)
        self.step = None
        self.is_stopping = False
        self.stopped -= frozenset(ids)
        self.failed -= frozenset(ids)
        return self.number

    def report(self, number: int, what: str, done: int, total: int) -> None:
        """Take a step of the current chapter; callable from any thread."""
        if number == self.number:
            self.step = Step(what, done, total)

    def arrive(self, number: int, chapter: str) -> None:
        """Take a measured chapter."""
        if number == self.number:
            self.waiting = tuple(id_ for id_ in self.waiting if id_ != chapter)
            self.step = None

    def finish(self, number: int, *, has_failed: bool = False) -> None:
        """End the run; the chapters still waiting were stopped, and the first of them may have failed."""
        if number != self.number:
            return
        if has_failed:
            self.failed |= frozenset(self.waiting[:1])
        self.stopped |= frozenset(self.waiting) - self.failed
        self.waiting, self.step, self.is_stopping = (), None, False
