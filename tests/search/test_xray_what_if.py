"""What an edit of a tool would change."""

from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from inspector.access.reach import EvalCase
from inspector.core.error import ToolsightError
from inspector.core.settings import DiscoverySettings
from inspector.core.tool import Tool
from inspector.search.document import key_of
from inspector.search.explanation.tool_edit import AROUND, draft, edit_effect
from inspector.search.index import ToolIndex
from inspector.search.rankers.catalog_rankers import CatalogRankers
from inspector.search.rankers.ranker_list import RANKERS
from inspector.search.semantics import Semantics
from tests.support.memory_vectors import MemoryVectors
from tests.support.retrieval import CountingEmbedder, rankers_of, semantic_index

PAY = Tool("shop", "pay_back", "Give the money of an order back.")
TOOLS = (
    Tool("shop", "list_orders", "List orders, newest first."),
    PAY,
    Tool("shop", "get_order", "Get one order."),
    Tool("mail", "send_message", "Send an e-mail about an order."),
    Tool("wiki", "search", "Search pages."),
)
CASES = (
    EvalCase("refund", "refund order", (frozenset({PAY.id}),)),
    EvalCase("list", "list orders", (frozenset({"shop:list_orders"}),)),
    EvalCase("none", "sing a song"),
)
BETTER = replace(PAY, description="Refund an order: give the money back.")
words = st.sampled_from(
    ["refund", "order", "list", "money", "mail", "Search", "\ud800", "\0", "x" * 3000, ""]
)
texts = st.lists(words, max_size=6).map(" ".join)
edits = st.builds(Tool, st.sampled_from(["shop", "new"]), texts.map(lambda text: f"z {text}"), texts)


@pytest.mark.parametrize("semantic", [True, False])
def test_a_missing_word_brings_the_tool_up(semantic: bool) -> None:
    effect = edit_effect(rankers_of(TOOLS, semantic=semantic), BETTER, PAY.id, query="refund order")
    assert effect.after.rank == 1 < effect.before.rank
    assert effect.gain > 0
    assert effect.cases.measured == 0


def test_labelled_requests_are_measured_before_and_after() -> None:
    cases = edit_effect(rankers_of(TOOLS), BETTER, PAY.id, query="", evalset_cases=CASES).cases
    assert cases.measured == 2
    assert cases.hit_before == 0.5
    assert cases.hit_after == cases.ndcg_after == 1.0
    assert cases.ndcg_before is not None
    assert cases.ndcg_before < 1.0
    assert [(change.id, change.after) for change in cases.better] == [("refund", 1)]
    assert cases.worse == ()


def test_an_edit_that_takes_another_tools_words_makes_its_requests_worse() -> None:
    thief = replace(PAY, name="list_orders_list_orders", description="List orders. List orders. List orders.")
    cases = edit_effect(
        rankers_of(TOOLS), thief, PAY.id, query="", evalset_cases=CASES, ranker_name="bm25"
    ).cases
    assert [(change.id, change.before, change.after) for change in cases.worse] == [("list", 1, 2)]


@pytest.mark.parametrize("ranker", RANKERS)
def test_a_renamed_tool_is_relevant_under_either_id(ranker: str) -> None:
    renamed = replace(PAY, name="refund_order")
    case = EvalCase("new", "refund order", (frozenset({renamed.id}),))
    effect = edit_effect(
        rankers_of(TOOLS), renamed, PAY.id, query="refund", evalset_cases=(*CASES, case), ranker_name=ranker
    )
    assert (effect.original_id, effect.edited_id) == ("shop:pay_back", "shop:refund_order")
    assert effect.cases.measured == 3
    assert {change.id for change in effect.cases.worse} & {"refund", "new"} == set()


@pytest.mark.parametrize("ranker", RANKERS)
@pytest.mark.parametrize("semantic", [True, False])
def test_an_unchanged_tool_changes_nothing(ranker: str, semantic: bool) -> None:
    rankers = rankers_of(TOOLS, semantic=semantic)
    for tool in TOOLS:
        effect = edit_effect(
            rankers, replace(tool), tool.id, query="refund order", evalset_cases=CASES, ranker_name=ranker
        )
        assert effect.before == effect.after
        assert effect.collisions_before == effect.collisions_after
        assert effect.cases.ndcg_before == effect.cases.ndcg_after
        assert effect.cases.better == effect.cases.worse == ()
        assert all(neighbour.before == neighbour.after for neighbour in effect.around)


