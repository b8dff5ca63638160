"""Asks before a description is written into the source file of its server."""

from collections.abc import Sequence
from pathlib import Path

from textual.content import Content

from inspector.app.draw.finding import effect_lines
from inspector.app.draw.line import MUTED, shown_place
from inspector.config.file import server_files
from inspector.core.error import ConfigError
from inspector.core.server import ServerSpec
from inspector.core.tool import Tool
from inspector.measure.check.finding import Effect, Place
from inspector.measure.check.source_text import Replacement, place_of, replacement
from widgets import Choice, Confirm, plain

WRITE, COPY, DRAFT, NO = "write", "copy", "edit as a draft", "no"
# The safe answer comes first: it has the focus, so a second enter writes nothing.
_CHOICES = (Choice("e", DRAFT), Choice("c", COPY), Choice("y", WRITE), Choice("n", NO))
# The lines of a difference that name its files.
_HEAD = 2


def change_in_source(spec: ServerSpec, tool: Tool, description: str) -> tuple[Place, Replacement]:
    """Where a tool's description stands in its server's files, and that file with another one.

    Raises ConfigError with the reason if it stands nowhere, in several places, or cannot be written there.
    """
    files = server_files(spec)
    place = place_of(files, tool.description)
    if place is None:
        problem = "no source file of its server is known"
        if files:
            problem = "its description stands nowhere in its server's files, or in several places"
        raise ConfigError(problem, hint="This is a draft: ctrl+y copies it, x saves it.")
    return place, replacement(place.path, tool.description, description)


def question(place: Place, change: Replacement, tokens: int, effects: Sequence[Effect] = ()) -> Content:
    """Return the change as a difference, what it costs in tokens, and what it was measured to change."""
    where = Content.assemble((shown_place(place.path, place.line), "bold"), (f"   {tokens:+,} tokens", MUTED))
    lines = [line for line in change.difference.splitlines()[_HEAD:] if line.strip() and line[0] != "@"]
    measured = [line for effect in effects for line in effect_lines(effect)]
    return Content("\n").join(
        [where, Content(), *map(_line, lines), *([Content()] if measured else []), *measured]
    )


def _line(line: str) -> Content:
    style = {"+": "$text-success", "-": "$text-error"}.get(line[:1], MUTED)
    return plain(line, newlines=False, limit=2_000).stylize(style)


class SourceDialog(Confirm):
    """Shows what would be written, and returns one of the answers; esc means no."""

    DEFAULT_CSS = """
    SourceDialog {
        & > Vertical { width: 110; }
        &.-roomy .confirm--body { max-height: 60vh; }
    }
    """
    VERTICAL_BREAKPOINTS = [(0, "-low"), (34, "-roomy")]  # noqa: RUF012 - as Textual declares it

    def __init__(self, path: Path, body: Content) -> None:
        super().__init__(f"Write this into {path.name}?", body, _CHOICES, indent=2)
