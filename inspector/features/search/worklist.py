"""Requests that should find a tool, in sight below the page, with what an edit changed for each."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from msgspec.structs import replace
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message

from inspector.app.context import InContext, Job
from inspector.app.draw.line import MUTED
from inspector.app.requests import MOST, Requests, WorkItem
from inspector.config.reader import REQUESTS
from inspector.core.events import CallStarted, SearchPerformed, TurnEnded, UserSaid
from inspector.core.number import count
from inspector.search.answer.evalset import added_cases
from inspector.search.answer.standing import missed_in
from inspector.session.miss import misses
from widgets import Column, Record, RecordList, Tone, plain

COLUMNS = (
    Column("state", "", width=1, weight=9),
    Column("query", "request", weight=6, min_width=14),
    Column("tool", "should find", shorten="name", weight=4, min_width=12),
    Column("answer", "answer", width=7, weight=7, hide_below=50),
    Column("rank", "rank", align="right", weight=9),
    Column("change", "since save", width=6, weight=8),
    Column("was", "", width=11, weight=3, hide_below=90),
)
_COLORS = {"✓": "$text-success", "✕": "$text-warning", "!": "$text-error"}
_MOST_ADDED = 50
_EMPTY = "a adds this request and your tool, A all that miss theirs."
_NOTHING_FAILS = "Every labelled request finds its tool first, and no search of this session missed one."
_EVENTS = tuple(event.kind for event in (SearchPerformed, CallStarted, UserSaid, TurnEnded))
# Seconds between two looks at the file, which an editor may write.
_LOOKS_EVERY = 0.5
# From so many lines on a terminal has room for an editor, what it changes and more than three requests.
_ROOMY = 30


def change(item: WorkItem) -> Content:
    """Return what the edit changed of the rank: up, down, or nothing."""
    before, now = (one.place if one is not None else None for one in (item.before, item.now))
    if before is None or now is None or item.is_away:
        return Content()
    rise = before - now
    if not rise:
        return Content.styled("=", MUTED)
    return Content.styled(*((f"▲ {rise}", "$text-success") if rise > 0 else (f"▼ {-rise}", "$text-error")))


def row(item: WorkItem) -> Record:
    """Return a request with what a search makes of it now, and what it was before where that differs."""
    now, query = item.now, item.request.label()
    sign = Content.styled(item.sign, _COLORS.get(item.sign, ""))
    if now is None:
        tool = item.tool_id
        if item.line.problem is not None:
            query, tool = item.line.text.strip(), "cannot be read"
        return Record(item.key, (sign, query, tool, "", "", "", ""), copy=query)
    tone: Tone = "muted" if item.is_away else ""
    rank = "‖" if item.is_away else f"{now.place:,}" if now.place else "–"
    was = item.before.answer if item.before is not None and item.before.answer is not now.answer else ""
    cells: tuple[Content | str, ...] = (
        sign,
        query,
        item.tool_id or "nothing",
        now.answer.value if now.place or not item.tool_id else "no tool",
        rank,
        change(item),
        Content.styled(f"was {was}", "$text-accent") if was else "",
    )
    return Record(item.key, cells, tone, copy=query)


def title(known: Requests, items: Sequence[WorkItem]) -> Content:
    """Return how many requests find their tool, what an edit changed, and what is wrong with the file."""
    holding = sum(item.now is not None and item.now.holds for item in items)
    unsure = sum(item.sign == "•" for item in items)
    said = f"{REQUESTS}: {holding} of {count(len(items), 'request')} as wanted"
    text = [Content(f"{said}, {unsure} of them unsure (•)" if unsure else said)]
    if known.total > MOST:
        text.append(Content.styled(f"the first {MOST} of {known.total:,}", "$text-warning"))
    compared = [item for item in items if item.now and item.before and not item.is_away]
    if compared:
        changed = sum(item.is_changed for item in compared)
        by = "your draft" if known.drafted else "saved"
        text.append(Content.styled(f"{by}: {changed} of {len(compared)} changed", MUTED))
    problems = (known.problem, *(item.line.problem for item in items))
    if (problem := next(filter(None, problems), None)) is not None:
        told = f"{problem.message.removeprefix(f'{known.path}:')}. {problem.hint}"
        text.append(plain(told, newlines=False, limit=200).stylize("$text-error"))
    return Content("   ").join(text)


class Worklist(InContext, Vertical):
    """Shows the file of requests, and changes it at a key of the person's. It keeps no record."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("D,delete", "remove", "remove", id="worklist.remove"),
        Binding("r", "again", "again", id="worklist.again"),
    ]

    @dataclass
    class Chosen(Message):
        """A request is to be shown as the search of the page."""

        item: WorkItem

    class Ranked(Message):
        """The lines are ranked anew, without any draft."""

    def __init__(self) -> None:
        super().__init__(id="worklist")

    def compose(self) -> ComposeResult:
        yield RecordList(COLUMNS, empty=_EMPTY, header=True, filterable=False, id="requests")

    def on_mount(self) -> None:
        self.set_interval(_LOOKS_EVERY, lambda: self.follow() if self.screen.is_current else None)

    @property
    def _known(self) -> Requests:
        return self.context.requests

    @property
    def items(self) -> tuple[WorkItem, ...]:
        """The requests for tools that may be seen in this session."""
        return self._known.shown(self.session)

    def queries_for(self, tool_id: str) -> tuple[str, ...]:
        """The queries that should find a tool."""
        return tuple(item.request.query for item in self.items if tool_id and item.tool_id == tool_id)

    def follow(self) -> None:
        """Rank again if there is something new."""
        self.follow_requests(self._ranked)

    def _ranked(self) -> None:
        self.draw()
        self.post_message(self.Ranked())

    def add(self, wanted: Iterable[tuple[str, str]]) -> None:
        """Add requests with their tools to the file; what is there already stays as it is."""
        pairs = list(dict.fromkeys(wanted))
        self._edit(lambda: self._known.add(pairs))

    def _edit(self, change: Callable[[], None]) -> None:
        """Change the file in a thread: a folder may be far away."""
        self.run_job("file", lambda _: change(), lambda _: self.follow())

    def add_failing(self) -> None:
        """Add the labelled requests that miss their tool, and the searches of this session that missed."""
        retrieval, records = self.session.retrieval, self.session.records(_EVENTS)
        rankers, ranker, known = retrieval.rankers, retrieval.ranker_name, self.session.catalog.by_id
        rules = replace(retrieval.rules, pinned=frozenset(self.session.state.pinned))

        def failing(job: Job) -> list[tuple[str, str]]:
            given = retrieval.given(rankers.index)
            called = [(one.query, one.called[0]) for one in misses(records) if one.called]
            found = [pair for pair in called if pair[1] in known]
            for case in (*given, *added_cases(records, given)):
                if job.stopped() or len(found) >= _MOST_ADDED:
                    break
                missed = missed_in(case, rankers, ranker, rules)
                found += [(case.query, tool_id) for tool_id in missed]
            return found

        def show(found: list[tuple[str, str]]) -> None:
            if found:
                self.add(found[:_MOST_ADDED])
            else:
                self.notify(_NOTHING_FAILS, markup=False)

        def failed(error: Exception) -> None:
            self.draw()
            self.fail(error)

        self.query_one(RecordList).border_title = "Ranking every labelled request …"
        self.run_job("failing", failing, show, failed=failed)

    def draw(self) -> None:
        """Draw the lines as they are known."""
        known, items, listed = self._known, self.items, self.query_one(RecordList)
        listed.border_title = title(known, items)
        listed.records = tuple(map(row, items))
        changed = next((item.key for item in items if item.is_changed), "")
        if changed and not self.has_focus_within:
            listed.move_to(changed)
        self.display = bool(items) or known.problem is not None
        # A quarter of the terminal, with its title: the results above are what the page is about.
        height = self.screen.size.height
        self.styles.height = min(len(items) + 2, 1 + height // (4 if height >= _ROOMY else 6))

    def on_resize(self) -> None:
        """Take another share of another terminal."""
        self.call_after_refresh(self.draw)

    @property
    def _current(self) -> WorkItem | None:
        current = self.query_one(RecordList).current
        return next((item for item in self.items if current is not None and item.key == current.key), None)

    @property
    def tool_id(self) -> str:
        """The tool of the request under the cursor."""
        return self._current.tool_id if self._current is not None else ""

    def action_remove(self) -> None:
        """Take the request under the cursor out of the file."""
        if (gone := self._current) is not None:
            self._edit(lambda: self._known.remove(gone))

    def action_again(self) -> None:
        """Read and rank every request again."""
        self._known.again()
        self.follow()

    @on(RecordList.Selected)
    def _show(self, event: RecordList.Selected) -> None:
        event.stop()
        if self._current is not None:
            self.post_message(self.Chosen(self._current))
