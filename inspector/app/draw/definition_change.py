"""What differs between two definitions of a tool, line by line."""

from collections.abc import Iterator, Sequence

from textual.content import Content

from inspector.app.draw.style import MUTED
from inspector.core.definition import DefinitionChange
from widgets import plain

_LINE = 400
_LINES = 60


def change_lines(changes: Sequence[DefinitionChange]) -> Iterator[Content]:
    """Yield each part that differs, its lines that are gone after a - and its new lines after a +."""
    room = _LINES
    for change in changes:
        yield Content.styled(change.part, "bold")
        for gone, new in change.lines[:room]:
            if gone:
                yield _line("- ", gone, "$text-error")
            if new:
                yield _line("+ ", new, "$text-success")
        if len(change.lines) > room:
            yield Content.styled(f"… and {len(change.lines) - room:,} more differences", MUTED)
        room = max(room - len(change.lines), 0)


def _line(sign: str, text: str, color: str) -> Content:
    return Content.assemble((sign, color), plain(text, limit=_LINE, newlines=False))
