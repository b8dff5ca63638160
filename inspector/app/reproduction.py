"""Where published tables are measured again, and what is measured by now."""

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
