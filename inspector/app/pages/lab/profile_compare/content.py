"""One scenario under several profiles: the totals of each, and its tool tokens in every model call."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from textual.content import Content

from inspector.app.draw.line import MUTED
from inspector.config.setting import PROFILES
from inspector.core.number import bar, count, money, percent, tokens
from inspector.scenario.comparison import (
    STATIC,
    AlignedCall,
    ProfileComparison,
    ScenarioResult,
    Totals,
    compare_profiles,
)
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
# The profile that the others are compared with.
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
    ("model calls", lambda totals: str(totals.model_calls)),
    ("definitions", lambda totals: tokens(totals.tool_tokens)),
    ("  + searches", lambda totals: tokens(totals.discovery_tokens)),
    ("all input", lambda totals: tokens(totals.input_tokens)),
    ("cost", lambda totals: _dollars(totals.dollars)),
    ("solved steps", lambda totals: str(totals.steps)),
    ("cost per step", lambda totals: _dollars(totals.dollars_per_step)),
    ("searches", lambda totals: str(totals.searches)),
    ("loads", lambda totals: str(totals.loads)),
    ("evictions", lambda totals: str(totals.evictions)),
    ("calls", lambda totals: str(totals.calls)),
    ("rejections", lambda totals: str(totals.rejections)),
    ("loops", lambda totals: str(totals.loops)),
    ("outcome", lambda totals: totals.outcome or "none"),
    ("redundant searches", lambda totals: str(totals.redundant)),
)
_AFTER_TOKENS = "  + searches"


def _dollars(amount: float | None) -> str:
    return "–" if amount is None else money(amount)


def order(names: Sequence[str]) -> tuple[str, ...]:
    """Return the profiles in the order they run and are shown: the base first."""
    first = (BASE,) if BASE in names else ()
    return (*first, *(name for name in PROFILES if name in names and name != BASE))


def compared(results: Mapping[str, ScenarioResult]) -> ProfileComparison:
    """Compare the results so far; a script is the same under every profile."""
    return compare_profiles(tuple(results.values()), scripted=True)


def choice_rows(
    chosen: frozenset[str], done: Mapping[str, ScenarioResult], running: str, failed: Mapping[str, str]
) -> tuple[Record, ...]:
    """Return the profiles with their state; chosen ones are marked."""
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
    """Return where the script or the scenario's own settings mislead, in at most `most` lines."""
    lines = [
        Content.styled(f"⚠ {visible(note, limit=200, newlines=False)}", "$text-warning")
        for note in found.notes
    ]
    if len(lines) > most:
        lines = [
            *lines[: most - 1],
            Content.styled(f"… and {len(lines) - most + 1} more notes", MUTED),
        ]
    return Content("\n").join(lines)


def room(width: int) -> int:
    """Return how many profiles fit into a table of this width."""
    return max((width - _EDGES - _LABEL) // _CELL, 1)


def window(names: Sequence[str], offset: int, count: int) -> tuple[str, ...]:
    """Return the profiles to show: the first, and `count - 1` of the others from `offset` on."""
    start = min(max(offset, 0), furthest(names, count))
    return (*names[:1], *names[1 + start : start + count])


def furthest(names: Sequence[str], count: int) -> int:
    """Return the last offset that still fills the table."""
    return max(len(names) - count, 0)


def table_columns(shown: Sequence[str]) -> tuple[Column, ...]:
    return (
        Column("measure", "", min_width=_LABEL, weight=30),
        *(
            Column(name, name, align="right", width=_CELL - 2, weight=20 - number)
            for number, name in enumerate(shown)
        ),
    )


def table_rows(results: Mapping[str, ScenarioResult], shown: Sequence[str]) -> tuple[Record, ...]:
    """Return one row per measure with a column per profile."""
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
    """Return the share of tokens saved compared with static binding."""
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
    """Return each profile's tool tokens by call, on one scale; calls are named `message.call`."""
    most = max((count or 0 for call in found.calls for count in call.tool_tokens), default=0)
    cells = max(width - _BAR_REST, _LEAST_BAR)
    return tuple(row for call in found.calls for row in _call_rows(found, call, most, cells))


def _call_rows(found: ProfileComparison, call: AlignedCall, most: int, cells: int) -> Iterator[Record]:
    for index, (row, sent) in enumerate(zip(found.rows, call.tool_tokens, strict=True)):
        number = f"{call.message}.{call.call}"
        first, key = number if not index else "", f"{number}:{row.profile}"
        if sent is None:
            ended = Content.styled("no more calls needed", MUTED)
            yield Record(key, (first, row.profile, ended, "–"), tone="muted")
            continue
        bar = Content.styled(_bar(sent, most, cells), _COLORS[index % len(_COLORS)])
        yield Record(key, (first, row.profile, bar, tokens(sent)), search=f"{number} {row.profile}")


def _bar(value: int, most: int, cells: int) -> str:
    return (bar(value / most, cells) or _SLIVER) if value and most else ""


def status(
    chosen: Sequence[str], done: Mapping[str, ScenarioResult], shown: Sequence[str], title: str
) -> Content:
    """Return the scenario, and what to do next or how many profiles ran."""
    name = Content.styled(visible(title, limit=60, newlines=False), "bold")
    if not done:
        what = "r runs it under each chosen profile" if chosen else "space chooses a profile"
        return Content.assemble(name, "   ", (what, MUTED))
    hidden = len(done) - sum(profile in done for profile in shown)
    more = f", ← → show {hidden} more" if hidden > 0 else ""
    return Content.assemble(name, "   ", (f"{count(len(done), 'profile')} ran{more}", MUTED))
