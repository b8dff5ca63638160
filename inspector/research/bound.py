"""What binds for one request: the gate, or a search with a ranker, with the default settings."""

from collections.abc import Callable, Sequence

from inspector.domain.message import UserMessage
from inspector.domain.ranking import SearchRequest
from inspector.domain.settings import GateSettings
from inspector.engine.discovery.rankers.catalog_rankers import CatalogRankers
from inspector.engine.discovery.rules import SearchRules
from inspector.engine.discovery.search import ToolSearch
from inspector.engine.loop.binding.gate import Gate
from inspector.engine.ports import Clock

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
