"""Rankers in tiers and stages, and what a server's best tools say of it."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, strategies as st

from inspector.core.ranking import SearchRequest
from inspector.core.settings import DiscoverySettings
from inspector.core.tool import Tool
from inspector.search.index.document import SUMMARY
from inspector.search.index.tool_index import ToolIndex
from inspector.search.ranker.catalog_rankers import CatalogRankers
from inspector.search.ranker.query_fusion import ServerPrior
from inspector.search.ranker.ranker import Ranking, Scores, ranking_for
from tests.support.office import office
from tests.support.retrieval import rankers_of

TOOLS = (
    Tool("crm", "list_notes", "List notes of a customer."),
    Tool("memory", "recall_notes", "Recall notes about something."),
    Tool("wiki", "search_notes", "Search notes for words."),
    Tool("wiki", "list_notes", "List notes of the wiki."),
    Tool("mail", "send", "Send a letter to somebody far away."),
)
SETTINGS = DiscoverySettings(expert_tools=("mail:*",), system_servers=("memory",), iso_threshold=0.3)


def ranked(query: str, settings: DiscoverySettings = SETTINGS, *, semantic: bool = True) -> Ranking:
    return rankers_of(TOOLS, semantic=semantic, settings=settings).get("three-tier").rank(query)


def found(query: str, settings: DiscoverySettings = SETTINGS, *, semantic: bool = True) -> list[str]:
    ranking = ranked(query, settings, semantic=semantic)
    return [TOOLS[position].id for position in ranking.order() if ranking.kept[position]]


def test_expert_tools_come_before_system_tools_and_those_before_the_catalog() -> None:
    settings = DiscoverySettings(expert_tools=("crm:*",), system_servers=("memory",), iso_threshold=0.3)
    results = found("search notes for words", settings)
    assert results[:3] == ["crm:list_notes", "memory:recall_notes", "wiki:search_notes"]


def test_what_is_not_near_enough_is_not_found() -> None:
    assert found("translate a poem into Klingon") == []
    assert "mail:send" not in found("search notes for words", DiscoverySettings(iso_threshold=0.3))


def test_of_tools_with_one_name_the_later_tier_is_left_out() -> None:
    settings = DiscoverySettings(expert_tools=("crm:*",), iso_threshold=-1)
    assert "wiki:list_notes" not in found("list notes of a customer", settings)
    assert "wiki:list_notes" in found("search for words", settings)
    everything = DiscoverySettings(iso_threshold=-1)
    assert {"crm:list_notes", "wiki:list_notes"} <= set(found("list notes", everything))


def test_without_vectors_words_must_cover_half_of_the_query() -> None:
    assert found("translate a poem into Klingon about notes", semantic=False) == ["memory:recall_notes"]
    assert "wiki:search_notes" in found("search notes", semantic=False)
    assert ranked("search notes", semantic=False).note


TOOLS_STAGE = tuple(tool for server in office().values() for tool in server.tools)
QUERIES = ("where is my late order", "invite people to an event", "refund", "messages about an order")
# A tool whose server says nothing of it, among servers that are named for what is asked.
CITIES = ("Oslo", "Lima", "Rome", "Bonn", "Kyiv", "Bern", "Doha")
HIDDEN = (
    Tool("zzz", "run", "Refund an order."),
    *(Tool(f"refund {city}", "open", f"Open the office in {city}.") for city in CITIES),
)


def similarities(rankers: CatalogRankers, query: str) -> tuple[Scores, Scores]:
    """Those of the tools, and those of the servers by tool."""
    index = rankers.index
    vector = index.query_vector(query)
    assert vector is not None
    of_server = dict(zip(index.servers, index.server_similarities(vector), strict=True))
    by_tool = np.array([of_server[tool.server] for tool in index.tools])
    return index.similarities(vector)[SUMMARY].clip(min=0.0), by_tool.clip(min=0.0)


def found_of_stage(ranking: Ranking, tools: tuple[Tool, ...]) -> list[str]:
    return [tools[position].id for position in ranking.order() if ranking.kept[position]]


@pytest.mark.parametrize("query", QUERIES[:2])
def test_a_score_is_the_tools_similarity_and_half_of_its_servers_fit(query: str) -> None:
    rankers = rankers_of(TOOLS_STAGE)
    tool, server = similarities(rankers, query)
    fit = (server + rankers.server_prior.best_three(tool)) / 2
    ranking = rankers.get("two-stage").rank(query)
    assert ranking.values == pytest.approx(np.where(tool > 0, tool + 0.5 * fit, 0.0), abs=1e-9)
    assert ranking.kept.tolist() == (tool > 0).tolist()


@pytest.mark.parametrize("semantic", [True, False])
def test_a_tool_on_a_server_that_says_little_is_found_all_the_same(semantic: bool) -> None:
    rankers = rankers_of(HIDDEN, semantic=semantic)
    assert found_of_stage(rankers.get("two-stage").rank("refund an order"), HIDDEN)[0] == "zzz:run"
    assert "zzz:run" not in found_of_stage(rankers.get("two-stage-product").rank("refund an order"), HIDDEN)


@pytest.mark.parametrize("query", QUERIES[:2])
def test_the_product_is_as_published(query: str) -> None:
    rankers = rankers_of(TOOLS_STAGE)
    tool, server = similarities(rankers, query)
    ranking = rankers.get("two-stage-product").rank(query)
    assert ranking.values == pytest.approx(server * tool * np.maximum(server, tool), abs=1e-9)


def test_the_product_keeps_the_tools_of_the_five_best_servers() -> None:
    tools = tuple(Tool(f"order {city}", "get_order", f"Get an order in {city}.") for city in CITIES)
    rankers = rankers_of(tools)
    _, server = similarities(rankers, "get an order in Rome")
    ranking = rankers.get("two-stage-product").rank("get an order in Rome")
    best = np.argsort(-server, kind="stable")[:5]
    assert sorted(np.flatnonzero(ranking.kept)) == sorted(best)


@pytest.mark.parametrize("name", ["two-stage", "two-stage-product"])
def test_a_server_described_apart_lifts_its_tools_and_leaves_similarity_as_it_is(name: str) -> None:
    rankers = rankers_of(TOOLS_STAGE)
    ranker, query = rankers.get(name), "list what is there"
    mail = SearchRequest(query, server_query="messages and e-mail")
    apart, whole = ranking_for(ranker, mail), ranking_for(ranker, SearchRequest(query))
    assert apart.similarity is not None
    assert whole.similarity is not None
    assert apart.similarity.tolist() == whole.similarity.tolist()
    lifted = {TOOLS_STAGE[p].server for p in np.flatnonzero(apart.values > whole.values)}
    assert "mail" in lifted


# Few servers and few values, so that there are large servers, small ones and ties.
SERVERS = st.sampled_from(["a", "b", "c", ""])
VALUES = st.one_of(st.sampled_from([0.0, 0.5, -1.0]), st.floats(-1e6, 1e6))
TOOLS_PRIOR = st.lists(st.tuples(SERVERS, VALUES), max_size=40)


def index_of(servers: Sequence[str]) -> ToolIndex:
    return ToolIndex([Tool(server, f"tool {number}") for number, server in enumerate(servers)])


def best_three(tools: Sequence[tuple[str, float]]) -> Scores:
    prior = ServerPrior(index_of([server for server, _ in tools]))
    return prior.best_three(np.array([value for _, value in tools]))


def naive(tools: Sequence[tuple[str, float]]) -> list[float]:
    means = []
    for server, _ in tools:
        best = sorted((value for other, value in tools if other == server), reverse=True)[:3]
        means.append(sum(best) / len(best))
    return means


@given(TOOLS_PRIOR)
def test_each_tool_gets_the_mean_of_its_servers_three_best_values(tools: list[tuple[str, float]]) -> None:
    assert best_three(tools).tolist() == pytest.approx(naive(tools), rel=1e-12, abs=1e-9)
