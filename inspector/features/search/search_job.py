"""The search that the page is about: its line, how it is made, what it found; and the base of all panes."""

import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Self

from msgspec import Struct, field
from msgspec.structs import replace
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Label

from inspector.app.base_screen import BaseScreen
from inspector.app.context import InContext, Job
from inspector.app.draw.line import MUTED
from inspector.core.access import Audience
from inspector.core.number import count, milliseconds
from inspector.core.ranking import Answer, Hit, IndexPhase, IndexState, Outcome, SearchReport, SearchRequest
from inspector.core.server import ServerPhase
from inspector.core.session import ServerState
from inspector.core.tool import Tool
from inspector.features.search.facts import stands_for, state_word
from inspector.search.answer.answer_text import WITHHELD, confidence_text
from inspector.search.answer.retrieval import Retrieval
from inspector.search.answer.rewording import Rewording
from inspector.search.index.tool_index import ToolIndex
from inspector.search.index.vocabulary import as_written
from inspector.session.view import SessionView
from widgets import PlainInput, middle, plain, visible

NO_QUERY = "Search first: type a query and press enter."


class Topic(Struct, frozen=True):
    """A request with its report, the hit under the cursor, and the person's own tool, "" if none is named.

    `also` are the other requests on the worklist that should find this tool.
    """

    request: SearchRequest = SearchRequest()
    report: SearchReport | None = None
    hit: Hit | None = None
    tool_id: str = ""
    also: tuple[str, ...] = ()


def outcome(hit: Hit, bound: bool) -> Content:
    """Return the tool's outcome, and whether it is loaded."""
    if hit.outcome.is_result and bound:
        before = hit.outcome is Outcome.ALREADY_LOADED
        return Content.styled("● bound before" if before else "● loaded", "$text-success")
    return Content(f"{'● ' if bound else ''}{state_word(hit.outcome)}")


class Pane(InContext, Vertical):
    """Shows one side of a topic. It receives the topic only while visible."""

    # The focus stays in the list where the pane follows the list's cursor.
    takes_focus = True
    wants_focus = False  # It takes the focus as soon as it is there.
    # What takes the focus first, in the order of preference.
    first: tuple[str, ...] = ()

    @property
    def retrieval(self) -> Retrieval:
        return self.session.retrieval

    @property
    def tool_id(self) -> str:
        """The tool under the pane's own cursor, or the one that it is about; "" if there is none."""
        return ""

    def show(self, topic: Topic) -> None:
        """Show a topic, or the same one over the tools of now; the default shows nothing.

        Called often: it has to see what is new.
        """

    def focus_first(self) -> bool:
        """Give the focus to what is to be read or typed first; False if nothing here can take it."""
        self.wants_focus = False
        for widget in (found for selector in self.first for found in self.query(selector)):
            if widget in self.screen.focus_chain:
                widget.focus(scroll_visible=False)
                return True
        return False


_LONGEST = 2000
_TAG = re.compile(r"#\S+")


def request_of(query: str, server: str, names: str) -> SearchRequest:
    """Return the typed texts as a request: a server and `#tags`, names separated by commas or spaces."""
    words = server.split()
    tags = tuple(word.removeprefix("#") for word in words if _TAG.fullmatch(word))
    name = " ".join(word for word in words if not _TAG.fullmatch(word))
    return SearchRequest(query.strip(), name, tuple(filter(None, re.split(r"[,\s]+", names))), tags)


class AskBar(Horizontal):
    """The line where a search is typed: a query, a server, names of tools."""

    @dataclass
    class Asked(Message):
        """Enter was pressed."""

        request: SearchRequest

    def compose(self) -> ComposeResult:
        for label, name, hint in (
            ("search", "query", "what should it do?"),
            ("server", "server", "any, or #tag"),
            ("names", "names", "any name"),
        ):
            yield Label(label, id=f"{name}-label")
            yield PlainInput(placeholder=hint, id=name)

    def type(self, request: SearchRequest) -> None:
        """Show a request as if it had been typed."""
        scope = " ".join(filter(None, (request.server_name, *(f"#{tag}" for tag in request.tags))))
        texts = (request.query, scope, " ".join(request.tool_names))
        for entry, text in zip(self.query(PlainInput), texts, strict=True):
            entry.value = visible(text, limit=_LONGEST, newlines=False)

    def focus_query(self) -> None:
        """Go to the query."""
        self.query_one("#query", PlainInput).focus()

    @property
    def request(self) -> SearchRequest:
        """What is typed."""
        return request_of(*(entry.value for entry in self.query(PlainInput)))

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Asked(self.request))

    @on(Input.Blurred)
    def _left(self, event: Input.Blurred) -> None:
        """Show how a long text begins, not how it ends."""
        event.stop()
        event.input.cursor_position = 0


