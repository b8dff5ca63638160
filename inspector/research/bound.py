"""What binds for one request: the gate, or a search with a ranker, with the default settings."""

from collections.abc import Callable, Sequence

from inspector.core.message import UserMessage
from inspector.core.ports import Clock
from inspector.core.ranking import SearchRequest
from inspector.core.settings import GateSettings
from inspector.loop.binding.gate import Gate
from inspector.search.rankers.catalog_rankers import CatalogRankers
from inspector.search.rules import SearchRules
from inspector.search.search import ToolSearch

Bound = Callable[[str], Sequence[str]]
"""The ids of the tools that a request with this text binds, best first."""


def gate_bound(rankers: CatalogRankers, clock: Clock) -> tuple[str, Bound]:
    """The gate's name and what it binds."""
    gate, settings = Gate(clock), GateSettings()

    def bound(query: str) -> Sequence[str]:
        messages = [UserMessage(query)]
        return gate.apply(rankers, messages, settings, pinned=(), unmet={}, tokens=len).active

    return f"gate: {settings.ranker}, {settings.threshold:g}, at most {settings.top_k}", bound


def search_bound(rankers: CatalogRankers, ranker: str, clock: Clock) -> tuple[str, Bound]:
    """The name of a search with this ranker and what it binds."""
    settings = rankers.settings
    rules = SearchRules.of(settings)
    search = ToolSearch(rankers.index, rankers.names, rankers.get(ranker), rules, clock)

    def bound(query: str) -> Sequence[str]:
        answer = search.run(SearchRequest(query), misses=0)
        return [tool.id for tool in answer.to_load]

    return f"search: {ranker}, at most {settings.max_search_results}", bound
