"""What an edit of a tool would change."""

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from inspector.access.reach import EvalCase
from inspector.core.error import ToolsightError
from inspector.core.ranking import Answer
from inspector.core.tool import Tool
from inspector.search.answer.search import SearchRules
from inspector.search.answer.tool_edit import EditTrial
from inspector.search.ranker.ranker_list import RANKERS
from tests.support.retrieval import rankers_of

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
RULES = SearchRules(threshold=0.35, closest_threshold=0.01)
words = st.sampled_from(
    ["refund", "order", "list", "money", "mail", "Search", "\ud800", "\0", "x" * 3000, ""]
)
texts = st.lists(words, max_size=6).map(" ".join)
edits = st.builds(Tool, st.sampled_from(["shop", "new"]), texts.map(lambda text: f"z {text}"), texts)


@pytest.mark.parametrize("semantic", [True, False])
def test_a_missing_word_brings_the_tool_up(semantic: bool) -> None:
    effect = EditTrial.of(rankers_of(TOOLS, semantic=semantic), BETTER, PAY.id, "hybrid").on(
        "refund order", RULES
    )
    assert effect.after.rank == 1 < effect.before.rank
    assert effect.after.value > effect.before.value
    assert effect.cases.measured == 0
    answers = (
        (effect.answer_before, effect.probability_before),
        (effect.answer_after, effect.probability_after),
    )
    for answer, sure in answers:
        assert (sure is None) is not semantic
        assert (answer is Answer.FOUND) is (sure is None or sure >= RULES.threshold)


def test_labelled_requests_are_measured_before_and_after() -> None:
    cases = EditTrial.of(rankers_of(TOOLS), BETTER, PAY.id, "hybrid").over(CASES)
    assert cases.measured == 2
    assert [(change.id, change.after) for change in cases.better] == [("refund", 1)]
    assert cases.worse == ()


@pytest.mark.parametrize("ranker", RANKERS)
def test_a_renamed_tool_is_relevant_under_either_id(ranker: str) -> None:
    renamed = replace(PAY, name="refund_order")
    case = EvalCase("new", "refund order", (frozenset({renamed.id}),))
    trial = EditTrial.of(rankers_of(TOOLS), renamed, PAY.id, ranker)
    effect, cases = trial.on("refund", RULES), trial.over((*CASES, case))
    assert (effect.original_id, effect.edited_id) == ("shop:pay_back", "shop:refund_order")
    assert cases.measured == 3
    assert {change.id for change in cases.worse} & {"refund", "new"} == set()


@given(edits, texts)
def test_a_draft_ranks_as_an_index_built_anew(edited: Tool, query: str) -> None:
    tools = tuple(edited if tool is PAY else tool for tool in TOOLS)
    effect = EditTrial.of(rankers_of(TOOLS), edited, PAY.id, "hybrid").on(query, RULES)
    ranking = rankers_of(tools).get("hybrid").rank(query)
    assert effect.after.rank == ranking.order().index(1) + 1
    assert effect.after.value == pytest.approx(float(ranking.values[1]))


def test_a_taken_id_and_an_unknown_tool_are_refused() -> None:
    with pytest.raises(ToolsightError, match="a tool 'shop:get_order' already"):
        EditTrial.of(rankers_of(TOOLS), replace(PAY, name="get_order"), PAY.id, "hybrid")
    with pytest.raises(ToolsightError, match="no tool 'x:y'"):
        EditTrial.of(rankers_of(TOOLS), PAY, "x:y", "hybrid").on("order", RULES)
