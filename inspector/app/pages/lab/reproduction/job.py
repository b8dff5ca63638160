"""What the reproduction page knows: where it measures, what is measured by now, and how far a run is."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from inspector.domain.report import Section
from inspector.research.run import CHAPTERS
from inspector.research.source import Source


@dataclass(slots=True)
class Reproduction:
    """A source, and what was measured on it in this session, by the id of the chapter."""

    source: Source
    sections: dict[str, tuple[Section, ...]] = field(default_factory=dict)

    def made(self) -> tuple[Section, ...]:
        """Everything measured by now, in the order of a report."""
        return tuple(section for chapter in CHAPTERS for section in self.sections.get(chapter.id, ()))

    def ids(self) -> tuple[str, ...]:
        """The chapters that are measured, in the order of a report."""
        return tuple(chapter.id for chapter in CHAPTERS if chapter.id in self.sections)


@dataclass(frozen=True, slots=True)
class Step:
    """What is being done in a chapter; a `total` of 0 is unknown."""

    what: str
    done: int = 0
    total: int = 0


class ReproduceJob:
    """One run at a time. Runs are numbered, so that what an earlier one still says is passed over."""

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
        """The chapter that is being measured; "" when none is."""
        return self.waiting[0] if self.waiting else ""

    def begin(self, ids: Sequence[str]) -> int:
        """A run of these chapters starts; its number."""
        self.number += 1
        self.waiting = tuple(ids)
        self.step = None
        self.is_stopping = False
        self.stopped -= frozenset(ids)
        self.failed -= frozenset(ids)
        return self.number

    def report(self, number: int, what: str, done: int, total: int) -> None:
        """A step of the current chapter; may be called from any thread."""
        if number == self.number:
            self.step = Step(what, done, total)

    def arrive(self, number: int, chapter: str) -> None:
        """A chapter is measured."""
        if number == self.number:
            self.waiting = tuple(id_ for id_ in self.waiting if id_ != chapter)
            self.step = None

    def finish(self, number: int, *, has_failed: bool = False) -> None:
        """The run is over; what still waits was stopped, and the first of it may have failed."""
        if number != self.number:
            return
        if has_failed:
            self.failed |= frozenset(self.waiting[:1])
        self.stopped |= frozenset(self.waiting) - self.failed
        self.waiting, self.step, self.is_stopping = (), None, False
