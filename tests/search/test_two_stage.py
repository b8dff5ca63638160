"""A tool's own similarity and its server's: added for every tool, or multiplied on the best servers."""

import numpy as np
import pytest

from inspector.core.ranking import SearchRequest, Signal
from inspector.core.tool import Tool
from inspector.search.document import SUMMARY
from inspector.search.rankers.catalog_rankers import CatalogRankers
from inspector.search.rankers.ranker import Ranking, Scores, ranking_for
from tests.support.office import office
from tests.support.retrieval import rankers_of

TOOLS = tuple(tool for server in office().values() for tool in server.tools)
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


def found(ranking: Ranking, tools: tuple[Tool, ...]) -> list[str]:
    return [tools[position].id for position in ranking.order() if ranking.kept[position]]


@pytest.mark.parametrize("query", QUERIES)
def test_a_score_is_the_tools_similarity_and_half_of_its_servers_fit(query: str) -> None:
    rankers = rankers_of(TOOLS)
    tool, server = similarities(rankers, query)
    fit = (server + rankers.server_prior.best_three(tool)) / 2
    ranking = rankers.get("two-stage").rank(query)
    assert ranking.values == pytest.approx(np.where(tool > 0, tool + 0.5 * fit, 0.0), abs=1e-9)
    assert ranking.kept.tolist() == (tool > 0).tolist()


def test_the_explanation_has_a_part_for_the_tool_and_one_for_its_server() -> None:
    rankers = rankers_of(TOOLS)
    query = QUERIES[0]
    tool, server = similarities(rankers, query)
    ranking = rankers.get("two-stage").rank(query)
    best = ranking.order(1)[0]
    own, of_server = ranking.explain(best).parts
    assert (own.signal, of_server.signal) == (Signal.SEMANTIC, Signal.SERVER)
    assert own.value == pytest.approx(tool[best])
    assert of_server.inputs["text"] == pytest.approx(server[best])
    assert of_server.inputs["best 3"] == pytest.approx(rankers.server_prior.best_three(tool)[best])
    assert of_server.value == pytest.approx(
        of_server.inputs["share"] * (of_server.inputs["text"] + of_server.inputs["best 3"]) / 2
    )


@pytest.mark.parametrize("semantic", [True, False])
def test_a_tool_on_a_server_that_says_little_is_found_all_the_same(semantic: bool) -> None:
    rankers = rankers_of(HIDDEN, semantic=semantic)
    assert found(rankers.get("two-stage").rank("refund an order"), HIDDEN)[0] == "zzz:run"
    assert "zzz:run" not in found(rankers.get("two-stage-product").rank("refund an order"), HIDDEN)


def test_a_server_alone_finds_no_tool() -> None:
    tools = (
        Tool("mail", "send_message", "Send a message."),
        Tool("mail", "archive", "Put away."),
        Tool("shop", "get_order", "Get an order."),
    )
    ranking = rankers_of(tools, semantic=False).get("two-stage").rank("message")
    assert found(ranking, tools) == ["mail:send_message"]
    assert ranking.explain(1).parts == ()


def test_one_server_adds_nothing() -> None:
    tools = (Tool("shop", "get_order", "Get an order."), Tool("shop", "list_orders", "List orders."))
    rankers = rankers_of(tools)
    tool, _ = similarities(rankers, "get an order")
    ranking = rankers.get("two-stage").rank("get an order")
    assert ranking.values == pytest.approx(tool)
    assert [part.signal for part in ranking.explain(0).parts] == [Signal.SEMANTIC]


@pytest.mark.parametrize("query", QUERIES)
def test_the_product_is_as_published(query: str) -> None:
    rankers = rankers_of(TOOLS)
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
    rankers = rankers_of(TOOLS)
    ranker, query = rankers.get(name), "list what is there"
    mail = SearchRequest(query, server_query="messages and e-mail")
    apart, whole = ranking_for(ranker, mail), ranking_for(ranker, SearchRequest(query))
    assert apart.similarity is not None
    assert whole.similarity is not None
    assert apart.similarity.tolist() == whole.similarity.tolist()
    lifted = {TOOLS[p].server for p in np.flatnonzero(apart.values > whole.values)}
    assert "mail" in lifted


def test_a_ranker_that_looks_at_no_servers_reads_the_description_of_one_as_part_of_the_query() -> None:
    ranker = rankers_of(TOOLS).get("bm25")
    request = SearchRequest("list", server_query="orders")
    assert found(ranking_for(ranker, request), TOOLS) == found(ranker.rank("list (orders)"), TOOLS)
