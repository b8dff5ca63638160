"""One query under every ranker, where one can be chosen."""

from collections.abc import Mapping, Sequence
from functools import partial

from msgspec import Struct
from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from inspector.app.context import Job
from inspector.app.dialogs.detail import DetailScreen
from inspector.app.draw.line import MUTED, failure_line
from inspector.core.number import count
from inspector.features.search.facts import score
from inspector.features.search.search_job import NO_QUERY, Pane, Topic
from inspector.search.answer.standing import Standings, standings_under
from inspector.search.ranker.catalog_rankers import CatalogRankers
from inspector.search.ranker.ranker_list import INFO, RANKERS
from widgets import Column, Record, RecordList, middle, plain

COLUMNS = (
    Column("mark", "", width=1, weight=20),
    Column("ranker", "ranker", min_width=33, weight=8),
    Column("rank", "rank", align="right", width=4, weight=9),
    Column("first", "first result", shorten="name", min_width=12, weight=6),
)
# How many of a ranker's best tools its detail lists.
_LISTED = 15


class Ranked(Struct, frozen=True):
    """What one ranker answers: every tool's standing, over these tools."""

    standings: Standings
    tool_ids: tuple[str, ...]

    def rank(self, tool_id: str) -> int | None:
        """The rank of a tool, None if it is not returned."""
        if tool_id not in self.tool_ids:
            return None
        standing = self.standings[self.tool_ids.index(tool_id)]
        return standing.rank if standing.kept else None

    def best(self, number: int) -> list[tuple[str, float]]:
        """The first tools with their scores."""
        kept = self.standings.kept(number)
        return [(self.tool_ids[position], self.standings[position].value) for position in kept]


def order(current: str) -> tuple[str, ...]:
    """Return all rankers, the one in use first."""
    return (current, *(name for name in RANKERS if name != current))


def rows(names: Sequence[str], found: Mapping[str, Ranked], tool_id: str, current: str) -> tuple[Record, ...]:
    """Return a row per ranker; the best rank of the tool is bold, … is to come."""
    ranks = {name: ranked.rank(tool_id) for name, ranked in found.items()}
    best = min((rank for rank in ranks.values() if rank is not None), default=0)
    return tuple(_row(name, found.get(name), ranks.get(name), best, name == current) for name in names)


def _row(name: str, ranked: Ranked | None, rank: int | None, best: int, is_current: bool) -> Record:
    first = next((tool_id for tool_id, _ in ranked.best(1)), "") if ranked is not None else ""
    shown = "…" if ranked is None else "–" if rank is None else str(rank)
    style = "bold" if rank is not None and rank == best else MUTED if rank is None else ""
    cells = (
        Content.styled("▸", "$accent") if is_current else "",
        INFO[name].stands_for,
        Content.styled(shown, style),
        first or Content.styled("…" if ranked is None else "nothing", MUTED),
    )
    return Record(name, cells, copy=f"{name}  rank {shown}  first {first or 'nothing'}")


def facts(query: str, tool_id: str, names: Sequence[str], found: Mapping[str, Ranked]) -> Content:
    """Return the tool and the query, and how many rankers are still running."""
    name = plain(middle(tool_id, 40)).stylize("bold") if tool_id else Content("no tool chosen")
    line = Content.assemble(("rank of ", MUTED), name, (" for ", MUTED), plain(f"“{middle(query, 40)}”"))
    pending = len(names) - len(found)
    waits = f"   {count(pending, 'ranker')} left" if pending else ""
    note = "– not returned   ▸ in use   u uses it   enter: its formula"
    return Content.assemble(line, "\n", (note, MUTED), (waits, "$text-warning"))


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


class RankersPane(Pane):
    """Follows the person's tool, or the cursor of the list where there is none."""

    first = ("#rankers-list RecordRows",)

    def __init__(self) -> None:
        super().__init__(id="rankers")
        self._shown: object = None
        self._topic = Topic()
        self._names: tuple[str, ...] = RANKERS
        self._found: dict[str, Ranked] = {}

    def compose(self) -> ComposeResult:
        yield Static(id="rankers-facts")
        yield RecordList(COLUMNS, header=True, empty=NO_QUERY, id="rankers-list")
        yield Static(id="rankers-notes")

    @property
    def tool_id(self) -> str:
        hit = self._topic.hit
        return self._topic.tool_id or (hit.tool_id if hit is not None else "")

    @property
    def ranker(self) -> str:
        """The ranker under the cursor."""
        current = self.query_one("#rankers-list", RecordList).current
        return current.key if current is not None else ""

    def show(self, topic: Topic) -> None:
        self._topic = topic
        rankers, query = self.retrieval.rankers, topic.request.query
        asked = (query, self.retrieval.settings, rankers.index)
        if asked != self._shown:
            self._shown, self._found = asked, {}
            self._names = order(self.retrieval.ranker_name)
            self._rank(rankers, query)
        self._draw()

    def _rank(self, rankers: CatalogRankers, query: str) -> None:
        if not query.strip():
            self.drop_job("rankers")
            return
        tool_ids = tuple(tool.id for tool in rankers.index.tools)
        names = sorted(self._names, key=lambda name: INFO[name].slow)

        def rank(job: Job) -> None:
            for name in names:
                if job.stopped():
                    return
                ranked = Ranked(standings_under(rankers, query, name), tool_ids)
                job.tell(partial(show, name, ranked))

        def show(name: str, ranked: Ranked) -> None:
            self._found[name] = ranked
            self._draw()

        def failed(error: Exception) -> None:
            self.write(failure_line(error), "#rankers-facts")

        self.run_job("rankers", rank, lambda _: None, failed=failed)

    def _draw(self) -> None:
        query = self._topic.request.query
        listed = self.query_one("#rankers-list", RecordList)
        if not query.strip():
            listed.records = ()
            self.write("", "#rankers-facts")
            return
        listed.records = rows(self._names, self._found, self.tool_id, self.retrieval.ranker_name)
        self.write(facts(query, self.tool_id, self._names, self._found), "#rankers-facts")
        self.write(notes(self._found), "#rankers-notes")

    @on(RecordList.Selected, "#rankers-list")
    def _detail(self, event: RecordList.Selected) -> None:
        text = detail(event.key, self._found.get(event.key))
        self.app.push_screen(DetailScreen(INFO[event.key].stands_for, text))
