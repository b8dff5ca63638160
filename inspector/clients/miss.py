"""Searches of which no tool was called: they missed, or their turn ended without a call."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from inspector.core.events import (
    CallStarted,
    ModelRequested,
    Record,
    SearchPerformed,
    TurnEnded,
    TurnOutcome,
    UserSaid,
)
from inspector.search.vocabulary import terms

KINDS = tuple(each.kind for each in (UserSaid, TurnEnded, ModelRequested, SearchPerformed, CallStarted))
"""The kinds of events that misses are made of."""
# Whoever stops a turn says nothing about the searches in it.
_FINISHED: frozenset[TurnOutcome] = frozenset({"answered", "capped"})


class MissCause(StrEnum):
    """What became of a search of which no tool was called. The last one is no miss."""

    NOTHING = "found nothing"
    AGAIN = "searched again"
    ENDED = "ended without a call"


@dataclass(frozen=True, slots=True)
class Miss:
    """A search whose tools were not called before the model searched again, or that found none.

    `query` is what was searched for, or the names that were asked for; `found` are the ids of the tools;
    `then` is the next search, "" if there was none; `called` are the tools that the rest of the turn called
    instead. `at` is in seconds since 1970, UTC.
    """

    session: str
    seq: int
    query: str
    found: tuple[str, ...] = ()
    then: str = ""
    cause: MissCause = MissCause.AGAIN
    called: tuple[str, ...] = ()
    at: float = 0.0


@dataclass(slots=True)
class _Search:
    """A search of the current turn; `call` counts the model call that made it."""

    record: Record
    query: str
    found: tuple[str, ...]
    call: int
    is_called: bool = False
    then: str = ""
    instead: list[str] = field(default_factory=list)


class SearchWatch:
    """Follows the model's searches, record by record, and tells those of which no tool was called.

    Searches of one model call are made side by side, so none of them is the next of another. A search whose
    tool is called later in its turn was of use.
    """

    def __init__(self) -> None:
        self._turn: list[_Search] = []
        self._call, self._session = 0, ""

    def after(self, record: Record) -> tuple[Miss, ...]:
        """Those of the turn or the session that ended with this record."""
        before: tuple[Miss, ...] = ()
        if record.session != self._session:
            before = self.end()
            self._session, self._call = record.session, 0
        match record.event:
            case UserSaid():
                return (*before, *self.end())
            case TurnEnded(outcome=outcome):
                return (*before, *self.end(finished=outcome in _FINISHED))
            case ModelRequested(call=number):
                self._call = number
            case SearchPerformed(by="model") as event:
                self._searched(record, event)
            case CallStarted(tool=tool, by="model"):
                self._called(tool)
        return before

    def end(self, *, finished: bool = False) -> tuple[Miss, ...]:
        """Those of the current turn, which is empty from then on; `finished` if it came to its own end."""
        found = tuple(_missed(one, finished=finished) for one in self._turn if not one.is_called)
        self._turn.clear()
        return tuple(one for one in found if one is not None)

    def _searched(self, record: Record, event: SearchPerformed) -> None:
        report = event.report
        query = report.request.query.strip() or ", ".join(report.request.tool_names) or report.request.label()
        for earlier in self._turn:
            if earlier.call < self._call and not earlier.is_called and not earlier.then:
                earlier.then = query
        found = tuple(hit.tool_id for hit in report.results)
        self._turn.append(_Search(record, query, found, self._call))

    def _called(self, tool: str) -> None:
        for search in self._turn:
            if tool in search.found:
                search.is_called = True
            elif tool not in search.instead:
                search.instead.append(tool)


def _missed(one: _Search, *, finished: bool) -> Miss | None:
    if not one.found:
        cause = MissCause.NOTHING
    elif one.then:
        cause = MissCause.AGAIN
    elif finished:
        cause = MissCause.ENDED
    else:
        return None
    record = one.record
    return Miss(
        record.session, record.seq, one.query, one.found, one.then, cause, tuple(one.instead), record.at
    )


def unused(records: Iterable[Record]) -> Iterator[Miss]:
    """The searches in one or more sessions in sequence of which no tool was called in their turn."""
    watch = SearchWatch()
    for record in records:
        yield from watch.after(record)
    yield from watch.end()


def misses(records: Iterable[Record]) -> tuple[Miss, ...]:
    """The misses in one or more sessions in sequence."""
    return tuple(one for one in unused(records) if one.cause is not MissCause.ENDED)


_ALIKE = 0.4
_EXAMPLES = 5


@dataclass(slots=True)
class Backlog:
    """Searches for much the same: how many, in which sessions, what was searched for, and what came of it.

    `found` counts the tools that were found and not called, `called` those that were called instead in the
    same turn. `last` is when the newest was made, in seconds since 1970, UTC.
    """

    words: frozenset[str]
    count: int = 0
    sessions: set[str] = field(default_factory=set)
    queries: list[str] = field(default_factory=list)
    causes: Counter[MissCause] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    called: Counter[str] = field(default_factory=Counter)
    last: float = 0.0

    def add(self, miss: Miss) -> None:
        """Count one more; the first queries that differ are kept as examples."""
        self.count += 1
        self.sessions.add(miss.session)
        if miss.query not in self.queries and len(self.queries) < _EXAMPLES:
            self.queries.append(miss.query)
        self.causes[miss.cause] += 1
        self.found.update(miss.found)
        self.called.update(miss.called)
        self.last = max(self.last, miss.at)


class BacklogGroups:
    """Groups searches as they come, so that none of them has to be kept.

    Each joins the group whose first query shares the greatest part of their words, if that is enough.
    """

    def __init__(self) -> None:
        self._groups: list[Backlog] = []
        self._by_word: dict[str, list[int]] = {}
        self._wordless: Backlog | None = None

    def add(self, miss: Miss) -> None:
        """Count a search in the group that it belongs to."""
        words = frozenset(terms(miss.query))
        self._group(words).add(miss)

    def _group(self, words: frozenset[str]) -> Backlog:
        if not words:
            self._wordless = self._wordless or self._new(words)
            return self._wordless
        # How many words each group shares: of the others none can be alike.
        shared = Counter(place for word in words for place in self._by_word.get(word, ()))
        best, share = -1, 0.0
        for place, both in shared.items():
            alike = both / (len(self._groups[place].words) + len(words) - both)
            if alike > share or (alike == share and place < best):
                best, share = place, alike
        return self._groups[best] if share >= _ALIKE else self._new(words)

    def _new(self, words: frozenset[str]) -> Backlog:
        for word in words:
            self._by_word.setdefault(word, []).append(len(self._groups))
        self._groups.append(Backlog(words))
        return self._groups[-1]

    @property
    def groups(self) -> tuple[Backlog, ...]:
        """The most frequent first; among equals, the first to occur."""
        return tuple(sorted(self._groups, key=lambda group: -group.count))


def backlog(found: Iterable[Miss]) -> tuple[Backlog, ...]:
    """The searches by the words they share, the most frequent first; among equals, the first to occur."""
    groups = BacklogGroups()
    for miss in found:
        groups.add(miss)
    return groups.groups