class Rewords(BaseScreen):
    """A page with that line, which can ask the session's model for a query of its own."""

    when_idle = frozenset({"reword"})

    @abstractmethod
    def search(self, request: SearchRequest, reworded: Rewording | None = None) -> None:
        """Search as a person: it is an event of the session."""

    def action_reword(self) -> None:
        """Search as the session's model would for what is typed."""
        request = self.query_one(AskBar).request
        if not request.query.strip():
            self.warn(NO_QUERY)
            self.query_one(AskBar).focus_query()
            return

        async def work(_: Job) -> Rewording:
            return await self.commands.reword(request.query)

        def done(found: Rewording) -> None:
            self.search(found.of(request), found)

        self.run_stoppable("rewording", work, done)

    def stop_running(self) -> None:
        """Ask the model no longer: half a query is none."""
        self.drop_running()


class Search(Struct, frozen=True):
    """A request, its report, and what it was made over.

    `index` is None for a report of the conversation, which stays as it was. `asked_of` holds the tools when
    the question was asked; once they differ, `ranks` holds the ranks until then. `reworded` is by a model.
    """

    request: SearchRequest = SearchRequest()
    report: SearchReport | None = None
    ranker: str = ""
    index: ToolIndex | None = None
    asked_of: tuple[Tool, ...] = ()
    ranks: Mapping[str, int] = field(default_factory=dict)
    reworded: Rewording | None = None

    @classmethod
    def over(cls, request: SearchRequest, session: SessionView, report: SearchReport | None = None) -> Self:
        """A search over the tools of now; without a report it is made, and recorded nowhere."""
        retrieval = session.retrieval
        found = report or _look(request, session)
        return cls(request, found, retrieval.ranker_name, retrieval.index, retrieval.index.tools)

    def again(self, session: SessionView) -> Self:
        """The search over the tools and vectors of now; itself if they are the same or it is an older one.

        While a server of its tools starts again, or if it cannot, the search stays as it was.
        """
        index, ranks = session.retrieval.index, self.ranks
        if self.index is None or self.index is index or self.away(session):
            return self
        if index.tools == self.asked_of:
            ranks = {}
        elif self.report is not None and not ranks:
            ranks = {hit.tool_id: hit.rank for hit in self.report.hits}
        return replace(self, report=_look(self.request, session), index=index, ranks=ranks)

    def away(self, session: SessionView) -> tuple[ServerState, ...]:
        """The servers of its tools that start again or have failed; not one that a person stopped.

        Between two connections a server counts as ready and lists nothing yet.
        """
        if self.index is None or self.report is None or self.index is (index := session.retrieval.index):
            return ()
        state = session.state
        found = {hit.tool_id for hit in self.report.hits if session.sight.permits(hit.tool_id)}
        toolset = session.configuration.toolset(state.toolset)
        names = {tool.server for tool in Audience(toolset).of(self.index.tools) if tool.id in found}
        names -= set(index.servers)
        return tuple(
            server
            for name, server in state.servers.items()
            if name in names and server.phase is not ServerPhase.STOPPED
        )


def away_line(server: ServerState, stderr: str, *, is_shown: bool = True) -> Content:
    """Return that a server starts again, or why it cannot; `stderr` is what it wrote last.

    `is_shown` is whether tools that it had are among the results.
    """
    name = visible(server.name, limit=80, newlines=False)
    if server.phase is not ServerPhase.FAILED:
        return Content.styled(
            f"… {name} is restarting; until then its tools are shown as they were", "$text-warning"
        )
    why = plain(f"✕ {name} failed: {error_line(stderr) or server.reason}", newlines=False, limit=300)
    kept = "Its tools are shown as before. " if is_shown else ""
    hint = f"\n  {kept}Save a fix, or see its stderr: 2 (r restarts)."
    return Content.assemble(why.stylize("$text-error"), (hint, MUTED))


_SOURCE_LINE = re.compile(r'File "([^"]+)", line (\d+)')
_ERROR_LINE = re.compile(r"^\s*\w*(?:Error|Exception|Warning)\b.*", re.MULTILINE)


def error_line(stderr: str) -> str:
    """The error that a program ended with, with the line of its source if a traceback has it; "" if none."""
    errors, places = _ERROR_LINE.findall(stderr), _SOURCE_LINE.findall(stderr)
    place = f" ({PurePath(places[-1][0]).name}, line {places[-1][1]})" if errors and places else ""
    return f"{errors[-1].strip()}{place}" if errors else ""


def _look(request: SearchRequest, session: SessionView) -> SearchReport:
    state = session.state
    return session.retrieval.look(request, bound=state.bound_ids, pinned=state.pinned).report


# A search in a line: the ranker, how much was found, how sure that is, and which words were looked for.

# The least width of the words.
_TERMS = 20
_GAP = "   "


def heading(
    made: Search, session: SessionView, intro: Content, away: Iterable[ServerState], width: int
) -> Content:
    """Return which servers are away, and what there is to say of the search, or before one."""
    state, report = session.state, made.report
    text = facts(report, state.index, width) if report else introduction(intro, state.index)
    is_shown = report is None or bool(report.hits)
    if not is_shown:
        away = (one for one in state.servers.values() if one.phase is ServerPhase.FAILED)
    if (asked := made.reworded) is not None:
        style = "bold" if asked.asked_as else "$text-warning"
        text = Content("\n").join([plain(asked.line, newlines=False).stylize(style), text])
    lines = (away_line(one, session.stderr(one.name), is_shown=is_shown) for one in away)
    return Content("\n").join([*lines, text])


