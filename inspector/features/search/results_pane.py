"""The list of results and of what missed, and the line of the person's own tool, however far down."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.widgets import Static

from inspector.app.context import InContext
from inspector.app.draw.line import MUTED, failure_text
from inspector.app.place import MarketplacePage
from inspector.core.marketplace import Suggestion, brief, why_further
from inspector.core.number import percent
from inspector.core.ranking import Gap, Hit, Outcome, SearchReport, with_gaps
from inspector.core.server import ServerPhase
from inspector.core.session import ServerState
from inspector.features.search.facts import score
from inspector.features.search.score_text import BAR_WIDTH, bars
from inspector.features.search.search_job import outcome
from inspector.search.answer.standing import hit_of
from widgets import Column, Record, RecordList, Tone, middle, plain, visible

COLUMNS = (
    Column("rank", "#", align="right", weight=5),
    Column("tool", "tool", shorten="name", min_width=12, weight=9),
    Column("outcome", "state", min_width=14, weight=3),
    Column("bar", "signals", width=BAR_WIDTH, weight=2, hide_below=48, yields=True),
    Column("score", "score", align="right", weight=6),
)
# Keys of the rows between the tools; no tool id begins like them.
LINE, GAP, PLUGIN = "\0line", "\0gap ", "\0plugin "
NO_RANKS: Mapping[str, int] = {}
NOT_AWAY: Mapping[str, str] = {}
_EXCLUDED = (Outcome.OTHER_SERVER, Outcome.OTHER_TAG)
_OWN = "▸"
# From here on there is room for the score too; the list has it in any case.
_WIDE = 76


class Own(Struct, frozen=True):
    """The person's own tool: its hit, None while that is being looked for, and of how many tools."""

    tool_id: str = ""
    hit: Hit | None = None
    of: int = 0
    problem: str = ""


NO_TOOL = Own()


def own_line(own: Own, bound: Collection[str], width: int) -> Content:
    """Return where the person's own tool stands, in at most `width` cells if the name allows."""
    if not own.tool_id:
        return Content.styled("p: pick your tool; its rank stays on this line", MUTED)
    place = own.problem or ("…" if own.hit is None else f"{own.hit.rank:,} of {own.of:,}")
    end = Content.styled("your tool", "$accent")
    if own.hit is not None:
        value = (f"   {score(own.hit.score.value)}   " if width >= _WIDE else "   ", MUTED)
        end = Content.assemble(outcome(own.hit, own.tool_id in bound), value, end)
    else:
        end = Content.assemble("   ", end)
    lead = Content.assemble((f"{_OWN} ", "bold $accent"), (place, "bold"), "  ")
    room = width - lead.cell_length - end.cell_length
    name = plain(middle(visible(own.tool_id, limit=200, newlines=False), max(room - 3, 12)))
    return Content.assemble(lead, name, " " * max(room - name.cell_length, 1), end)


