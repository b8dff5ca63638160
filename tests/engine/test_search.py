"""PRD sections 2.3 and 5: every combination of parameters, and what the model reads."""

import pytest

from inspector.adapters.memory import ManualClock
from inspector.domain.catalog import Catalog
from inspector.domain.ranking import Outcome, SearchRequest
from inspector.domain.tool import Tool
from inspector.engine.retrieval.search import SearchAnswer, ToolSearch

TOOLS = (
    Tool("shop", "list_orders", "List orders, newest first."),
    Tool("shop", "get_order", "Get one order."),
    Tool("shop", "refund_order", "Refund an order."),
    Tool("mail", "send_message", "Send an e-mail about an order."),
    Tool("mail", "search_messages", "Search messages."),
    Tool("wiki", "search", "Search pages."),
    Tool("calc", "evaluate", "Evaluate an expression with orders of magnitude."),
)
CATALOG = Catalog(TOOLS, frozenset({"shop", "mail", "wiki"}))


def run(
    query: str = "",
    server: str = "",
    names: tuple[str, ...] = (),
    *,
    bound: tuple[str, ...] = (),
    limit: int = 2,
    load: bool = True,
) -> SearchAnswer:
    search = ToolSearch(CATALOG, limit=limit, clock=ManualClock())
    return search.run(SearchRequest(query, server, names), bound=bound, load=load)


def loaded(answer: SearchAnswer) -> list[str]:
    return [tool.id for tool in answer.to_load]


def test_a_query_loads_the_best_tools_up_to_the_limit() -> None:
    answer = run("order")
    assert len(loaded(answer)) == 2
    assert answer.text.startswith("Found 2 tools:")
    outcomes = [hit.outcome for hit in answer.report.hits if hit.score.value > 0]
    assert outcomes[:2] == [Outcome.LOADED] * 2
    assert set(outcomes[2:]) == {Outcome.OVER_LIMIT}


def test_every_deferred_tool_is_in_the_report_with_its_fate() -> None:
    report = run("order").report
    assert len(report.hits) == 6
    assert {hit.tool_id for hit in report.hits if hit.outcome is Outcome.BELOW_FLOOR} == {
        "mail:search_messages",
        "wiki:search",
    }


def test_a_server_alone_loads_all_it_has() -> None:
    assert loaded(run(server="shop")) == ["shop:list_orders", "shop:get_order", "shop:refund_order"]


def test_a_name_alone_loads_exactly_that_tool() -> None:
    assert loaded(run(names=("refund_order",))) == ["shop:refund_order"]


@pytest.mark.parametrize("name", ["shop:get_order", "shop__get_order", "get_order"])
def test_a_tool_is_known_by_its_id_its_wire_name_and_its_plain_name(name: str) -> None:
    assert loaded(run(names=(name,))) == ["shop:get_order"]


def test_a_query_within_a_server_finds_nothing_elsewhere() -> None:
    answer = run("order", server="mail")
    assert loaded(answer) == ["mail:send_message"]
    others = [hit for hit in answer.report.hits if hit.tool_id.startswith("shop:")]
    assert all(hit.outcome is Outcome.OTHER_SERVER for hit in others)


def test_a_name_within_another_server_is_unknown_there() -> None:
    answer = run(server="mail", names=("get_order",))
    assert loaded(answer) == []
    assert "Unknown tool 'get_order'" in answer.text


def test_names_win_over_a_query() -> None:
    assert loaded(run("search", names=("get_order",))) == ["shop:get_order"]


def test_a_query_is_the_fallback_when_no_name_matches() -> None:
    assert "shop:list_orders" in loaded(run("list orders", names=("no_such_tool",)))


def test_one_unknown_name_does_not_keep_the_others_from_loading() -> None:
    answer = run(names=("get_order", "refund_ordr"))
    assert loaded(answer) == ["shop:get_order"]
    assert "Unknown tool 'refund_ordr'. Closest matches: shop:refund_order" in answer.text


def test_an_unknown_server_is_answered_with_the_valid_ones() -> None:
    answer = run("order", server="shoppe")
    assert answer.text == "Unknown server 'shoppe'. Valid servers: shop, mail, wiki."
    assert answer.report.error == answer.text


def test_a_search_without_any_parameter_says_what_to_provide() -> None:
    assert run().text == "Provide at least one of query, server_name or tool_names."


def test_no_match_suggests_another_query() -> None:
    answer = run("zeppelin")
    assert loaded(answer) == []
    assert answer.text.startswith("No matching tools found.")


def test_a_tool_that_is_loaded_already_is_reported_as_such_and_not_loaded_again() -> None:
    answer = run(names=("get_order",), bound=("shop:get_order",))
    assert loaded(answer) == []
    assert "1 tool already loaded:" in answer.text


def test_a_tool_that_is_always_loaded_cannot_be_found() -> None:
    assert all(hit.tool_id != "calc:evaluate" for hit in run("evaluate magnitude").report.hits)


def test_looking_loads_nothing() -> None:
    answer = run("order", load=False)
    assert loaded(answer) == []
    assert {hit.outcome for hit in answer.report.results} == {Outcome.FOUND}
