"""Where published tables are measured again, and the results so far."""

from dataclasses import dataclass, field

from inspector.domain.report import Section
from inspector.research.run import CHAPTERS
from inspector.research.source import Source


@dataclass(slots=True)
class Reproduction:
    """A source, and the sections measured on it in this session, by chapter id."""

    source: Source
    sections: dict[str, tuple[Section, ...]] = field(default_factory=dict)

    def made(self) -> tuple[Section, ...]:
        """Return every measured section, in report order."""
        return tuple(section for chapter in CHAPTERS for section in self.sections.get(chapter.id, ()))

    def ids(self) -> tuple[str, ...]:
        """Return the ids of the measured chapters, in report order."""
        return tuple(chapter.id for chapter in CHAPTERS if chapter.id in self.sections)