def rows(
    report: SearchReport,
    bound: Collection[str],
    before: Mapping[str, int] = NO_RANKS,
    *,
    own: Own = NO_TOOL,
    away: Mapping[str, str] = NOT_AWAY,
    suggested: Collection[Suggestion] = (),
) -> tuple[Record, ...]:
    """Return the tools by rank, each with its state, with a line below the results where that is true.

    Tools that the request excludes are left out: the list says which ranks they have. A rank that was
    another one `before` stands with it. The tool of `own` is marked and never left out. `away` says of
    servers that are not there now why; their tools stay, muted. `suggested` plugins are apart from all tools.
    """
    ranks = {hit.tool_id: hit.rank for hit in report.hits}
    hits = report.hits if own.hit is None or own.tool_id in ranks else (*report.hits, own.hit)
    listed = with_gaps(
        hits, lambda hit: hit.outcome not in _EXCLUDED or hit.tool_id == own.tool_id, report.scored
    )
    end, over = _end_of_results(listed), [hit.rank for hit in hits if hit.outcome is Outcome.OVER_LIMIT]
    bar = iter(bars([one for one in listed if isinstance(one, Hit)], besides=report.hits))

    def row(hit: Hit) -> Record:
        tool_id = hit.score.tool_id
        state, was = outcome(hit, tool_id in bound), before.get(tool_id, hit.rank)
        if hit.outcome.is_result and over and hit.rank > over[0]:
            state = Content.assemble(state, (", short", MUTED))
        if was != ranks.get(tool_id, was):
            state = Content(" ").join([*([state] if state else []), Content.styled(f"was {was}", "$accent")])
        server = tool_id.partition(":")[0]
        if server in away:
            state = Content.styled(f"‖ {away[server]}", "$text-warning")
        is_own, is_there = tool_id == own.tool_id, server not in away
        rank = Content.assemble((_OWN if is_own else "", "bold $accent"), str(hit.rank))
        cells = (rank, tool_id, state, next(bar), score(hit.score.value))
        tone: Tone = "muted"
        if is_there and (is_own or hit.outcome.is_result):
            tone = "accent" if is_own else ""
        return Record(tool_id, cells, tone, copy=tool_id)

    ranked = [
        Record(f"{GAP}{one.first}", ("", f"… {one.ranks}", one.reason, "", ""), "muted")
        if isinstance(one, Gap)
        else row(one)
        for one in listed
    ]
    if end is not None:
        ranked.insert(end, Record(LINE, ("", "── not returned", "", "", ""), "muted"))
    # What the marketplace has instead: above the tools that do not fit, and below those that do.
    plugins = _plugins(suggested)
    return (*ranked, *plugins) if report.results else (*plugins, *ranked)


def _end_of_results(listed: Sequence[Hit | Gap]) -> int | None:
    """Where the results end, if all of them are above all other tools."""
    are_results = [(at, hit.outcome.is_result) for at, hit in enumerate(listed) if isinstance(hit, Hit)]
    kinds = [is_result for _, is_result in are_results]
    if kinds != sorted(kinds, reverse=True) or len(set(kinds)) < 2:
        return None
    return max(at for at, is_result in are_results if is_result) + 1


def _plugins(suggested: Collection[Suggestion]) -> Iterator[Record]:
    if suggested:
        yield Record(PLUGIN, ("", "── plugins", "enter opens", "", ""), "muted")
    for one in suggested:
        cells = ("◇", one.plugin, brief(one.description), "", percent(one.similarity))
        yield Record(PLUGIN + one.plugin, cells, copy=one.plugin)


# The border and the header of the list.
_EDGE = 2


