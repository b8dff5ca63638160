"""The `search_tools` meta-tool: searches, loads the results, and notes redundant searches."""

import re
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from inspector.core.events import MarketplaceSearched, RedundantSearch, SearchPerformed, ToolLoaded
from inspector.core.events.base import Actor
from inspector.core.ports import Clock
from inspector.core.ranking import SearchReport, SearchRequest
from inspector.core.session import Binding
from inspector.core.stream import LiveSettings, Session
from inspector.core.text import paragraphs
from inspector.loop.binder import Binder
from inspector.loop.inertia import Inertia
from inspector.loop.iteration_guard import GIVE_UP, LoopWatch, Outcome
from inspector.loop.tool_context import TTL, Found, Load, Placement
from inspector.schema.json_value import JsonObject
from inspector.search.answer.answer_text import unloaded_text
from inspector.search.answer.retrieval import Live
from inspector.tokens.delivery import is_native, schema_text
from inspector.tokens.manifest import SEARCH_TOOLS, text_with
from inspector.tokens.synthetic import CODE, Answer

if TYPE_CHECKING:
    from inspector.search.answer.answer_text import SearchAnswer

Further = Callable[["SearchReport", Actor], MarketplaceSearched | None]
"""Where a search goes on after a report, and what it finds there; None if it does not go on."""


def nowhere(_report: "SearchReport", _by: Actor) -> MarketplaceSearched | None:
    """Every search ends with the session's own tools."""
    return None


# Detects searches that bring nothing new, and says what to do instead (semantic tool discovery, section 8).
#
# Overlap is |found now ∩ found then| / |found now|: 1.0 means that the search found nothing new. A search
# that finds no tool has none. Beyond the paper (`guard.as_published`), those in a row count, whatever they
# ask for.

_KEPT_SEARCHES = 64
_IN_A_ROW = 3
# Below this share of known results, a search has brought enough that is new.
_REDUNDANT = 0.8
# How far back earlier searches count, in seconds: what they found is rarely still the subject after as long.
_WINDOW_SECONDS = 300.0


class RedundancyDetector:
    """Remembers what a session's last 64 searches found; times are in seconds of a monotonic clock.

    The settings are read at every search. It remembers searches even while turned off, so that they count
    once it is turned on.
    """

    def __init__(self, live: LiveSettings) -> None:
        self._live = live
        self._history: deque[tuple[float, str, frozenset[str]]] = deque(maxlen=_KEPT_SEARCHES)
        self._in_a_row = 0

    def after_search(
        self, label: str, found: Sequence[str], now: float, *, no_room: bool = False
    ) -> RedundantSearch | None:
        """Record a search that was answered; return an event if it brought nothing new.

        `found` are the results that the model can call; with `no_room` there were others.
        """
        if not found and not no_room:
            return self._after_nothing(label)
        self._in_a_row = 0
        if not found:
            return None
        results = frozenset(found)
        recent = [past for past in self._history if now - past[0] <= _WINDOW_SECONDS]
        self._history.append((now, label, results))
        if not self._live.settings.guard.enabled or not recent:
            return None
        known, earlier = max((len(results & seen), name) for _, name, seen in recent)
        if known / len(results) < _REDUNDANT:
            return None
        return RedundantSearch(
            label, earlier, known / len(results), _found_note(earlier, known, len(results))
        )

    def _after_nothing(self, label: str) -> RedundantSearch | None:
        settings, self._in_a_row = self._live.settings.guard, self._in_a_row + 1
        if not settings.enabled or settings.as_published or self._in_a_row < _IN_A_ROW:
            return None
        note = f"[Note: {self._in_a_row} searches in a row found no tool to call. {GIVE_UP}]"
        return RedundantSearch(label, "", None, note, self._in_a_row)

    def forget(self, tools: Collection[str]) -> None:
        """Forget tools that were evicted or left since: finding them again is not redundant."""
        gone = frozenset(tools)
        self._history = deque(
            ((at, label, seen - gone) for at, label, seen in self._history), maxlen=_KEPT_SEARCHES
        )

    def new_message(self) -> None:
        """Note that the user said something: searches in a row belong to one request."""
        self._in_a_row = 0

    def clear(self) -> None:
        """Forget every search: what found no tool may now find one."""
        self._history.clear()
        self._in_a_row = 0


