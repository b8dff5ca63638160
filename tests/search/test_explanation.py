"""Why a tool is not found, by which steps it would be, and how rankers compare."""

import math
import re
from collections.abc import Collection

import pytest
from hypothesis import given, strategies as st

from inspector.core.error import ToolsightError
from inspector.core.ranking import TOLERANCE, Outcome, SearchRequest
from inspector.core.settings import DiscoverySettings
from inspector.core.tool import Tool
from inspector.search.answer.search import SearchRules, ToolSearch
from inspector.search.answer.standing import by_step
from inspector.search.answer.why_not import LOOKED_UP, MAX_ADVICE, WhyNot, why_not
from inspector.search.index.vocabulary import Tags
from inspector.search.ranker.catalog_rankers import CatalogRankers
from inspector.search.ranker.ranker_list import RANKERS
from tests.support.fakes import ManualClock
from tests.support.retrieval import rankers_of

TOOLS_STEPS = (
    Tool("shop", "list_orders", "List orders, newest first."),
    Tool("shop", "get_order", "Get one order."),
    Tool("shop", "refund_order", "Refund an order."),
    Tool("mail", "send_message", "Send an e-mail."),
    Tool("wiki", "search", "Search pages."),
)
TWO_STEPS = "Refund the order of order 5, then send an e-mail"


def test_a_step_finds_what_the_whole_request_misses() -> None:
    found = by_step(rankers_of(TOOLS_STEPS, semantic=False), "bm25", TWO_STEPS, SearchRules(1))
    assert [step.text for step in found.steps] == ["Refund the order of order", "send an e-mail"]
    assert [step.tool_ids for step in found.steps] == [("shop:refund_order",), ("mail:send_message",)]
    assert found.whole.text == TWO_STEPS
    assert {*found.whole.tool_ids, *found.only_steps} >= {"shop:refund_order", "mail:send_message"}
    assert len(found.only_steps) == 1


PAY = "shop:pay_back"
TOOLS_NOT = (
    Tool("shop", "list_orders", "List orders, newest first."),
    Tool("shop", "pay_back", "Give the money of an order back."),
    Tool("shop", "refund_order", "Refund an order."),
    Tool("mail", "send_message", "Send an e-mail about an order."),
    Tool("wiki", "search", "Search pages."),
    Tool("mail", "search", "Search messages."),
)
TAGS = Tags({"shop": ("money", "write"), "mail": ("write",)})
EXPERT = DiscoverySettings(expert_tools=("shop:l*",), system_servers=("mail",))
CATALOGS = {
    (semantic, tiers): rankers_of(TOOLS_NOT, semantic=semantic, settings=EXPERT if tiers else None)
    for semantic in (True, False)
    for tiers in (True, False)
}
words = st.sampled_from(
    ["refund", "order", "orders", "list", "the", "money", "mail", "search", "\ud800", "\0"]
)
queries = st.lists(words, max_size=6).map(" ".join)
requests = st.builds(
    SearchRequest,
    queries,
    st.sampled_from(["", "", "", "shop", "mail", "nowhere"]),
    st.sampled_from([(), (), (), ("search",), ("no_such",)]),
    st.sampled_from([(), (), (), ("write",), ("write", "money")]),
)


def ask(
    query: str = "refund order",
    tool_id: str = PAY,
    *,
    ranker: str = "hybrid",
    limit: int = 2,
    threshold: float = 0.0,
    closest: float = 0.0,
    rankers: CatalogRankers = CATALOGS[True, False],
    request: SearchRequest | None = None,
    pinned: Collection[str] = (),
) -> WhyNot:
    request = request or SearchRequest(query)
    rules = SearchRules(limit, threshold, closest, TAGS, pinned=pinned)
    return why_not(rankers, ranker, request, tool_id, rules)


def assert_adds_up(found: WhyNot) -> None:
    total = math.fsum(line.difference for line in found.ledger)
    assert abs(total - found.difference) <= TOLERANCE


def test_the_first_result_has_no_rival_and_needs_no_advice() -> None:
    found = ask(tool_id="shop:refund_order")
    assert found.standing.rank == 1
    assert (found.cut, found.rival, found.ledger, found.advice) == (None, None, (), ())


def test_a_result_is_compared_with_the_one_directly_before_it() -> None:
    results = [ask(tool_id=tool.id, limit=3) for tool in TOOLS_NOT]
    second = next(found for found in results if found.standing.rank == 2)
    assert second.cut is None
    assert second.rival is not None
    assert second.rival.tool_id == "shop:refund_order"