class ResultList(InContext, Vertical):
    """Shows one report. The person's own tool has its line at any rank, also below what a report holds."""

    class Moved(Message):
        """The cursor is on another row."""

    found = query_one("#found", RecordList)

    def __init__(self) -> None:
        super().__init__(id="results")
        self._report: SearchReport | None = None
        self._before: Mapping[str, int] = NO_RANKS
        self._own = NO_TOOL
        self._bound: Collection[str] = ()
        self._away: Mapping[str, str] = NOT_AWAY
        self._drawn: tuple[object, ...] = ()
        self._placed = ""

    def compose(self) -> ComposeResult:
        yield RecordList(COLUMNS, empty="Ranked tools appear here.", header=True, id="found")
        yield Static(id="own")

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_own)

    @property
    def hit(self) -> Hit | None:
        """The hit under the cursor."""
        hits = (self._own.hit, *self._report.hits) if self._report is not None else ()
        return next((hit for hit in hits if hit is not None and hit.tool_id == self._key), None)

    def show(
        self,
        report: SearchReport | None,
        before: Mapping[str, int],
        tool_id: str,
        away: Collection[ServerState] = (),
    ) -> None:
        """Show a report and where the tool stands in it; `before` are earlier ranks, `away` lost servers."""
        self._report, self._before, own = report, before, self._own
        self._away = {
            server.name: "failed" if server.phase is ServerPhase.FAILED else "restarting" for server in away
        }
        hits = report.hits if report is not None else ()
        hit = next((hit for hit in hits if hit.tool_id == tool_id), None)
        scored = (report.scored or len(hits)) if report is not None else 0
        self._own = Own(tool_id, hit, scored, "" if report is not None else "no query yet")
        if not tool_id or report is None or hit is not None:
            self.drop_job("own")
        elif tool_id.partition(":")[0] in self._away:
            self._own = own if own.tool_id == tool_id else replace(self._own, problem="not searchable")
        elif tool_id not in self.session.retrieval.index.position:
            self._own = replace(self._own, problem="not searchable")
        elif report.request.tool_names or not report.request.query.strip():
            self._own = replace(self._own, problem="not requested")
        else:
            self._look(tool_id, report)
        self._draw()

    def move_to_best(self) -> None:
        """Put the cursor on the person's own tool if the list shows it from its top, else on the best one."""
        if self._report is None or not self._report.hits:
            return
        best = (self._report.results or self._report.hits)[0].tool_id
        shown = [record.key for record in self.found.records[: max(self.found.size.height - _EDGE, 0)]]
        self.found.move_to(self._own.tool_id if self._own.tool_id in shown else best)
        self._placed = self._key

    @property
    def _key(self) -> str:
        current = self.found.current
        return current.key if current is not None else ""

    def _look(self, tool_id: str, report: SearchReport) -> None:
        retrieval = self.session.retrieval
        rankers, ranker = retrieval.rankers, retrieval.ranker_name
        rules = replace(retrieval.rules, pinned=frozenset(self.session.state.pinned))

        def tell(own: Own) -> None:
            self._own = own
            self._draw()

        self.run_job(
            "own",
            lambda _: hit_of(rankers, ranker, report.request, tool_id, rules),
            lambda hit: tell(Own(tool_id, hit, len(rankers.index.tools))),
            failed=lambda error: tell(replace(self._own, problem=failure_text(error)[1])),
        )

    def _draw(self) -> None:
        # The cursor is where a search put it, and not on a tool that the person chose.
        is_placed = bool(self._placed) and self._placed == self._key != self._own.tool_id
        report, state = self._report, self.session.state
        self._bound, last = frozenset(state.bound_ids), state.marketplace
        if report is None:
            self.found.records, self._drawn = (), ()
        else:
            # What the marketplace had for this search, if it was the last that went on there.
            is_this = last is not None and last.query == report.request.query and bool(why_further(report))
            suggested = last.suggestions if last is not None and is_this else ()
            # Asked for at every event: mostly nothing of it is new.
            bound, before, own = self._bound, self._before, self._own
            drawn = (report, bound, before, own, self._away, suggested)
            if drawn != self._drawn:
                self._drawn = drawn
                self.found.records = rows(
                    report, bound, before, own=own, away=self._away, suggested=suggested
                )
        if is_placed:
            self.move_to_best()
        self._show_own()

    def _show_own(self) -> None:
        line = self.query_one("#own", Static)
        line.update(own_line(self._own, self._bound, line.content_size.width))

    @on(events.Click, "#own")
    def _go_to_own(self) -> None:
        self.found.move_to(self._own.tool_id)
        self.found.focus()

    @on(RecordList.Highlighted, "#found")
    def _moved(self) -> None:
        if self._key != self._placed:
            self._placed = ""
        self.post_message(self.Moved())

    @on(RecordList.Selected, "#found")
    def _chosen(self) -> None:
        if self.hit is not None:
            self.open_tool(self.hit.tool_id)
        elif self._key.startswith(PLUGIN) and self._report is not None:
            self.open(MarketplacePage(self._key.removeprefix(PLUGIN), self._report.request.query))