def _found_note(earlier: str, known: int, found: int) -> str:
    these = "these tools" if known == found else f"{known} of these {found} tools"
    return (
        f"[Note: an earlier search ({earlier}) found {these}; they are already available to call. "
        "Call one of them, or search with a more specific query if you need a different tool.]"
    )


_TOOL_ASSISTANT = re.compile(r"<tool_assistant>\s*server:(.*?)\n\s*tool:(.*?)</tool_assistant>", re.DOTALL)
# How many other tools the guidance for a loop names.
_ALTERNATIVES = 3


@dataclass(eq=False)
class SearchTools:
    """The meta-tool that searches for a model."""

    name = SEARCH_TOOLS

    session: Session
    binder: Binder
    watch: LoopWatch
    redundancy: RedundancyDetector
    clock: Clock
    live: Live
    inertia: Inertia
    further: Further = nowhere
    _queries: dict[str, str] = field(default_factory=dict, init=False)

    def execute(self, searches: Sequence[JsonObject], calling: Collection[str]) -> list[Answer]:
        """Run the searches of one reply and bind what they find for the next model call.

        They share the room: see `binding.room`. `calling` are the tools that the same reply calls.
        """
        answers = [self._answer(parse_request(arguments)) for arguments in searches]
        placement = self.binder.context.place([_found(answer) for answer in answers], calling)
        self.redundancy.forget([tool.id for tool in self.session.state.with_binding(Binding.EVICTED)])
        done: list[Answer] = []
        loaded: set[str] = set()
        for arguments, answer, loads in zip(searches, answers, placement.loads, strict=True):
            unloaded = _unloaded(placement) if len(done) == len(answers) - 1 else ""
            placed = answer.placed(placement.staying, loaded)
            done.append(self._perform(placed, loads, unloaded, _found(answer).tools, arguments))
            loaded.update(load.tool for load in loads)
        for eviction in placement.evictions:
            self.session.emit(eviction)
        binding = (ls for ls in placement.loads if any(isinstance(load, ToolLoaded) for load in ls))
        if best := [loads[0].tool for loads in binding]:
            self.inertia.with_search(best)
        return done

    def alternatives(self, tool_id: str) -> Sequence[str]:
        """The tools that are next best for the query that found this one; the best of the rest."""
        query = self._queries.get(tool_id, "")
        if not query:
            return ()
        report = self._answer(SearchRequest(query)).report
        return [hit.tool_id for hit in report.results if hit.tool_id != tool_id][:_ALTERNATIVES]

    def _answer(self, request: SearchRequest) -> "SearchAnswer":
        state = self.session.state
        return self.live.retrieval.search(
            request,
            bound=state.bound_ids,
            pinned=state.pinned,
            unmet=self.binder.unmet(),
            away=self.binder.away.absences(),
            full=self.binder.delivery == "call_tool",
        )

    def _perform(
        self,
        answer: "SearchAnswer",
        loads: Sequence[Load],
        unloaded: str,
        matched: Sequence[str],
        arguments: JsonObject,
    ) -> Answer:
        """Tell the session and the model of a search; some of what `matched` may have no room."""
        request = answer.report.request
        redundant = self._note(answer, matched)
        beyond = self.further(answer.report, "model")
        text = self._text(answer, unloaded, redundant)
        definitions: tuple[JsonObject, ...] = ()
        if is_native(self.binder.delivery):
            definitions = self.binder.definitions([tool.id for tool in answer.to_load])
            text = text if text != answer.text or _says_more(answer, len(definitions)) else ""
        self.session.emit(SearchPerformed(answer.report, text_with(text, definitions)))
        if beyond is not None:
            self.session.emit(beyond)
        for load in loads:
            self.session.emit(load)
            self._queries[load.tool] = request.query
            if isinstance(load, ToolLoaded):
                # A tool that was evicted and is found again may be used again.
                self.watch.guard.clear(load.tool)
        if redundant:
            self.session.emit(redundant)
        error = answer.report.error
        outcome = Outcome(error or "\n".join(matched), "search", refused=bool(error))
        loop = self.watch.note(self.name, arguments, outcome)
        said = paragraphs(text, beyond.text if beyond is not None else "")
        return Answer(said, loop.guidance if loop is not None else "", definitions=definitions)

    def _note(self, answer: "SearchAnswer", matched: Sequence[str]) -> RedundantSearch | None:
        """What the redundancy detector says of a search; one with an error did not look for anything."""
        if answer.report.error:
            return None
        found = tuple(hit.tool_id for hit in answer.report.results)
        label, no_room = answer.report.request.label(), len(matched) > len(found)
        return self.redundancy.after_search(label, found, self.clock.monotonic(), no_room=no_room)

    def _text(self, answer: "SearchAnswer", unloaded: str, redundant: RedundantSearch | None) -> str:
        """What the model reads: the matches, their schemas if it gets none otherwise, what went, the note.

        Declarations have the names and descriptions of the matches.
        """
        delivery = self.binder.delivery
        in_text = delivery in ("text", CODE) and answer.to_load
        schemas = schema_text(answer.to_load, delivery) if in_text else ""
        note = redundant.note if redundant else ""
        is_said = delivery == CODE and not _says_more(answer, len(answer.to_load))
        return paragraphs("" if is_said else answer.text, schemas, unloaded, note)


