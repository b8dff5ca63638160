"""One scenario under several profiles: what each came to, and what its tools cost in every model call."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from textual.content import Content

from inspector.app.draw.style import MUTED
from inspector.domain.number import bar, count, percent, tokens
from inspector.domain.profile import PROFILES
from inspector.engine.scenario.profile_comparison import (
    STATIC,
    AlignedCall,
    ProfileComparison,
    compare_profiles,
)
from inspector.engine.scenario.run import ScenarioResult
from inspector.engine.scenario.totals import Totals
from widgets import Column, Record, visible

CHOICE_COLUMNS = (
    Column("mark", width=1, weight=9),
    Column("name", weight=8, min_width=9),
    Column("state", weight=1, min_width=7),
)
BAR_COLUMNS = (
    Column("call", "call", align="right", weight=9),
    Column("profile", "profile", weight=8, min_width=9),
    Column("bar", "", weight=1, min_width=4),
    Column("tokens", "tokens", align="right", weight=7),
)
# The one that the others are held against.
BASE = STATIC
_LABEL = 18
_CELL = 9 + 2
_EDGES = 4
_BAR_REST = 5 + 9 + 6 + 3 * 2 + 4
_LEAST_BAR = 4
_COLORS = ("$text-primary", "$text-accent", "$text-success", "$text-secondary", "$text-warning")
_SLIVER = "▏"
_WAITS = "…"

Measure = Callable[[Totals], str]
_MEASURES: tuple[tuple[str, Measure], ...] = (
    ("model calls", lambda one: str(one.model_calls)),
    ("tool tokens, first", lambda one: tokens(one.costs[0].tool_tokens) if one.costs else "–"),
    ("tool tokens, last", lambda one: tokens(one.costs[-1].tool_tokens) if one.costs else "–"),
    ("tool tokens, all", lambda one: tokens(one.tool_tokens)),
    ("searches", lambda one: str(one.searches)),
    ("loads", lambda one: str(one.loads)),
    ("evictions", lambda one: str(one.evictions)),
    ("calls", lambda one: str(one.calls)),
    ("rejections", lambda one: str(one.rejections)),
    ("loops", lambda one: str(one.loops)),
    ("outcome", lambda one: one.outcome or "none"),
    ("nothing new found", lambda one: str(one.redundant)),
)
_AFTER_TOKENS = "tool tokens, all"


def order(names: Sequence[str]) -> tuple[str, ...]:
    """Profiles as they are run and shown: the base first, the others in their own order."""
    first = (BASE,) if BASE in names else ()
    return (*first, *(name for name in PROFILES if name in names and name != BASE))


def compared(results: Mapping[str, ScenarioResult]) -> ProfileComparison:
    """The results so far; a script says the same under every profile."""
    return compare_profiles(tuple(results.values()), scripted=True)


def choice_rows(
    chosen: frozenset[str], done: Mapping[str, ScenarioResult], running: str, failed: Mapping[str, str]
) -> tuple[Record, ...]:
    """The profiles with a check mark where chosen, and how far each is."""
    return tuple(
        Record(
            name,
            ("✓" if name in chosen else "·", name, _state(name, done, running, failed)),
            tone="error" if name in failed else "" if name in chosen else "muted",
        )
        for name in order(tuple(PROFILES))
    )


def _state(name: str, done: Mapping[str, ScenarioResult], running: str, failed: Mapping[str, str]) -> str:
    if name == running:
        return "running"
    return "failed" if name in failed else "done" if name in done else ""


def notes(found: ProfileComparison, most: int) -> Content:
    """Where the script, or the scenario's own settings, mislead; in so many lines at most."""
    lines = [
        Content.styled(f"⚠ {visible(note, limit=200, newlines=False)}", "$text-warning")
        for note in found.notes
    ]
    if len(lines) > most:
        lines = [
            *lines[: most - 1],
            Content.styled(f"… and {len(lines) - most + 1} more like these", MUTED),
        ]
    return Content("\n").join(lines)