def test_a_tool_over_the_limit_is_compared_with_the_last_result() -> None:
    found = ask("refund order", ranker="bm25", limit=1)
    assert found.cut is Outcome.OVER_LIMIT
    assert found.rival is not None
    assert found.rival.tool_id == "shop:refund_order"
    number = re.search(r"a limit of (\d+) would return it", found.advice[0])
    assert number is not None
    assert ask("refund order", ranker="bm25", limit=int(number[1])).cut is None
    assert ask("refund order", ranker="bm25", limit=int(number[1]) - 1).cut is Outcome.OVER_LIMIT


def test_no_limit_is_advised_where_an_unsure_search_returns_so_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspector.search.answer.search.CLOSEST_AT_MOST", 2)
    found = ask("search order messages", "mail:send_message", limit=5, threshold=0.999)
    assert found.cut is Outcome.OVER_LIMIT
    assert found.advice[0].endswith("a “closest” answer has at most 2.")


def test_a_threshold_that_the_advice_names_returns_the_tool() -> None:
    found = ask("money zxqw vbnm", limit=5, threshold=0.99, closest=0.99)
    assert found.cut is Outcome.NOTHING_FITS
    lower = re.search(r"a threshold of (\d\.\d\d) would return it", found.advice[0])
    assert lower is not None
    assert ask("money zxqw vbnm", limit=5, threshold=0.99, closest=float(lower[1])).cut is None


def test_lacking_terms_are_those_that_no_field_has() -> None:
    assert ask("shop refund back").lacking == ("refund",)
    assert ask("").lacking == ()


def test_a_lookup_is_no_ranking() -> None:
    found = ask(request=SearchRequest("order", tool_names=("search",)))
    assert (found.note, found.rival, found.cut) == (LOOKED_UP, None, Outcome.BELOW_FLOOR)
    assert found.advice == ("The request lists tools by name, and this is not one of them.",)
    assert ask(request=SearchRequest("order", tool_names=("pay back",))).cut is None
    assert ask(request=SearchRequest()).advice == ("The request is empty.",)


@given(requests, st.sampled_from(RANKERS), st.integers(0, 4), st.sampled_from([0.0, 0.5, 1.0]), st.data())
def test_a_tool_is_cut_by_the_rules_of_the_search(
    request: SearchRequest, ranker: str, limit: int, threshold: float, data: st.DataObject
) -> None:
    floor = data.draw(st.sampled_from([0.0, 0.1, 0.5]))
    rankers = CATALOGS[data.draw(st.sampled_from(sorted(CATALOGS)))]
    pinned = data.draw(st.frozensets(st.sampled_from([tool.id for tool in TOOLS_NOT])))
    rules = SearchRules(limit, threshold, floor, TAGS, pinned=pinned)
    search = ToolSearch(rankers.index, rankers.names, rankers.get(ranker), rules, ManualClock())
    report = search.run(request, load=False).report
    hits = {hit.tool_id: hit for hit in report.hits}
    for tool in TOOLS_NOT:
        found = ask(
            request=request,
            tool_id=tool.id,
            ranker=ranker,
            limit=limit,
            threshold=threshold,
            closest=floor,
            rankers=rankers,
            pinned=pinned,
        )
        hit = hits.get(tool.id)
        if hit is None:
            assert found.cut is not None
        else:
            assert found.cut == (None if hit.outcome.is_result else hit.outcome)
            if report.latency_ms or report.terms:
                assert (hit.rank, hit.score) == (found.standing.rank, found.score)


@given(
    queries,
    st.sampled_from(RANKERS),
    st.sampled_from(TOOLS_NOT),
    st.integers(1, 4),
    st.sampled_from(sorted(CATALOGS)),
)
def test_the_ledger_adds_up_from_the_biggest_loss(
    query: str, ranker: str, tool: Tool, limit: int, catalog: tuple[bool, bool]
) -> None:
    found = ask(query, tool.id, ranker=ranker, limit=limit, rankers=CATALOGS[catalog])
    assert_adds_up(found)
    differences = [line.difference for line in found.ledger]
    assert differences == sorted(differences)
    assert len({(line.signal, line.term) for line in found.ledger}) == len(found.ledger)
    assert len(found.advice) <= MAX_ADVICE


def test_an_unknown_tool_and_ranker_are_named() -> None:
    with pytest.raises(ToolsightError, match="no tool 'x:y'"):
        ask(tool_id="x:y")
    with pytest.raises(ToolsightError, match="no ranker 'nope'"):
        ask(ranker="nope")


@given(st.one_of(st.text(st.characters(), max_size=30), st.sampled_from(["\ud800", "\0", "a" * 5000])))
def test_any_text_has_an_answer(text: str) -> None:
    rankers = rankers_of((*TOOLS_NOT, Tool("x", text, text)))
    request = SearchRequest(f"{text} order", "", (text[:5],), ())
    assert_adds_up(ask(request=request, rankers=rankers))
    assert_adds_up(ask(text, f"x:{text}", rankers=rankers))