def facts(report: SearchReport, index: IndexState | None = None, width: int = 120) -> Content:
    """Return ranker, counts and words of the search, its answer, and what a model would get.

    The first line has at most `width` cells, unless that leaves too few for the terms.
    """
    error = plain(report.error).stylize("$text-error") if report.error else None
    if error is not None and not report.hits:
        return Content.assemble(("✕ ", "$text-error"), error)
    lines = (
        _line(report, width),
        *_for_a_model(report, width),
        *_warnings(report, index),
        *_unconnected(report, width),
    )
    return Content("\n").join([*lines, *([error] if error else [])])


def introduction(text: Content, index: IndexState) -> Content:
    """Return the text before a search, with the progress of the index."""
    progress = embedding(index)
    return Content.assemble(text, "\n", progress.stylize("$text-warning")) if progress else text


def _line(report: SearchReport, width: int) -> Content:
    """The duration goes first where the words have no room, then the words."""
    known = [
        plain(stands_for(report.ranker), newlines=False, limit=40),
        Content(f"{len(report.results)} of {count(report.scored or len(report.hits), 'tool')}"),
    ]
    if report.probability is not None:
        style = "bold" if report.answer is Answer.FOUND else "bold $text-warning"
        known += [Content.styled(report.answer.value, style), Content.styled(confidence_text(report), MUTED)]
    for pieces in ([*known, Content.styled(milliseconds(report.latency_ms), MUTED)], known):
        line = Content(_GAP).join(pieces)
        room = width - line.cell_length - len(_GAP)
        if room >= _TERMS:
            return Content.assemble(line, _GAP, _terms(report, room))
    return line


def _terms(report: SearchReport, width: int) -> Content:
    if report.terms:
        terms = " ".join(as_written(report.request.query, report.terms))
        words = middle(visible(terms, newlines=False), width - len("words "))
        return Content.assemble(("words ", MUTED), plain(words).stylize("bold"))
    by_meaning = report.request.query.strip() and not report.request.tool_names
    return Content.styled("by meaning" if by_meaning else "by name", MUTED)


def _for_a_model(report: SearchReport, width: int) -> Iterator[Content]:
    """What a model would get where that is not all that was found, one thing a line."""
    number = len(report.results)
    held = report.withheld
    is_unsure = report.probability is not None and report.probability < report.threshold
    loads = ("   l loads any tool", MUTED)
    if is_unsure and number:
        closest = "the closest one" if number == 1 else f"the {number} closest"
        warned = f"⚠ no tool clearly fits; a model would get {closest}"
        yield Content.assemble((warned, "$text-warning"), loads)
    elif is_unsure or (held and not number):
        yield Content.assemble(("⚠ no tool fits; a model would get none", "$text-warning"), loads)
    if held:
        names = ", ".join(visible(tool_id, newlines=False) for tool_id in held)
        listed = middle(names, max(width - len(WITHHELD), _TERMS))
        yield Content.assemble((WITHHELD, "$text-warning"), plain(listed))


def _warnings(report: SearchReport, index: IndexState | None) -> Iterator[Content]:
    # Why a model failed is part of the note.
    progress = Content() if index is None or index.phase is IndexPhase.FAILED else embedding(index)
    note = plain(report.note, newlines=False, limit=300) if report.note else Content()
    if note or progress:
        yield Content("   ").join([piece for piece in (note, progress) if piece]).stylize("$text-warning")


def _unconnected(report: SearchReport, width: int) -> Iterator[Content]:
    """What the registry has besides, on one line: it is neither ranked with the others nor loaded."""
    if report.unconnected:
        start = f"in the registry, not connected ({len(report.unconnected)}): "
        named = (f"{visible(one.tool_id, newlines=False)} {one.similarity:.2f}" for one in report.unconnected)
        listed = middle(", ".join(named), max(width - len(start), _TERMS))
        yield Content.assemble((start, MUTED), plain(listed))


def embedding(index: IndexState) -> Content:
    """Return the progress of the index while it is incomplete."""
    match index.phase:
        case IndexPhase.DOWNLOADING:
            model = middle(visible(index.model, limit=200, newlines=False), 40)
            done, total = index.embedded / 1e6, index.total / 1e6
            return Content(f"downloading {model}: {done:.0f} of about {total:.0f} MB")
        case IndexPhase.LOADING:
            return Content("loading the embedding model …")
        case IndexPhase.EMBEDDING:
            return Content(f"embedding: {index.embedded} of {count(index.total, 'text')}")
        case IndexPhase.STOPPED:
            return Content(f"embedding stopped at {index.embedded} of {count(index.total, 'text')}")
        case IndexPhase.FAILED:
            return Content("searches rank by words alone: ") + plain(
                visible(index.reason, limit=200, newlines=False)
            )
    return Content()
