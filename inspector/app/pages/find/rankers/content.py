"""One query under every ranker: where a tool stands, and what each ranker finds first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from textual.content import Content

from inspector.app.draw.line import MUTED
from inspector.app.pages.find.pane import score
from inspector.core.number import count
from inspector.search.explanation.standing import Standings
from inspector.search.rankers.ranker_list import INFO, RANKERS
from widgets import Column, Record, middle, plain

COLUMNS = (
    Column("mark", "", width=1, weight=20),
    Column("ranker", "ranker", min_width=33, weight=8),
    Column("rank", "rank", align="right", width=4, weight=9),
    Column("first", "first result", shorten="name", min_width=12, weight=6),
)
# How many of a ranker's best tools its detail lists.
_LISTED = 15
_NOTE = "– not returned   ▸ in use   enter: formula and ranking"


@dataclass(frozen=True, slots=True)
class Ranked:
    """What one ranker answers: every tool's standing, over these tools."""

    standings: Standings
    tool_ids: tuple[str, ...]

    def rank(self, tool_id: str) -> int | None:
        """The rank of a tool, None if it is not returned."""
        if tool_id not in self.tool_ids:
            return None
        standing = self.standings[self.tool_ids.index(tool_id)]
        return standing.rank if standing.kept else None

    def best(self, number: int) -> tuple[tuple[str, float], ...]:
        """The first tools with their scores."""
        return tuple(
            (self.tool_ids[position], self.standings[position].value)
            for position in self.standings.kept(number)
        )


def order(current: str) -> tuple[str, ...]:
    """Return all rankers, the one in use first."""
    return (current, *(name for name in RANKERS if name != current))


def rows(names: Sequence[str], found: Mapping[str, Ranked], tool_id: str, current: str) -> tuple[Record, ...]:
    """Return a row per ranker; the best rank of the tool is bold, … is to come."""
    ranks = {name: ranked.rank(tool_id) for name, ranked in found.items()}
    best = min((rank for rank in ranks.values() if rank is not None), default=0)
    return tuple(_row(name, found.get(name), ranks.get(name), best, name == current) for name in names)


def _row(name: str, ranked: Ranked | None, rank: int | None, best: int, is_current: bool) -> Record:
    first = ranked.best(1) if ranked is not None else ()
    shown = "…" if ranked is None else "–" if rank is None else str(rank)
    style = "bold" if rank is not None and rank == best else MUTED if rank is None else ""
    return Record(
        name,
        (
            Content.styled("▸", "$accent") if is_current else "",
            INFO[name].stands_for,
            Content.styled(shown, style),
            first[0][0] if first else Content.styled("…" if ranked is None else "nothing", MUTED),
        ),
        copy=f"{name}  rank {shown}  first {first[0][0] if first else 'nothing'}",
    )


def facts(query: str, tool_id: str, names: Sequence[str], found: Mapping[str, Ranked]) -> Content:
    """Return the tool and the query, and how many rankers are still running."""
    name = plain(middle(tool_id, 40)).stylize("bold") if tool_id else Content("no tool chosen")
    line = Content.assemble(("rank of ", MUTED), name, (" for ", MUTED), plain(f"“{middle(query, 40)}”"))
    pending = len(names) - len(found)
    waits = f"   {count(pending, 'ranker')} left" if pending else ""
    return Content.assemble(line, "\n", (_NOTE, MUTED), (waits, "$text-warning"))


def notes(found: Mapping[str, Ranked]) -> Content:
    """Return what rankers had to do without."""
    by_note: dict[str, list[str]] = {}
    for name, ranked in found.items():
        if ranked.standings.ranking.note:
            by_note.setdefault(ranked.standings.ranking.note, []).append(name)
    lines = (
        plain(f"{', '.join(names)}: {note}", limit=200, newlines=False).stylize("$text-warning")
        for note, names in by_note.items()
    )
    return Content("\n").join(lines)


def detail(name: str, ranked: Ranked | None) -> str:
    """Return a ranker's formula and the tools that it finds first."""
    info = INFO[name]
    lines = [f"{info.name}: {info.about}", f"formula: {info.formula}", ""]
    if ranked is None:
        return "\n".join([*lines, "Still ranking."])
    best = ranked.best(_LISTED)
    lines += [f"{rank:>3}  {score(value):>9}  {tool_id}" for rank, (tool_id, value) in enumerate(best, 1)]
    return "\n".join(lines if best else [*lines, "It returns no tools for this query."])
