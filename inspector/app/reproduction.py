"""Where published tables are measured again, and the results so far."""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inspector.core.report import Section
    from inspector.research.source import Source


class Reproduction:
    """A source, and the sections measured on it in this session, by chapter id."""

    def __init__(self, open_source: "Callable[[], Source]") -> None:
        """The source is opened before the first measurement: few sessions need it."""
        self._open_source = open_source
        self.sections: dict[str, tuple[Section, ...]] = {}

    @cached_property
    def source(self) -> "Source":
        """What is measured on."""
        return self._open_source()

    def made(self) -> "tuple[Section, ...]":
        """Return every measured section, in report order."""
        return tuple(section for id_ in self.ids() for section in self.sections[id_])

    def ids(self) -> tuple[str, ...]:
        """Return the ids of the measured chapters, in report order."""
        from inspector.research.run import CHAPTERS

        return tuple(chapter.id for chapter in CHAPTERS if chapter.id in self.sections)