def _says_more(answer: "SearchAnswer", definitions: int) -> bool:
    """Whether an answer's text says more than so many definitions: Claude wants no text beside them."""
    has_words = bool(answer.caution or answer.missing)
    return has_words or not definitions or definitions < len(answer.report.results)


def _found(answer: "SearchAnswer") -> Found:
    """What a search asks to be bound; a server's name alone is a request to list its tools."""
    request = answer.report.request
    tools = tuple(hit.tool_id for hit in answer.report.results)
    return Found(tools, request.label(), is_listing=not (request.query.strip() or request.tool_names))


def _unloaded(placement: Placement) -> str:
    expired = [one.tool for one in placement.evictions if one.cause == TTL]
    return unloaded_text([one.tool for one in placement.evictions if one.tool not in expired], expired)


def parse_request(arguments: JsonObject) -> SearchRequest:
    """Parse arguments leniently: models write a name instead of a list, nulls, numbers instead of text.

    A query in MCP-Zero's form (`<tool_assistant>server: … tool: …`) is read as its two parts.
    """
    query, server_query = _text(arguments, "query"), _text(arguments, "server_query")
    if block := _TOOL_ASSISTANT.fullmatch(query):
        query, server_query = block[2].strip(), server_query or block[1].strip()
    return SearchRequest(
        query=query,
        server_name=_text(arguments, "server_name"),
        tool_names=_texts(arguments, "tool_names"),
        tags=_texts(arguments, "domain"),
        limit=_count(arguments, "limit"),
        min_similarity=_share(arguments, "min_similarity"),
        server_query=server_query,
    )


def _texts(arguments: Mapping[str, object], key: str) -> tuple[str, ...]:
    """A list of texts, also if it was written as one text."""
    given = arguments.get(key)
    if isinstance(given, str):
        given = [part.strip() for part in given.split(",")]
    return tuple(str(one) for one in given if str(one).strip()) if isinstance(given, list | tuple) else ()


def _count(arguments: Mapping[str, object], key: str) -> int:
    """A whole number, at least 1 as a limit is clamped; 0 if there is none."""
    try:
        return max(int(float(_text(arguments, key))), 1)
    except (ValueError, OverflowError):
        return 0


def _share(arguments: Mapping[str, object], key: str) -> float:
    """A number from 0 to 1, or 0 if there is none."""
    try:
        return min(max(float(_text(arguments, key)), 0.0), 1.0)
    except ValueError:
        return 0.0


def _text(arguments: Mapping[str, object], key: str) -> str:
    value = arguments.get(key)
    return "" if value is None else str(value).strip()
