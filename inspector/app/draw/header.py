"""The line at the top of every page."""

from collections.abc import Iterator
from pathlib import PurePath

from textual.content import Content

from inspector.app.bridge import ReplayedState
from inspector.app.draw.problem import problem_count
from inspector.app.draw.style import MUTED
from inspector.domain.number import count
from inspector.domain.session import SessionState
from widgets import middle, plain

_GAP = "   "


def header(session: SessionState, width: int) -> Content:
    """Return model, toolset, configuration and profile as far as they fit, then the counts, always.

    A replay is marked first.
    """
    counts = _counts(session)
    title = [Content.styled("Toolsight", "bold $primary"), *_replay(session, width)]
    room = width - 2 - sum(piece.cell_length + len(_GAP) for piece in title) - counts.cell_length - len(_GAP)
    facts = [
        ("", session.model_label),
        ("toolset ", session.toolset or "all"),
        ("", PurePath(session.config).name),
        ("profile ", session.profile),
    ]
    shown: list[Content] = []
    for label, value in facts:
        text = middle(value, max(room - len(label), 0))
        if not value or len(text) < min(len(value), 12):
            continue
        piece = Content.assemble((label, MUTED), plain(text, newlines=False))
        room -= piece.cell_length + len(_GAP)
        shown.append(piece)
    left = Content(_GAP).join([*title, *shown])
    gap = max(width - 2 - left.cell_length - counts.cell_length, 1)
    return Content.assemble(left, " " * gap, counts)


def _counts(session: SessionState) -> Content:
    """The servers and tools, after the problems of the settings, if there are any."""
    total = len(session.servers)
    counts = f"{session.ready_servers}/{count(total, 'server')}   {count(len(session.tools), 'tool')}"
    ready = "$text-success" if total and session.ready_servers == total else "$text-warning"
    problems = problem_count(session.problems)
    return Content.assemble(problems, _GAP if problems else "", (counts, ready))


def _replay(session: SessionState, width: int) -> Iterator[Content]:
    if not isinstance(session, ReplayedState):
        return
    source = middle(session.source, max(width // 5, 8))
    mark = Content(f" REPLAY {session.moment}{'  ' if source else ''}{source} ")
    yield Content.assemble(mark.stylize("bold $background on $warning"), (" f10, then l: live", MUTED))
