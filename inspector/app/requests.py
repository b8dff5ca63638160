"""The file of requests in the app: what a search makes of each line, and what an edit changed of that."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from threading import Lock

from msgspec import Struct, field
from msgspec.structs import replace

from inspector.config.file import file_state
from inspector.core.error import ConfigError
from inspector.core.number import ordinal
from inspector.core.ranking import Answer, SearchRequest
from inspector.core.server import ServerPhase
from inspector.core.tool import Catalog
from inspector.search.answer.expectation import Expectation, ExpectationResult, results
from inspector.search.answer.request_file import (
    RequestLine,
    add_requests,
    lines_of,
    without_line,
)
from inspector.search.ranker.catalog_rankers import CatalogRankers
from inspector.session.view import SessionView

MOST = 200
"""So many lines are ranked."""
_AS_THEY_ARE: Mapping[str, str] = {}


class WorkItem(Struct, frozen=True):
    """A line with what a search makes of it `now`, and made of it `before` the last save; None: not known.

    `tool_id` is "" of a line for no tool, or that cannot be read. `is_away` while its server is.
    """

    line: RequestLine
    tool_id: str = ""
    now: ExpectationResult | None = None
    before: ExpectationResult | None = None
    is_away: bool = False

    @property
    def key(self) -> str:
        """What it is told apart by."""
        return str(self.line.number)

    @property
    def request(self) -> SearchRequest:
        """What is searched for."""
        one = self.line.expectation
        return SearchRequest(one.query if one is not None else "")

    @property
    def sign(self) -> str:
        """✓ it is as wanted, • it is, but the search is not sure, ✕ it is not, ! it cannot be read."""
        if self.now is None:
            return "!" if self.line.problem is not None else "…"
        wanted = Answer.FOUND if self.tool_id else Answer.NOTHING
        return "✕" if not self.now.holds else "✓" if self.now.answer is wanted else "•"

    @property
    def text(self) -> str:
        """The line in words: “✓ “late orders”   found, 1st   was closest, 4th”."""
        was = f"   was {_said(self.before)}" if self.is_changed else ""
        return f"{self.sign} {self.request.label()}   {_said(self.now)}{was}"

    @property
    def is_there(self) -> bool:
        """Whether a search could find the tool."""
        return not self.tool_id or (self.now is not None and self.now.place is not None)

    @property
    def is_changed(self) -> bool:
        """Whether the answer or the rank is another one than before."""
        return told(self.before) != told(self.now) if self.before and self.now else False


def _said(one: ExpectationResult | None) -> str:
    """“closest, 4th”."""
    if one is None:
        return ""
    return f"{one.answer}, {ordinal(one.place)}" if one.place else one.answer.value


def told(one: ExpectationResult | None) -> object:
    """What of a result is in sight."""
    return one and (one.answer, one.place)


def ranked(
    items: Iterable[WorkItem],
    session: SessionView,
    rankers: CatalogRankers,
    stopped: Callable[[], bool],
    renamed: Mapping[str, str] = _AS_THEY_ARE,
) -> Mapping[str, ExpectationResult | None]:
    """What a search with these rankers makes of each line, by its key; None of one that cannot be read.

    In the rankers a tool may be `renamed`. May run in any thread.
    """
    retrieval, catalog = session.retrieval, session.catalog
    rules = replace(retrieval.rules, pinned=frozenset(session.state.pinned))
    found: dict[str, ExpectationResult | None] = {}
    for item in items:
        one, asked = item.line.expectation, list[Expectation]()
        if one is not None and not stopped():
            # Where several servers have the tool, whichever is the best counts.
            ids = {tool.id for name in one.tools for tool in catalog.named(name)} or one.tools
            asked = [replace(one, tools=frozenset(renamed.get(tool, tool) for tool in ids))]
        found[item.key] = next(results(asked, rankers, retrieval.ranker_name, rules), None)
    return found


class Requests(Struct):
    """The lines of the file at `path`, ranked; none without one, for who may see only some tools.

    `problem` is why the file cannot be read, `total` how many lines it has that say something. `drafted` is
    what a draft would make of lines, by their keys. Read and ranked by whatever page shows them.
    """

    path: Path | None = None
    items: tuple[WorkItem, ...] = ()
    problem: ConfigError | None = None
    total: int = 0
    drafted: Mapping[str, ExpectationResult | None] = field(default_factory=dict)
    _seen: object = None
    _made_of: object = None
    _file_read: object = None
    _ranked: tuple[object, object] = (None, None)
    _is_saved: bool = False
    _writing: Lock = field(default_factory=Lock)

    def shown(self, session: SessionView) -> tuple[WorkItem, ...]:
        """The lines, with what the draft would make of them beside what is so now."""
        seen = (item for item in self.items if not item.tool_id or session.sight.permits(item.tool_id))
        return tuple(
            replace(item, now=self.drafted[item.key], before=item.now) if item.key in self.drafted else item
            for item in seen
        )

    def of(self, tool_id: str, session: SessionView) -> tuple[str, ...]:
        """The lines for a tool in words."""
        return tuple(item.text for item in self.shown(session) if item.tool_id == tool_id)

    def is_due(self, session: SessionView) -> bool:
        """Whether the file, tools, vectors or the ranker may have changed since this was asked last."""
        before, self._seen = self._seen, (self._file(), session.retrieval.version, session)
        return self.path is not None and before != self._seen

    def _file(self) -> object:
        return file_state([self.path]) if self.path is not None else None

    def again(self) -> None:
        """Read and rank again at the next look, whatever has changed."""
        self._seen = self._made_of = None

    def read(self, session: SessionView, stopped: Callable[[], bool]) -> Callable[[], None]:
        """Read and rank in a thread; what is returned takes it over, in the thread of the app.

        While a server goes away that had the tool of a line, all wait: the other ranks are of that moment.
        """
        rankers, catalog, problem = session.retrieval.rankers, session.catalog, None
        there, servers = set(rankers.index.servers), session.state.servers
        away = {name for name, one in servers.items() if one.phase is not ServerPhase.STOPPED} - there
        before = self.items
        lost = [one.is_there and one.tool_id.partition(":")[0] in away for one in before]
        waits = [replace(item, is_away=is_lost) for item, is_lost in zip(before, lost, strict=True)]

        def wait() -> None:
            self._is_saved, self.items = True, tuple(waits)

        made_of = (self._file(), rankers, session)
        if made_of == self._made_of:
            return lambda: None
        if any(lost) and made_of[0] == self._file_read:
            return wait
        try:
            lines = self._lines()
        except ConfigError as error:
            lines, problem = tuple(item.line for item in self.items), error
        known = {(item.line.number, item.line.text): item for item in self.items}
        by_text = {item.line.text: item for item in self.items}
        items = []
        for line in lines[:MOST]:
            item = known.get((line.number, line.text)) or by_text.get(line.text) or WorkItem(line)
            items.append(replace(item, line=line, tool_id=_tool_id(line, catalog), is_away=False))
        now = ranked(items, session, rankers, stopped)
        tools = rankers.index.tools

        def take() -> None:
            # A save counts once, however often ranks are worked out again before its vectors are there.
            is_same = self._ranked[0] is session
            is_saved = self._is_saved or (is_same and self._ranked[1] != tools)
            self.items = tuple(
                replace(one, now=now[one.key], before=one.now if is_saved and one.is_there else one.before)
                for one in items
            )
            self.problem, self.total, self._is_saved, self.drafted = problem, len(lines), False, {}
            self._ranked, self._made_of, self._file_read = (session, tools), made_of, made_of[0]

        return take

    def _lines(self) -> tuple[RequestLine, ...]:
        return lines_of(self.path) if self.path is not None and self.path.exists() else ()

    def add(self, wanted: Sequence[tuple[str, str]]) -> None:
        """Add requests with their tools; those that are there stay as they are. Raises ConfigError."""
        if self.path is None:
            raise ConfigError(
                "requests are kept for who may see all tools", hint="View as the administrator."
            )
        with self._writing:
            there = {(item.request.query, item.tool_id) for item in self.items}
            # What another key added a moment ago is not ranked yet.
            read = (line.expectation for line in self._lines())
            there |= {(one.query, tool) for one in read if one is not None for tool in one.tools}
            add_requests(self.path, [pair for pair in wanted if pair not in there])

    def remove(self, item: WorkItem) -> None:
        """Take a line out. Raises ConfigError."""
        if self.path is not None:
            without_line(self.path, item.line)


def _tool_id(line: RequestLine, catalog: Catalog) -> str:
    """The tool of a line, by its id if that is known."""
    if line.expectation is None or not line.expectation.tools:
        return ""
    [name] = line.expectation.tools
    named = catalog.named(name)
    return named[0].id if len(named) == 1 else name
