"""Searches of which no tool was called: they missed, or their turn ended without a call."""

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
