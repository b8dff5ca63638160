"""Searches of which no tool was called, alone and grouped by the words they share."""

from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum

from msgspec import Struct, field

from inspector.core.events import Record, TurnOutcome
from inspector.core.turns import Search, ToolCall, Turn, turns
from inspector.search.index.vocabulary import terms

# Whoever stops a turn says nothing about the searches in it.
_FINISHED: frozenset[TurnOutcome] = frozenset({"answered", "capped"})


class MissCause(StrEnum):
    """What became of a search of which no tool was called. The last one is no miss."""

    NOTHING = "found nothing"
    AGAIN = "searched again"
    ENDED = "ended without a call"


class Miss(Struct, frozen=True):
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


def unused_in(turn: Turn) -> Iterator[Miss]:
    """The searches of a turn of which no tool was called, in their order; read once, from the end.

    Searches of one model call are made side by side, so none of them is the next of another; those of a tap,
    which sees no model call, follow one another. A search whose
    tool is called later in its turn was of use.
    """
    found: list[Miss] = []
    called: dict[str, None] = {}
    # Of the search that is read: what a later model call searched for first, and the search after it.
    then, later = "", None
    for act in reversed(turn.acts):
        if isinstance(act, ToolCall):
            called.pop(act.event.tool, None)
            called[act.event.tool] = None
        if not isinstance(act, Search) or act.event.report.request.is_empty:
            continue
        if later is not None and (act.call is None or act.call is not later.call):
            then = _query(later)
        later = act
        if called.keys().isdisjoint(act.found):
            found += _missed(act, then, tuple(reversed(called)), finished=turn.outcome in _FINISHED)
    yield from reversed(found)


def _query(search: Search) -> str:
    request = search.event.report.request
    return request.query.strip() or ", ".join(request.tool_names) or request.label()


def _missed(search: Search, then: str, instead: tuple[str, ...], *, finished: bool) -> Iterator[Miss]:
    """What became of a search of which no tool was called; nothing if its turn was stopped."""
    if not search.found:
        cause = MissCause.NOTHING
    elif then:
        cause = MissCause.AGAIN
    elif finished:
        cause = MissCause.ENDED
    else:
        return
    record = search.record
    yield Miss(record.session, record.seq, _query(search), search.found, then, cause, instead, record.at)


def unused(records: Iterable[Record]) -> Iterator[Miss]:
    """The searches in one or more sessions in sequence of which no tool was called in their turn."""
    for turn in turns(records):
        yield from unused_in(turn)


def misses(records: Iterable[Record]) -> tuple[Miss, ...]:
    """The misses in one or more sessions in sequence."""
    return tuple(one for one in unused(records) if one.cause is not MissCause.ENDED)


_ALIKE = 0.4
_EXAMPLES = 5


class Backlog(Struct):
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
