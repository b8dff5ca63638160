"""PRD sections 2.3 and 5: every combination of parameters, and what the model reads."""

import numpy as np
import pytest

from inspector.core.ranking import Outcome, SearchRequest
from inspector.core.settings import DiscoverySettings
from inspector.core.tool import Tool
from inspector.loop.search_tools import parse_request
from inspector.search.answer.answer_text import SearchAnswer
from inspector.search.answer.retrieval import Retrieval
from inspector.search.answer.search import SearchRules, ToolSearch
from inspector.search.index.tool_index import ToolIndex
from inspector.search.index.vocabulary import Tags
from inspector.search.ranker.catalog_rankers import CatalogRankers
from inspector.search.ranker.ranker_list import INFO
from tests.support.fakes import ManualClock
from tests.support.retrieval import rankers_of, words_only

TOOLS = (
    Tool("shop", "list_orders", "List orders, newest first."),
    Tool("shop", "get_order", "Get one order."),
    Tool("shop", "refund_order", "Refund an order."),
    Tool("mail", "send_message", "Send an e-mail about an order."),
    Tool("mail", "search_messages", "Search messages."),
    Tool("wiki", "search", "Search pages."),
    Tool("calc", "evaluate", "Evaluate an expression with orders of magnitude."),
)
RANKERS = CatalogRankers(ToolIndex(TOOLS), DiscoverySettings())
TAGS = Tags({"mail": ("comms",), "wiki": ("docs", "comms")})


def run(
    query: str = "",
    server: str = "",
    names: tuple[str, ...] = (),
    *,
    bound: tuple[str, ...] = (),
    pinned: tuple[str, ...] = (),
    limit: int = 2,
    load: bool = True,
    ranker: str = "bm25",
    tags: tuple[str, ...] = (),
    threshold: float = 0.0,
    misses: int = 40,
    rankers: CatalogRankers = RANKERS,
) -> SearchAnswer:
    rules = SearchRules(limit, threshold, tags=TAGS, bound=(*bound, *pinned), pinned=pinned)
    search = ToolSearch(rankers.index, rankers.names, rankers.get(ranker), rules, ManualClock())
    request = SearchRequest(query, server, names, tags)
    return search.run(request, load=load, misses=misses)


def loaded(answer: SearchAnswer) -> list[str]:
    return [tool.id for tool in answer.to_load]


def test_a_query_loads_the_best_tools_up_to_the_limit() -> None:
    answer = run("refund order")
    assert len(loaded(answer)) == 2
    assert answer.text.startswith("Found 2 tools:")
    outcomes = [hit.outcome for hit in answer.report.hits if hit.score.value > 0]
    assert outcomes[:2] == [Outcome.LOADED] * 2
    assert set(outcomes[2:]) == {Outcome.OVER_LIMIT}


def test_every_permitted_tool_is_in_the_report_with_its_fate() -> None:
    report = run("order").report
    assert len(report.hits) == 7
    assert {hit.tool_id for hit in report.hits if hit.outcome is Outcome.BELOW_FLOOR} == {
        "mail:search_messages",
        "wiki:search",
    }


def test_a_server_alone_loads_all_it_has() -> None:
    assert loaded(run(server="shop")) == ["shop:list_orders", "shop:get_order", "shop:refund_order"]


@pytest.mark.parametrize("name", ["shop:get_order", "shop__get_order", "get_order"])
def test_a_tool_is_known_by_its_id_its_wire_name_and_its_plain_name(name: str) -> None:
    assert loaded(run(names=(name,))) == ["shop:get_order"]


@pytest.mark.parametrize("server", ["mail", "Mail", "MAIL ", "mcp__mail", "m-a-i-l"])
def test_a_server_is_named_in_any_spelling(server: str) -> None:
    answer = run("order", server=server)
    assert loaded(answer) == ["mail:send_message"]
    assert answer.report.request.server_name == "mail"


def test_a_tag_is_known_in_any_case_and_an_unknown_one_is_answered_with_the_known() -> None:
    found = loaded(run("message page", tags=("COMMS",)))
    assert {tool_id.partition(":")[0] for tool_id in found} == {"mail", "wiki"}
    assert run("order", tags=("money",)).text == "No tool has the tag 'money'. Tags: comms, docs."


def test_one_unknown_name_does_not_keep_the_others_from_loading() -> None:
    answer = run(names=("get_order", "refund_ordr"))
    assert loaded(answer) == ["shop:get_order"]
    assert "Unknown tool 'refund_ordr'. Closest matches: shop:refund_order" in answer.text


@pytest.mark.parametrize(
    ("query", "server", "names", "said"),
    [
        ("", "mail", ("get_order",), "'get_order' is a tool of shop, not of mail."),
        ("order", "shoppe", (), "Unknown server 'shoppe'. Valid servers: shop, mail, wiki, calc."),
        ("", "", (), "Provide at least one of query, server_name or tool_names."),
        ("zeppelin", "", (), "No matching tools found."),
    ],
)
def test_a_search_that_finds_nothing_says_what_to_do(
    query: str, server: str, names: tuple[str, ...], said: str
) -> None:
    answer = run(query, server, names)
    assert loaded(answer) == []
    assert answer.text.startswith(said)


@pytest.mark.parametrize(
    "ranker", [name for name, info in INFO.items() if info.of_client and name != "vscode"]
)
def test_a_clients_own_search_does_not_say_that_we_have_loaded_a_tool(ranker: str) -> None:
    retrieval = words_only(DiscoverySettings(ranker=ranker), ManualClock())
    retrieval.update(TOOLS, {})
    held = [tool.id for tool in TOOLS]
    report = retrieval.look(SearchRequest("order"), bound=held, pinned=held[:2]).report
    assert {hit.outcome for hit in report.results} == {Outcome.FOUND}


