"""Builds an evaluation set from recorded sessions: what models searched for and then called."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from inspector.access.evaluation import LOGGED, EvalCase
from inspector.core.events import CallStarted, Record, SearchPerformed, TurnEnded, UserSaid
from inspector.search.generate import numbered, query_key


@dataclass(frozen=True, slots=True)
class _Search:
    """A search in the current turn and what it found."""

    query: str
    found: frozenset[str]


def logged_cases(records: Iterable[Record]) -> tuple[EvalCase, ...]:
    """A case for each query of a model that led it to call a found tool in the same turn.

    `records` holds one or more sessions in sequence. A call belongs to the latest search that found the tool,
    and each called tool is its own group. Queries that differ only in case and spaces form one case with the
    tools of all of them. A model's calls need not have been right: the labels are only as good as the model.
    """
    called: dict[str, tuple[str, dict[str, None]]] = {}
    searches: list[_Search] = []
    session = ""
    for record in records:
        if record.session != session:
            session, searches = record.session, []
        match record.event:
            case UserSaid() | TurnEnded():
                searches = []
            case SearchPerformed(report=report, by="model") if report.request.query.strip():
                found = frozenset(hit.tool_id for hit in report.results)
                searches.append(_Search(report.request.query, found))
            case CallStarted(tool=tool, by="model"):
                search = next((search for search in reversed(searches) if tool in search.found), None)
                if search is not None:
                    called.setdefault(query_key(search.query), (search.query, {}))[1][tool] = None
    cases = (
        EvalCase("", query, tuple(frozenset({tool}) for tool in tools), LOGGED)
        for query, tools in called.values()
    )
    return numbered(cases)


def added_cases(records: Iterable[Record], known: Sequence[EvalCase] = ()) -> tuple[EvalCase, ...]:
    """The logged cases that are not among the `known` ones yet, with ids that none of those has."""
    there = {query_key(case.query) for case in known}
    fresh = (case for case in logged_cases(records) if query_key(case.query) not in there)
    return numbered(fresh, [case.id for case in known])