@given(texts, st.data())
def test_an_unchanged_tool_changes_nothing_for_any_query(query: str, data: st.DataObject) -> None:
    tool = data.draw(st.sampled_from(TOOLS))
    effect = edit_effect(rankers_of(TOOLS), replace(tool), tool.id, query=query)
    assert effect.before == effect.after
    assert effect.gain == 0.0


@given(edits, texts)
def test_an_edit_and_back_again_is_as_if_nothing_had_been(edited: Tool, query: str) -> None:
    rankers = rankers_of(TOOLS)
    there = draft(rankers.index, edited, PAY.id)
    back = CatalogRankers(draft(there, PAY, edited.id), DiscoverySettings()).get("hybrid").rank(query)
    assert back.values.tolist() == rankers.get("hybrid").rank(query).values.tolist()


@given(edits, texts)
def test_a_draft_ranks_as_an_index_built_anew(edited: Tool, query: str) -> None:
    tools = tuple(edited if tool is PAY else tool for tool in TOOLS)
    effect = edit_effect(rankers_of(TOOLS), edited, PAY.id, query=query)
    ranking = rankers_of(tools).get("hybrid").rank(query)
    assert effect.after.rank == ranking.order().index(1) + 1
    assert effect.after.value == pytest.approx(float(ranking.values[1]))


def test_the_index_of_the_searches_stays_as_it_is() -> None:
    embedder, store = CountingEmbedder(), MemoryVectors()
    semantics = Semantics(embedder, store)
    index = semantic_index(TOOLS, semantics)
    vocabulary = dict(index.vocabulary)
    edited = replace(PAY, description="A zebra.")
    edit_effect(CatalogRankers(index, DiscoverySettings()), edited, PAY.id, query="zebra")
    assert "A zebra." in embedder.texts
    assert (index.vocabulary, index.tools) == (vocabulary, TOOLS)
    assert not store.vectors(embedder.name, [key_of("A zebra.")])
    assert len(semantics.table([key_of(edited.description)])) == 0


def test_while_too_few_tools_are_embedded_an_edit_goes_by_words() -> None:
    embedder = CountingEmbedder()
    index = ToolIndex(TOOLS, semantics=Semantics(embedder, MemoryVectors()))
    effect = edit_effect(CatalogRankers(index, DiscoverySettings()), BETTER, PAY.id, query="refund order")
    assert embedder.texts == []
    assert effect.after.rank == 1


def test_the_tools_around_are_the_next_ones_in_the_new_order() -> None:
    tools = tuple(Tool("s", f"tool_{i}", " ".join(["order"] * (40 - i))) for i in range(30))
    rankers = rankers_of(tools, semantic=False)
    for position in (0, 3, 15, 29):
        edited = replace(tools[position], title="New")
        around = edit_effect(rankers, edited, edited.id, query="order").around
        ranks = [neighbour.after.rank for neighbour in around]
        assert ranks == list(range(ranks[0], ranks[0] + AROUND + 1))
        assert edited.id in [neighbour.tool_id for neighbour in around]
    assert len(edit_effect(rankers_of(TOOLS), BETTER, PAY.id, query="order").around) == len(TOOLS)


def test_collisions_are_tools_of_one_name_elsewhere_and_those_close_in_meaning() -> None:
    def collisions(edited: Tool) -> tuple[int, int]:
        effect = edit_effect(rankers_of(TOOLS), edited, PAY.id, query="")
        return effect.collisions_before, effect.collisions_after

    assert collisions(replace(PAY, name="search")) == (0, 1)
    assert collisions(replace(PAY, name="get_orders", description="Get one order.")) == (0, 1)
    assert collisions(replace(PAY, description="Something else.")) == (0, 0)


def test_a_taken_id_and_an_unknown_tool_are_refused() -> None:
    with pytest.raises(ToolsightError, match="a tool 'shop:get_order' already"):
        edit_effect(rankers_of(TOOLS), replace(PAY, name="get_order"), PAY.id, query="order")
    with pytest.raises(ToolsightError, match="no tool 'x:y'"):
        edit_effect(rankers_of(TOOLS), PAY, "x:y", query="order")
