"""Searches that missed, and what they have in common: what the tools' descriptions do not say yet."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from inspector.domain.events import CallStarted, ModelRequested, Record, SearchPerformed, TurnEnded, UserSaid
from inspector.engine.discovery.term import terms

_ALIKE = 0.4
_EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class Miss:
    """A search whose tools were not called before the model searched again, or that found none.

    `query` is what was searched for, or the names that were asked for; `found` are the ids of the tools;
    `then` is the next search, "" if there was none.
    """

    session: str
    seq: int
    query: str
    found: tuple[str, ...] = ()
    then: str = ""


@dataclass(slots=True)
class _Search:
    """A search of the current turn; `call` counts the model call that made it."""

    record: Record
    query: str
    found: tuple[str, ...]
    call: int
    is_called: bool = False
    then: str = ""


def misses(records: Iterable[Record]) -> tuple[Miss, ...]:
    """The misses in one or more sessions in sequence.

    Searches of one model call are made side by side, so none of them is the next of another. A search whose
    tool is called later in its turn is no miss.
    """
    found: list[Miss] = []
    turn: list[_Search] = []
    call, session = 0, ""
    for record in records:
        if record.session != session:
            found += _ended(turn)
            session, call = record.session, 0
        match record.event:
            case UserSaid() | TurnEnded():
                found += _ended(turn)
            case ModelRequested(call=number):
                call = number
            case SearchPerformed(by="model") as event:
                _search(turn, record, event, call)
            case CallStarted(tool=tool, by="model"):
                for search in turn:
                    search.is_called = search.is_called or tool in search.found
    return (*found, *_ended(turn))


def _search(turn: list[_Search], record: Record, event: SearchPerformed, call: int) -> None:
    request = event.report.request
    query = request.query.strip() or ", ".join(request.tool_names) or request.label()
    for earlier in turn:
        if earlier.call < call and not earlier.is_called and not earlier.then:
            earlier.then = query
    turn.append(_Search(record, query, tuple(hit.tool_id for hit in event.report.results), call))


def _ended(turn: list[_Search]) -> list[Miss]:
    """The misses of a turn, which is empty from then on."""
    found = [
        Miss(one.record.session, one.record.seq, one.query, one.found, one.then)
        for one in turn
        if not one.is_called and (one.then or not one.found)
    ]
    turn.clear()
    return found


@dataclass(slots=True)
class Backlog:
    """Misses for much the same: how many, in which sessions, and what was searched for."""

    words: frozenset[str]
    count: int = 0
    sessions: set[str] = field(default_factory=set)
    queries: list[str] = field(default_factory=list)

    def add(self, miss: Miss) -> None:
        """Count one more miss; the first queries that differ are kept as examples."""
        self.count += 1
        self.sessions.add(miss.session)
        if miss.query not in self.queries and len(self.queries) < _EXAMPLES:
            self.queries.append(miss.query)


def backlog(found: Sequence[Miss]) -> tuple[Backlog, ...]:
    """The misses by the words they share, the most frequent first; among equals, the first to occur.

    Each joins the group whose first query shares the greatest part of their words, if that is enough.
    """
    groups: list[Backlog] = []
    for miss in found:
        words = frozenset(terms(miss.query))
        best = max(groups, key=lambda group: _alike(group.words, words), default=None)
        if best is None or _alike(best.words, words) < _ALIKE:
            best = Backlog(words)
            groups.append(best)
        best.add(miss)
    return tuple(sorted(groups, key=lambda group: -group.count))


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of all words that both have (0 to 1)."""
    either = len(one | other)
    return len(one & other) / either if either else 1.0
