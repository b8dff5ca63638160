"""Looks through bound tools as a search would: without `search_tools`, the planner has only this."""

import json
from collections.abc import Iterable
from functools import lru_cache

from inspector.core.ports import SystemClock
from inspector.core.ranking import Answer, SearchRequest
from inspector.core.settings import DiscoverySettings
from inspector.core.tool import Tool
from inspector.features.demo.reading import Bound
from inspector.schema.json_value import compact
from inspector.search.answer.search import SearchRules, ToolSearch
from inspector.search.index.packaged_model import WordLlamaEmbedder
from inspector.search.index.tool_index import ToolIndex
from inspector.search.ranker.catalog_rankers import CatalogRankers


def found_among(tools: Iterable[Bound], query: str) -> dict[str, bool]:
    """The tools that a search by words finds, by name, best first, and whether it is sure of them."""
    search = _search_of(compact([(tool.wire, tool.about, tool.schema) for tool in tools]))
    report = search.run(SearchRequest(query), load=False).report
    return dict.fromkeys((hit.tool_id.lstrip(":") for hit in report.results), report.answer is Answer.FOUND)


@lru_cache(maxsize=2)
def _search_of(tools: str) -> ToolSearch:
    settings = DiscoverySettings()
    named = [(*wire.rpartition("__"), about, schema) for wire, about, schema in json.loads(tools)]
    known = [Tool(server, name, about, schema) for server, _, name, about, schema in named]
    rankers = CatalogRankers(ToolIndex(known, static=WordLlamaEmbedder.packaged()), settings)
    rules = SearchRules.of(settings)
    return ToolSearch(rankers.index, rankers.names, rankers.get(settings.ranker), rules, SystemClock())
