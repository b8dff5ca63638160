"""Requests that should find a tool, in sight below the results, with what the last save changed for each."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message

from inspector.app.context import InContext, Job
from inspector.app.draw.line import MUTED
from inspector.core.events import CallStarted, SearchPerformed, TurnEnded, UserSaid
from inspector.core.ranking import Hit, SearchRequest
from inspector.core.server import ServerPhase
from inspector.core.tool import Tool
from inspector.search.answer.evalset import added_cases
from inspector.search.answer.standing import hit_of, missed_in
from inspector.search.ranker.catalog_rankers import CatalogRankers
from inspector.session.miss import misses
from widgets import Column, Record, RecordList, Tone

COLUMNS = (
    Column("state", "", width=1, weight=9),
    Column("query", "request", weight=6, min_width=14),
    Column("tool", "should find", shorten="name", weight=4, min_width=12),
    Column("rank", "rank", align="right", weight=9),
    Column("change", "since save", width=6, weight=8),
)
MOST = 50
_EMPTY = "a adds this request and your tool, A all that miss theirs."
_NOTHING_FAILS = "Every labelled request finds its tool first, and no search of this session missed one."
_FULL = f"The worklist holds {MOST} requests. D removes one."
_EVENTS = tuple(event.kind for event in (SearchPerformed, CallStarted, UserSaid, TurnEnded))


@dataclass(frozen=True, slots=True)
class WorkItem:
    """A request and the tool it should find. `before` is the rank until the last save, 0 if there was none.

    `rank` is 0 while it is not known, or if no search can find the tool: `is_away` while its server is.
    """

    request: SearchRequest
    tool_id: str
    rank: int = 0
    is_result: bool = False
    before: int = 0
    is_away: bool = False

    @property
    def key(self) -> str:
        """What it is told apart by."""
        return f"{self.tool_id}\0{self.request.label()}"

    def ranked(self, hit: Hit | None, *, saved: bool) -> "WorkItem":
        """The item with its new rank; after a save, with the one before beside it."""
        before = self.rank if saved else self.before
        rank, is_result = (hit.rank, hit.outcome.is_result) if hit is not None else (0, False)
        return replace(self, rank=rank, is_result=is_result, before=before, is_away=False)


def change(item: WorkItem) -> Content:
    """Return what the last save changed: up, down, or nothing."""
    rise = item.before - item.rank
    if not item.before or not item.rank or item.is_away:
        return Content()
    if not rise:
        return Content.styled("=", MUTED)
    return Content.styled(*((f"▲ {rise}", "$text-success") if rise > 0 else (f"▼ {-rise}", "$text-error")))


def row(item: WorkItem) -> Record:
    """Return a request with its tool's rank now."""
    sign, color = "✕", "$text-warning"
    if item.rank == 1 and item.is_result:
        sign, color = "✓", "$text-success"
    elif item.is_result:
        sign, color = "•", ""
    tone: Tone = "muted" if item.is_away else ""
    rank = "‖" if item.is_away else f"{item.rank:,}" if item.rank else "–"
    cells = (Content.styled(sign, color), item.request.label(), item.tool_id, rank, change(item))
    return Record(item.key, cells, tone, copy=item.request.label())


def title(items: Sequence[WorkItem]) -> Content:
    """Return how many requests find their tool first, and what the last save changed."""
    if not items:
        return Content("Worklist")
    first = sum(item.rank == 1 and item.is_result for item in items)
    text = [Content(f"Worklist: {first} of {len(items)} first")]
    compared = [item for item in items if item.before and item.rank and not item.is_away]
    if compared:
        up, down = (sum(sign * (one.before - one.rank) > 0 for one in compared) for sign in (1, -1))
        text.append(Content.styled(f"saved: ▲ {up}  ▼ {down}  = {len(compared) - up - down}", MUTED))
    return Content("   ").join(text)