def room(width: int) -> int:
    """How many profiles a table of so many cells shows."""
    return max((width - _EDGES - _LABEL) // _CELL, 1)


def window(names: Sequence[str], offset: int, count: int) -> tuple[str, ...]:
    """The profiles to show: the first always, of the others `count - 1` from `offset` on."""
    start = min(max(offset, 0), furthest(names, count))
    return (*names[:1], *names[1 + start : start + count])


def furthest(names: Sequence[str], count: int) -> int:
    """The last offset that still fills the table."""
    return max(len(names) - count, 0)


def table_columns(shown: Sequence[str]) -> tuple[Column, ...]:
    return (
        Column("measure", "", min_width=_LABEL, weight=30),
        *(
            Column(name, name, align="right", width=_CELL - 2, weight=20 - place)
            for place, name in enumerate(shown)
        ),
    )


def table_rows(results: Mapping[str, ScenarioResult], shown: Sequence[str]) -> tuple[Record, ...]:
    """A row a measure, a column a profile."""
    if not results:
        return ()
    rows = []
    for label, measure in _MEASURES:
        cells = (measure(results[name].totals) if name in results else _WAITS for name in shown)
        rows.append(Record(label, (label, *cells)))
        if label == _AFTER_TOKENS:
            rows.append(_saved_row(compared(results), shown))
    cells = (_met(results[name]) if name in results else _WAITS for name in shown)
    return (*rows, Record("expected", ("expectations met", *cells), tone="muted"))


def _saved_row(found: ProfileComparison, shown: Sequence[str]) -> Record:
    """What was saved of the tokens that binding everything costs."""
    shares = {row.profile: row.saved for row in found.rows}
    cells = (_share(shares[name], name) if name in shares else _WAITS for name in shown)
    return Record("saved", ("  saved", *cells))


def _share(saved: float | None, name: str) -> Content | str:
    if saved is None or name == BASE:
        return "–"
    return Content.styled(percent(saved), "bold $text-success" if saved > 0 else "$text-warning")


def _met(result: ScenarioResult) -> str:
    return f"{sum(finding.met for finding in result.findings)} of {len(result.findings)}"


def bar_rows(found: ProfileComparison, width: int) -> tuple[Record, ...]:
    """Call by call, what each profile paid for its tools, all on one scale; calls are `message.call`."""
    most = max((count or 0 for call in found.calls for count in call.tool_tokens), default=0)
    cells = max(width - _BAR_REST, _LEAST_BAR)
    return tuple(row for call in found.calls for row in _call_rows(found, call, most, cells))


def _call_rows(found: ProfileComparison, call: AlignedCall, most: int, cells: int) -> Iterator[Record]:
    for place, (row, sent) in enumerate(zip(found.rows, call.tool_tokens, strict=True)):
        number = f"{call.message}.{call.call}"
        first, key = number if not place else "", f"{number}:{row.profile}"
        if sent is None:
            ended = Content.styled("needed no more calls", MUTED)
            yield Record(key, (first, row.profile, ended, "–"), tone="muted")
            continue
        bar = Content.styled(_bar(sent, most, cells), _COLORS[place % len(_COLORS)])
        yield Record(key, (first, row.profile, bar, tokens(sent)), search=f"{number} {row.profile}")


def _bar(value: int, most: int, cells: int) -> str:
    return (bar(value / most, cells) or _SLIVER) if value and most else ""


def status(
    chosen: Sequence[str], done: Mapping[str, ScenarioResult], shown: Sequence[str], title: str
) -> Content:
    """The scenario, and what to do next or what came of it."""
    name = Content.styled(visible(title, limit=60, newlines=False), "bold")
    if not done:
        what = "r runs it under each of the chosen profiles" if chosen else "space chooses a profile"
        return Content.assemble(name, "   ", (what, MUTED))
    hidden = len(done) - sum(one in done for one in shown)
    more = f", ← → shows {hidden} more" if hidden > 0 else ""
    return Content.assemble(name, "   ", (f"{count(len(done), 'profile')} ran{more}", MUTED))
