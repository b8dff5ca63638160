"""The same query under several rankers: tools as rows, rankers as columns, ranks as cells."""

from collections.abc import Iterator, Mapping, Sequence

from textual.content import Content

from inspector.app.draw.style import MUTED
from inspector.domain.number import count
from inspector.engine.discovery.explanation.ranker_comparison import ComparedTool, RankerComparison
from inspector.engine.discovery.explanation.standing import Standing
from inspector.engine.discovery.rankers.ranker_list import INFO, RANKERS
from widgets import Column, Record, middle, plain

# A column and the gap before it.
_CELL = 6 + 2
_TOOL = 24
_MARK = 1 + 2
_EDGES = 2


def order(current: str) -> tuple[str, ...]:
    """Return all rankers, the one in use first."""
    return (current, *(name for name in RANKERS if name != current))


def room(width: int) -> int:
    """Return how many rankers fit beside the tools' names in this many cells."""
    return min(max((width - _EDGES - _MARK - _TOOL) // _CELL, 1), len(RANKERS))


def window(names: Sequence[str], offset: int, count: int) -> tuple[str, ...]:
    """Return the rankers to show: the one in use, and `count - 1` of the others from `offset` on."""
    start = min(max(offset, 0), furthest(names, count))
    return (*names[:1], *names[1 + start : start + count])


def furthest(names: Sequence[str], count: int) -> int:
    """Return the last offset that still fills the window."""
    return max(len(names) - count, 0)


def columns(shown: Sequence[str]) -> tuple[Column, ...]:
    return (
        Column("tool", "tool", shorten="middle", min_width=14, weight=30),
        Column("mark", "", width=1, weight=20),
        *(
            Column(name, INFO[name].short or name, align="right", width=6, weight=19 - number)
            for number, name in enumerate(shown)
        ),
    )


def rows(comparison: RankerComparison, shown: Sequence[str], pinned: str) -> tuple[Record, ...]:
    """Return one row per tool; its best rank is bold, counting the rankers that are not shown."""
    return tuple(_row(row, comparison.names, shown, row.tool_id == pinned) for row in comparison.rows)


def _row(row: ComparedTool, names: Sequence[str], shown: Sequence[str], is_pinned: bool) -> Record:
    standings = dict(zip(names, row.standings, strict=True))
    best = min((standing.rank for standing in row.standings if standing.kept), default=0)
    return Record(
        row.tool_id,
        (
            row.tool_id,
            Content.styled("◆", "$accent") if is_pinned else "",
            *(_rank(standings.get(name), best) for name in shown),
        ),
        tone="accent" if is_pinned else "",
        copy=f"{row.tool_id}  " + "  ".join(_copied(name, standings) for name in names),
    )


def _rank(standing: Standing | None, best: int) -> Content:
    if standing is None:
        return Content.styled("…", MUTED)
    if not standing.kept:
        return Content.styled("–", MUTED)
    return Content.styled(str(standing.rank), "bold" if standing.rank == best else MUTED)


def _copied(name: str, standings: Mapping[str, Standing]) -> str:
    standing = standings[name]
    return f"{name} {standing.rank if standing.kept else '–'}"


def facts(
    query: str, comparison: RankerComparison | None, names: Sequence[str], shown: Sequence[str]
) -> Content:
    """Return the query, which rankers are shown, and how many are still running."""
    line = Content.assemble(("ranks for ", MUTED), plain(f"“{middle(query, 60)}”"))
    if comparison is None:
        return Content.assemble(line, "\n", ("ranking …   esc goes back", "$text-warning"))
    where = f"{count(len(comparison.rows), 'tool')}   rankers {len(shown)} of {len(names)}"
    more = "   ← → more rankers" if len(shown) < len(names) else ""
    pending = len(names) - len(comparison.names)
    waits = (f"   {count(pending, 'slow ranker')} to come", "$text-warning") if pending else ""
    return Content.assemble(line, "\n", (f"{where}{more}", MUTED), waits)


def legend(comparison: RankerComparison | None, shown: Sequence[str], pinned: str) -> Content:
    """Return what the signs mean, and the notes of the shown rankers."""
    marked = "   ◆ the tool you came from" if pinned else ""
    signs = Content.styled(f"bold: a tool's best rank   – not returned{marked}", MUTED)
    return Content("\n").join([signs, *(_notes(comparison, shown) if comparison is not None else ())])


def _notes(comparison: RankerComparison, shown: Sequence[str]) -> Iterator[Content]:
    names: dict[str, list[str]] = {}
    for name, note in zip(comparison.names, comparison.notes, strict=True):
        if note and name in shown:
            names.setdefault(note, []).append(name)
    for note, rankers in names.items():
        yield plain(f"{', '.join(rankers)}: {note}", limit=200, newlines=False).stylize("$text-warning")