def test_a_tool_that_is_loaded_already_is_reported_as_such_and_not_loaded_again() -> None:
    answer = run(names=("get_order",), bound=("shop:get_order",))
    assert loaded(answer) == []
    assert "1 tool already loaded, call it directly:" in answer.text


def test_a_pinned_winner_is_named_first_and_takes_no_place() -> None:
    without = run("evaluate orders", limit=2)
    answer = run("evaluate orders", limit=2, pinned=("calc:evaluate",))
    assert loaded(without)[0] == "calc:evaluate"
    assert answer.text.startswith("1 tool already loaded, call it directly:\n\n- calc:evaluate")
    assert len(loaded(answer)) == 2
    assert "calc:evaluate" not in loaded(answer)


def test_pinned_tools_are_listed_up_to_the_limit_and_none_after_the_last_place() -> None:
    every = tuple(tool.id for tool in TOOLS)
    assert len(run("orders messages pages", limit=2, pinned=every).report.results) == 2
    last = run("orders", limit=1, pinned=("calc:evaluate",))
    assert [hit.tool_id for hit in last.report.results] == loaded(last)


def test_a_tag_keeps_to_the_servers_that_carry_it() -> None:
    answer = run("order search", tags=("comms",), limit=9)
    assert {tool.server for tool in answer.to_load} == {"mail", "wiki"}
    assert {hit.outcome for hit in answer.report.hits if hit.tool_id.startswith("shop:")} == {
        Outcome.OTHER_TAG
    }


@pytest.mark.parametrize(
    "name",
    ["mcp__shop__refund_order", "Shop-RefundOrder", "refund-order", "REFUND ORDER", "shop.refundOrder"],
)
def test_a_nearly_exact_name_is_found(name: str) -> None:
    assert loaded(run(names=(name,))) == ["shop:refund_order"]


RANKED = DiscoverySettings(ranker="bm25", results="ranked", max_search_results=2, max_limit=3)


def searching(settings: DiscoverySettings) -> Retrieval:
    retrieval = words_only(settings, ManualClock())
    retrieval.update(TOOLS, {})
    return retrieval


@pytest.mark.parametrize(("asked", "found"), [(0, 2), (1, 1), (3, 3), (40, 3)])
def test_as_many_results_as_were_asked_for_within_the_limit(asked: int, found: int) -> None:
    report = searching(RANKED).search(SearchRequest("order", limit=asked), bound=()).report
    assert (len(report.results), report.limit) == (found, found)


def test_a_ranked_answer_lists_all_matches_by_score_whether_they_are_bound_or_not() -> None:
    answer = searching(RANKED).search(SearchRequest("refund order", limit=3), bound=("shop:get_order",))
    ids = [hit.tool_id for hit in answer.report.results]
    lines = answer.text.splitlines()
    assert [line.split()[1] for line in lines if line[:1].isdigit()] == ids
    assert "now loaded" in lines[-1]


def test_a_ranked_answer_says_what_has_no_room() -> None:
    answer = searching(RANKED).search(SearchRequest("order"), bound=())
    first, second = (hit.tool_id for hit in answer.report.results)
    placed = answer.placed({first}, ())
    assert placed.text.startswith("Best tools for 'order' (ranked by relevance):")
    assert f"Not loaded, as there is no more room: {second}." in placed.text


@pytest.mark.parametrize(
    ("given", "limit"), [(3, 3), ("3", 3), (3.7, 3), (0, 1), (-2, 1), (None, 0), ("many", 0), (1e400, 0)]
)
def test_a_limit_is_read_leniently(given: object, limit: int) -> None:
    assert parse_request({"query": "x", "limit": given}).limit == limit


def test_a_request_in_mcp_zeros_form_is_read_as_its_two_parts() -> None:
    block = "<tool_assistant>\nserver: a shop's orders\ntool: list those that are late\n</tool_assistant>"
    request = parse_request({"query": block})
    assert (request.query, request.server_query) == ("list those that are late", "a shop's orders")
    assert parse_request({"query": f"{block} and more"}).query == f"{block} and more"


@pytest.mark.parametrize(
    ("ranker", "measure"), [("hybrid", "fit"), ("dense", "similarity"), ("two-stage", "similarity")]
)
def test_nothing_that_fits_less_than_was_asked_for_is_a_result(ranker: str, measure: str) -> None:
    rankers = rankers_of(TOOLS)
    ranking = rankers.get(ranker).rank("list orders")
    values = getattr(ranking, measure)
    least = float(np.sort(values[ranking.kept])[-2])
    request = SearchRequest("list orders", min_similarity=least)
    rules = SearchRules(9)
    report = (
        ToolSearch(rankers.index, rankers.names, rankers.get(ranker), rules, ManualClock())
        .run(request)
        .report
    )
    kept = {TOOLS[p].id for p in np.flatnonzero(ranking.kept & (values >= least))}
    assert {hit.tool_id for hit in report.results} == kept
    assert 0 < len(kept) <= 2


@pytest.mark.parametrize(("ranker", "withheld"), [("bm25", ("shop:refund_order",)), ("claude-code", ())])
def test_a_clients_own_search_withholds_nothing(ranker: str, withheld: tuple[str, ...]) -> None:
    found = searching(DiscoverySettings(ranker=ranker)).look(SearchRequest("order"), bound=())
    assert found.report.withheld == withheld
    results = [hit.tool_id for hit in found.report.results]
    assert ("shop:refund_order" in results) is not bool(withheld)
