"""The texts of the telemetry page: its groups, its tables, the board of breakers and the backlog."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from textual.content import Content

from inspector.app.draw.line import MUTED
from inspector.app.draw.table import fact, table_lines
from inspector.clients.miss import Backlog
from inspector.core.breaker import BreakerState, BreakerStatus
from inspector.core.number import bar, count, percent, shown_moment
from inspector.core.report import Section, Table
from inspector.measure.telemetry.gathering import Telemetry
from inspector.measure.telemetry.section import MOST, overview, sections
from widgets import plain

GROUPS = ("discovery", "tools", "latency", "failures", "inertia", "backlog")
READING = "Reading …"
NOTHING = (
    "No searches or calls in this session yet. Press 1 and ask something in Chat, "
    "or press a to see all recorded sessions."
)
NO_SESSIONS = "No sessions recorded yet. Press 1 for Chat, or press i on the sessions page to import some."
EMPTY = {
    "inertia": "No predictions recorded: only the stack profile predicts which tool comes next.",
    "backlog": "No unmet requests: every search, if any, led to a call.",
}
NO_BREAKER = "No circuit breaker has changed state. The stack profile turns them on."
_LONGEST, _BAR, _LABELS, _TOOLS = 200, 10, 16, 4
_TIME, _DAY_AND_TIME = "%H:%M:%S", "%Y-%m-%d %H:%M:%S"
_SIGNS = {
    BreakerState.CLOSED: ("✓ closed", "$text-success"),
    BreakerState.HALF_OPEN: ("◐ half-open", "$text-warning"),
    BreakerState.OPEN: ("✕ open", "$text-error"),
}


@dataclass(frozen=True, slots=True)
class Shown:
    """What the page draws, computed in a thread: of one session, or of all."""

    overview: str
    sections: tuple[Section, ...]
    breakers: tuple[BreakerStatus, ...]
    backlog: tuple[Backlog, ...]
    is_all: bool
    is_empty: bool

    @staticmethod
    def of(gathered: Telemetry, *, is_all: bool) -> "Shown":
        """Take what is drawn of the statistics."""
        used = gathered.turns or gathered.discovery.searches or gathered.calls.all.calls.count
        return Shown(
            overview(gathered),
            sections(gathered),
            tuple(gathered.reliability.breakers.values()),
            gathered.discovery.backlog.groups[:MOST],
            is_all,
            not used,
        )


def scope(shown: Shown | None, *, is_all: bool, progress: tuple[int, int] = (0, 0)) -> Content:
    """Return whose numbers these are, and how far they are read."""
    names = [("this session", not is_all), ("all sessions", is_all)]
    choice = Content("   ").join(
        Content.styled(f"● {name}", "bold") if chosen else Content.styled(f"○ {name}", MUTED)
        for name, chosen in names
    )
    done, total = progress
    if total:
        told = Content(f"Reading {done:,} of {count(total, 'session')}. esc stops.")
    else:
        told = Content(READING) if shown is None else plain(shown.overview, newlines=False)
    return Content.assemble(choice, "\n", told)


def page(shown: Shown, group: str, width: int) -> Content:
    """Return one group of numbers."""
    if shown.is_empty:
        return Content(NO_SESSIONS if shown.is_all else NOTHING)
    section = next(one for one in shown.sections if one.id == group)
    return Content("\n").join(_lines(shown, section, width))


def _lines(shown: Shown, section: Section, width: int) -> Iterator[Content]:
    if section.id == "backlog" and shown.backlog:
        yield from _backlog(shown.backlog, width)
        return
    if section.id == "failures":
        yield from _board(shown.breakers, width, _DAY_AND_TIME if shown.is_all else _TIME)
        yield Content()
    elif not section.tables:
        yield from Content(EMPTY.get(section.id, NOTHING)).wrap(max(width, 1))
    for number, table in enumerate(one for one in section.tables if one.headers[0] != "breaker"):
        if number:
            yield Content()
        yield from _table(table, width)


def _table(table: Table, width: int) -> Iterator[Content]:
    if table.title:
        yield Content.styled(table.title, "bold")
    yield from table_lines(table, width)
    for note in table.notes:
        yield from Content.styled(note, MUTED).wrap(max(width, 1))


def _board(breakers: Sequence[BreakerStatus], width: int, form: str) -> Iterator[Content]:
    """The breakers: state, failure rate as a bar, since when, and when a call tries it again."""
    yield Content.styled("Breakers", "bold")
    if not breakers:
        yield from Content.styled(NO_BREAKER, MUTED).wrap(max(width, 1))
        return
    names = min(max(len(one.name) for one in breakers), max(width // 3, _LABELS))
    for one in sorted(breakers, key=lambda each: (list(_SIGNS).index(each.state), each.name), reverse=True):
        yield from _breaker(one, names, width, form)


def _breaker(one: BreakerStatus, names: int, width: int, form: str) -> Iterator[Content]:
    sign, style = _SIGNS[one.state]
    rate = f"{percent(one.failure_rate)} of {count(one.calls, 'call')} failed" if one.calls else ""
    filled = bar(one.failure_rate, _BAR)
    again = f"retry at {shown_moment(one.until, _TIME)}" if one.until else ""
    since = f"since {shown_moment(one.since, form)}"
    yield Content.assemble(
        plain(one.name, newlines=False).truncate(names, ellipsis=True, pad=True),
        "  ",
        (f"{sign:<13}", style),
        (f"{filled:<{_BAR}}", style),
        f"  {rate}",
    )
    told = ", ".join(filter(None, (since, again, one.why, _times(one))))
    for line in plain(told, limit=_LONGEST * 2, newlines=False).wrap(max(width - 2, 1)):
        yield Content.assemble("  ", line.stylize(MUTED))


def _times(one: BreakerStatus) -> str:
    return f"opened {count(one.opened, 'time')}" if one.opened > 1 else ""


def _backlog(groups: Sequence[Backlog], width: int) -> Iterator[Content]:
    """Each request that was not served: how often, the words of it, and what was found and called instead."""
    for number, one in enumerate(groups):
        if number:
            yield Content()
        where = f"in {count(len(one.sessions), 'session')}, last {shown_moment(one.last)} UTC"
        yield Content.assemble((f"{count(one.count, 'search', 'searches')} ", "bold"), (where, MUTED))
        queries = plain("; ".join(one.queries), limit=_LONGEST, newlines=False)
        yield fact("searched for", queries, _LABELS, width)
        became = ", ".join(f"{times:,}x {cause}" for cause, times in one.causes.most_common())
        yield fact("outcome", Content(became), _LABELS, width)
        for label, tools in (("found", one.found), ("called instead", one.called)):
            if tools:
                told = ", ".join(tool for tool, _ in tools.most_common(_TOOLS))
                yield fact(label, plain(told, limit=_LONGEST, newlines=False), _LABELS, width)
