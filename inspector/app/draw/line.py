"""Small things as lines: problems of settings, failures, changed definitions, events, suggestions, paths."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from textual.content import Content

from inspector.core.definition import DefinitionChange, shown_changes
from inspector.core.error import SettingProblem, Severity, ToolsightError
from inspector.core.events import Record as EventRecord
from inspector.core.marketplace import Suggestion, price_text
from inspector.core.number import count, percent, shown_moment
from inspector.core.report import Diff
from widgets import Column, Record, middle, plain, visible
from widgets.text import MUTED as MUTED

_GAP = "   "


def joined(pieces: Sequence[Content], width: int) -> Content:
    """Join as many pieces as fit into a line, always including the first."""
    kept = list(pieces)
    while len(kept) > 1 and Content(_GAP).join(kept).cell_length > width:
        kept.pop()
    return Content(_GAP).join(kept)


def progress_bar(share: float, cells: int) -> Content:
    """Draw a line of so many cells, as much of it done as the share says."""
    full = round(share * cells)
    return Content.assemble(("━" * full, "$primary"), ("━" * (cells - full), "$border"))


_LIMIT = 600


def failure_text(error: BaseException) -> tuple[str, str]:
    """Return a short title, and the message with its hint."""
    if isinstance(error, ToolsightError):
        parts = [error.message, error.hint]
        return "That did not work", visible("\n".join(filter(None, parts)), limit=_LIMIT)
    return f"Unexpected {type(error).__name__}", visible(str(error), limit=_LIMIT)


def failure_line(error: BaseException) -> Content:
    """Return an error as a line, to show in place of a result."""
    return Content.styled(": ".join(failure_text(error)), "$text-error")


def shown_path(source: str) -> str:
    """Return a path with `~` for the home folder; any other text stays as it is."""
    home = f"{Path.home()}{os.sep}"
    return f"~{os.sep}{source.removeprefix(home)}" if source.startswith(home) else source


def shown_place(path: Path, line: int) -> str:
    """Return a line of a file, which is named from the working directory if it is below that."""
    here = Path.cwd()
    name = str(path.relative_to(here)) if path.is_relative_to(here) else shown_path(str(path))
    return f"{name}, line {line}"


_MARKS = {
    Severity.ERROR: ("✕ ", "$text-error"),
    Severity.PENDING: ("… ", "$text-warning"),
    Severity.WARNING: ("⚠ ", "$text-warning"),
    Severity.UNCHECKED: ("… ", "$text-muted"),
}
_LONGEST = 400


def sign(problem: SettingProblem) -> Content:
    """Return the sign of a problem's severity, in its color."""
    text, color = _MARKS[problem.severity]
    return Content.styled(text.strip(), color)


def problem_line(problem: SettingProblem) -> Content:
    """Return what is wrong and what to do; only an error or a warning is in color."""
    shape, color = _MARKS[problem.severity]
    sentence = plain(f"{problem.sentence}.", newlines=False, limit=_LONGEST).stylize(color)
    hint = plain(problem.hint, newlines=False, limit=_LONGEST)
    return Content.assemble((shape, color), sentence, " " if problem.hint else "", hint)


def problem_lines(problems: Sequence[SettingProblem], most: int) -> list[Content]:
    """Return a line per problem, at most so many, and how many more there are."""
    lines = [problem_line(problem) for problem in problems[:most]]
    if len(problems) > most:
        lines.append(Content(f"… {count(len(problems) - most, 'more problem')} in the settings"))
    return lines


def problem_count(problems: Sequence[SettingProblem], *, is_short: bool = False) -> Content:
    """Return how many problems there are, with the sign of the worst; empty if there is none to act on."""
    pressing = [problem for problem in problems if problem.severity is not Severity.UNCHECKED]
    if not pressing:
        return Content("")
    sign, color = _MARKS[pressing[0].severity]
    what = "problem" if is_short else "setting problem"
    return Content.styled(f"{sign}{count(len(pressing), what)}", color)


_SIGNS = {"+": "$text-success", "-": "$text-error"}


def diff_lines(diff: Diff, *, whole: bool = True) -> Iterator[Content]:
    """Yield the title, and the lines that are gone or new, their sign or the `whole` of them in its color."""
    if diff.title:
        yield plain(diff.title, newlines=False).stylize("bold")
    for line in diff.lines:
        color = _SIGNS.get(line[:1])
        end = None if whole or color is None else 2
        yield plain(line, newlines=False).stylize(color or MUTED, 0, end)


def change_lines(changes: Sequence[DefinitionChange]) -> Iterator[Content]:
    """Yield what differs in a tool's definition, part by part."""
    return (line for diff in shown_changes(changes) for line in diff_lines(diff, whole=False))


TITLE = "in the marketplace, not installed"
_NAME, _FITS, _PRICE, _INDENT, _LONGEST_SUGGESTION = 24, 6, 15, 4, 400


def suggestion_lines(suggested: Sequence[Suggestion], width: int) -> list[Content]:
    """Return a title and a line of at most `width` cells for each plugin; nothing without any.

    Prices take room only where a plugin has one.
    """
    if not suggested:
        return []
    name = min(max(len(one.plugin) for one in suggested), _NAME)
    price = max(len(price_text(one.price)) for one in suggested)
    head = Content.styled(f"  ◇ {TITLE}"[:width], "$text-accent")
    return [head, *(_suggestion_line(one, name, min(price, _PRICE), width) for one in suggested)]


def _suggestion_line(one: Suggestion, name: int, price: int, width: int) -> Content:
    about = plain(one.description, newlines=False, limit=_LONGEST_SUGGESTION).stylize(MUTED)
    costs = f"  {price_text(one.price):<{price}} " if price else "  "
    room = max(width - _INDENT - name - _FITS - len(costs), 0)
    return Content.assemble(
        " " * _INDENT,
        middle(one.plugin, name).ljust(name),
        (f"{percent(one.similarity):>{_FITS}}", "bold"),
        (costs, MUTED),
        about.truncate(room, ellipsis=True) if room > 1 else "",
    )


COLUMNS = (
    Column("time", width=8, hide_below=50),
    Column("kind", width=10),
    Column("what", weight=5, min_width=16),
)
_SUMMARY_LIMIT = 500


def feed_rows(records: tuple[EventRecord, ...]) -> tuple[Record, ...]:
    """Return one row per event that is not routine."""
    return tuple(feed_row(record) for record in records if not record.event.is_routine)


def feed_row(record: EventRecord) -> Record:
    """Return an event in one line: time, kind, summary."""
    what = record.event.summary()[:_SUMMARY_LIMIT]
    at = Content(shown_moment(record.at, "%H:%M:%S"))
    return Record(str(record.seq), (at, record.kind, what), record.event.tone)