class Worklist(InContext, Vertical):
    """Ranks every request again whenever tools, vectors or the ranker have changed. It keeps no record."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("D,delete", "remove", "remove", id="worklist.remove"),
        Binding("r", "again", "again", id="worklist.again"),
    ]

    @dataclass
    class Chosen(Message):
        """A request is to be shown as the search of the page."""

        item: WorkItem

    def __init__(self) -> None:
        super().__init__(id="worklist")
        self._items: tuple[WorkItem, ...] = ()
        self._rankers: CatalogRankers | None = None
        self._ranked: tuple[object, Sequence[Tool]] = (None, ())
        self._is_saved = False

    def compose(self) -> ComposeResult:
        yield RecordList(COLUMNS, empty=_EMPTY, filterable=False, id="requests")

    @property
    def items(self) -> tuple[WorkItem, ...]:
        """The requests for tools that may be seen in this session."""
        return tuple(item for item in self._items if self.session.sight.permits(item.tool_id))

    def queries_for(self, tool_id: str) -> tuple[str, ...]:
        """The queries that should find a tool."""
        return tuple(
            item.request.query for item in self.items if item.tool_id == tool_id and item.request.query
        )

    def add(self, wanted: Iterable[tuple[SearchRequest, str]]) -> None:
        """Add requests with their tools; what is there already stays as it is."""
        known = {item.key: item for item in self._items}
        for request, tool_id in wanted:
            item = WorkItem(request, tool_id)
            known.setdefault(item.key, item)
        if len(known) > MOST:
            self.warn(_FULL)
        self._items = tuple(known.values())[:MOST]
        self._rank()

    def follow(self) -> None:
        """Rank again if there is something new; while a server is away, its requests wait."""
        session, rankers = self.session, self.session.retrieval.rankers
        if not self._items or rankers is self._rankers:
            return
        there, servers = set(rankers.index.servers), session.state.servers
        away = {name for name, one in servers.items() if one.phase is not ServerPhase.STOPPED} - there
        if any(item.tool_id.partition(":")[0] in away for item in self.items):
            self._is_saved, self._rankers = True, rankers
            self._items = tuple(
                replace(item, is_away=item.tool_id.partition(":")[0] in away) for item in self._items
            )
            self._draw()
            return
        same_session = self._ranked[0] is session
        saved = same_session and (self._is_saved or self._ranked[1] != rankers.index.tools)
        self._rank(saved=saved)

    def _rank(self, *, saved: bool = False) -> None:
        """Rank every request in the background."""
        session, retrieval = self.session, self.session.retrieval
        rankers, ranker, items = retrieval.rankers, retrieval.ranker_name, self._items
        rules = replace(retrieval.rules, pinned=frozenset(session.state.pinned))
        self._rankers = rankers
        # A save counts once, however often ranks are worked out again before its vectors are there.
        waiting = self._is_saved = self._is_saved or saved

        def hits(job: Job) -> list[Hit | None]:
            found: list[Hit | None] = []
            for item in items:
                is_there = item.tool_id in rankers.index.position and not job.stopped()
                found.append(hit_of(rankers, ranker, item.request, item.tool_id, rules) if is_there else None)
            return found

        def show(found: list[Hit | None]) -> None:
            ranked = (one.ranked(hit, saved=waiting) for one, hit in zip(items, found, strict=True))
            self._items, self._is_saved = tuple(ranked), False
            self._ranked = session, rankers.index.tools
            self._draw()

        self._draw()
        self.run_job("worklist", hits, show)

    def add_failing(self) -> None:
        """Add the labelled requests that miss their tool, and the searches of this session that missed."""
        retrieval, records = self.session.retrieval, self.session.records(_EVENTS)
        rankers, ranker, known = retrieval.rankers, retrieval.ranker_name, self.session.catalog.by_id
        rules = replace(retrieval.rules, pinned=frozenset(self.session.state.pinned))

        def failing(job: Job) -> list[tuple[SearchRequest, str]]:
            given = retrieval.given(rankers.index)
            called = [(SearchRequest(one.query), one.called[0]) for one in misses(records) if one.called]
            found = [pair for pair in called if pair[1] in known]
            for case in (*given, *added_cases(records, given)):
                if job.stopped() or len(found) >= MOST:
                    break
                missed = missed_in(case, rankers, ranker, rules)
                found += [(SearchRequest(case.query), tool_id) for tool_id in missed]
            return found

        def show(found: list[tuple[SearchRequest, str]]) -> None:
            self.add(found)
            if not found:
                self.notify(_NOTHING_FAILS, markup=False)

        def failed(error: Exception) -> None:
            self._draw()
            self.fail(error)

        self.query_one(RecordList).border_title = "Worklist: ranking every labelled request …"
        self.run_job("failing", failing, show, failed=failed)

    def _draw(self) -> None:
        items, listed = self.items, self.query_one(RecordList)
        listed.border_title = title(items)
        listed.records = tuple(map(row, items))
        self.display = bool(items)
        # A quarter of the terminal, with its title: the results above are what the page is about.
        self.styles.height = min(len(items) + 1, self.screen.size.height // 4)

    def on_resize(self) -> None:
        """Take another share of another terminal."""
        self.call_after_refresh(self._draw)

    @property
    def _current(self) -> WorkItem | None:
        current = self.query_one(RecordList).current
        return next((item for item in self.items if current is not None and item.key == current.key), None)

    @property
    def tool_id(self) -> str:
        """The tool of the request under the cursor."""
        return self._current.tool_id if self._current is not None else ""

    def action_remove(self) -> None:
        """Take the request under the cursor off the list."""
        gone = self._current
        self._items = tuple(item for item in self._items if item is not gone)
        self._draw()

    def action_again(self) -> None:
        """Rank every request again."""
        self._rank()

    @on(RecordList.Selected)
    def _show(self, event: RecordList.Selected) -> None:
        event.stop()
        if self._current is not None:
            self.post_message(self.Chosen(self._current))
