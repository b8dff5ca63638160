"""Rankers of words: BM25 by field and as rank-bm25 has it, keywords, and those of real clients."""

import json
import math
from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st
from rank_bm25 import BM25Okapi

from docs.benchmark.codex_order import ORDERS, agreement, orders
from inspector.core.ranking import Signal
from inspector.core.tool import ALWAYS_LOAD, SEARCH_HINT, Tool
from inspector.search.index.document import FIELDS
from inspector.search.index.tool_index import ToolIndex
from inspector.search.index.vocabulary import terms
from inspector.search.ranker import keyword as weight
from inspector.search.ranker.bm25 import Bm25Ranker, Bm25Settings, PrdBm25Ranker
from inspector.search.ranker.client_ranker import CodexRanker
from inspector.search.ranker.keyword import KeywordExpertRanker, keywords
from inspector.search.ranker.ranker import Ranker, Ranking
from inspector.search.ranker.step_ranker import ClaudeCodeRanker
from tests.support.retrieval import rankers_of

some_words = st.sampled_from(
    ["create", "page", "order", "late", "list", "mail", "weather", "the", "user", "x1"]
)
texts = st.lists(some_words, max_size=8).map(" ".join)
catalogs = st.lists(st.tuples(texts, texts), max_size=12).map(
    lambda pairs: [Tool("s", f"{name}_{i}", description) for i, (name, description) in enumerate(pairs)]
)


@pytest.mark.parametrize("written", ["createPage", "create_page", "create-page", "CreatePage", "create page"])
def test_a_name_is_the_same_words_however_it_is_written(written: str) -> None:
    assert terms(written) == ("creat", "page")


BRANDS = "BibTeX YouTube PostgreSQL OAuth TypeScript PowerPoint LaTeX OpenAI GraphQL WordPress MongoDB iPhone"


@pytest.mark.parametrize("ranker", ["bm25", "hybrid"])
@pytest.mark.parametrize("brand", BRANDS.split())
def test_a_word_of_prose_with_capitals_inside_is_found_as_one_word(brand: str, ranker: str) -> None:
    others = [Tool("s", f"t{number}", f"Work with {other}.") for number, other in enumerate(BRANDS.split())]
    parameter = {"properties": {"x": {"description": f"Name of the {brand}."}}}
    for tools, asked in (
        (others, brand.lower()),
        (others, brand),
        ([Tool("s", "t", f"Work with {brand.lower()}."), Tool("s", "u", "Work.")], brand),
        ([Tool("s", "t", "Work.", parameter), Tool("s", "u", "Work.")], brand.lower()),
    ):
        ranking = rankers_of(tools, semantic=False).get(ranker).rank(asked)
        first = tools[ranking.order(1)[0]]
        assert brand.lower() in f"{first.description} {first.input_schema}".lower()
        assert ranking.values.max() > sorted(ranking.values)[-2]


def test_acronyms_digits_and_accents_split_where_a_reader_would() -> None:
    assert terms("HTMLParser2") == ("html", "parser", "2")
    assert terms("größe") == ("größe",)


def test_stop_words_go_unless_nothing_else_is_left() -> None:
    assert terms("list the orders") == ("list", "order")
    assert terms("who are you") == ("who", "are", "you")


def ranking_of(tools: list[Tool], query: str) -> Ranking:
    return Bm25Ranker(ToolIndex(tools)).rank(query)


def test_a_name_weighs_more_than_a_description_and_that_more_than_a_parameter() -> None:
    schema = {"type": "object", "properties": {"refund": {"type": "string"}}}
    tools = [
        Tool("s", "other", "Something else.", schema),
        Tool("s", "other", "Makes a refund."),
        Tool("s", "refund", "Something else."),
    ]
    assert ranking_of(tools, "refund").order() == [2, 1, 0]


def test_a_share_names_the_field_it_comes_from() -> None:
    schema = {"type": "object", "properties": {"order_id": {"type": "string", "description": "The order."}}}
    tools = [Tool("orders", "list_orders", "List all orders.", schema), Tool("s", "other")]
    score = ranking_of(tools, "orders").explain(0)
    assert {part.signal for part in score.parts} == set(FIELDS)
    in_parameters = next(part for part in score.parts if part.signal is Signal.PARAMETERS)
    assert in_parameters.inputs["tf"] == 2


@given(catalogs, texts)
def test_with_one_field_the_scores_are_those_of_rank_bm25_with_a_positive_idf(
    tools: list[Tool], query: str
) -> None:
    from rank_bm25 import BM25Okapi

    # A term's document frequency counts every field, so the others must not have it.
    tools = [Tool("", "unrelated", tool.description) for tool in tools]
    documents = [list(terms(tool.description)) for tool in tools]
    wanted = list(dict.fromkeys(terms(query)))
    only = dict.fromkeys(FIELDS, 0.0) | {Signal.DESCRIPTION: 1.0}
    values = Bm25Ranker(ToolIndex(tools), Bm25Settings(only)).rank(query).values
    if not any(documents):
        assert not values.any()
        return
    model = BM25Okapi(documents)
    model.idf = {
        term: math.log(1 + (len(documents) - n + 0.5) / (n + 0.5))
        for term in {term for document in documents for term in document}
        for n in [sum(term in document for document in documents)]
    }
    assert values == pytest.approx(model.get_scores(wanted), rel=1e-5)


@given(catalogs, texts)
def test_scores_are_those_of_rank_bm25(tools: list[Tool], query: str) -> None:
    tools = [*tools, Tool("s", "create", "User")]
    documents = [f"{tool.name} {tool.description}".lower().split() for tool in tools]
    expected = BM25Okapi(documents).get_scores(query.lower().split())
    assert PrdBm25Ranker(tools).rank(query).values == pytest.approx(expected, abs=1e-9)


TOOLS = (
    Tool("wiki", "createPage", "Make a new document."),
    Tool("wiki", "createPageFromTemplate", "Make a document that looks like another."),
    Tool("data", "run_query", "Query a database and draw a chart."),
    Tool("misc", "ponder", "Think about purple elephants."),
    Tool("misc", "ls", "Show what is there."),
)


def found(ranker: Ranker, tools: Sequence[Tool], query: str) -> list[str]:
    ranking = ranker.rank(query)
    return [tools[position].name for position in ranking.order() if ranking.kept[position]]


def signals(query: str, position: int) -> dict[Signal, float]:
    return {
        part.signal: part.value for part in KeywordExpertRanker(TOOLS).rank(query).explain(position).parts
    }


@pytest.mark.parametrize("query", ["createPage", "CREATEPAGE", " createpage ", "wiki:createPage"])
def test_an_exact_name_is_first_however_it_is_capitalised(query: str) -> None:
    assert found(KeywordExpertRanker(TOOLS), TOOLS, query)[0] == "createPage"
    assert Signal.EXACT in signals(query, 0)


def test_a_name_within_the_query_and_a_query_within_the_name_are_containment() -> None:
    assert signals("please ponder this", 3)[Signal.NAME] == weight.NAME_CONTAINMENT
    assert signals("createpagefrom", 1)[Signal.NAME] == weight.NAME_CONTAINMENT
    assert Signal.NAME not in signals("false alarms", 4)


def test_a_domain_term_weighs_more_than_another_word() -> None:
    tools = (Tool("s", "one", "purple"), Tool("s", "two", "chart"))
    assert found(KeywordExpertRanker(tools), tools, "purple chart") == ["two", "one"]


def test_the_keywords_of_a_system_tool_are_its_name_and_the_domain_terms_of_its_description() -> None:
    assert keywords(TOOLS[2]) == {"run", "query", "database", "draw", "chart"}
    assert keywords(TOOLS[3]) == {"ponder"}


SCHEMA = {"type": "object", "properties": {"city": {"type": "string", "description": "name of a town"}}}
TOOLS_RANKERS = (
    Tool("shop", "list_orders", "Show what customers bought.", SCHEMA),
    Tool("shop", "cancel_order", "Cancel orders that have not left the house."),
    Tool("office", "send_message", "Send a message to a person."),
)


def _kept(ranker: Ranker, query: str) -> list[str]:
    ranking = ranker.rank(query)
    return [TOOLS_RANKERS[position].name for position in ranking.order() if ranking.kept[position]]


claude_code = ClaudeCodeRanker(TOOLS_RANKERS)


def test_codex_puts_tools_in_the_order_of_its_own_engine() -> None:
    """Transliterated scripts, joined line ends, apostrophes, numbers, stems and repeated words among them."""
    texts = json.loads(ORDERS.read_text(encoding="utf-8"))
    tools = [
        Tool(
            tool["server"],
            tool["name"],
            tool["description"],
            {"type": "object", "properties": {key: {} for key in tool["parameters"]}},
        )
        for tool in texts["tools"]
    ]
    engine = CodexRanker(tools, texts["instructions"])
    expected = orders("own")
    assert agreement(engine, [tool.id for tool in tools], expected) == (len(expected), len(expected))


def test_claude_code_selects_tools_by_name() -> None:
    assert _kept(claude_code, "select:send_message,mcp__shop__list_orders") == ["send_message", "list_orders"]


def _in_step(step: int, word: str, number: int) -> Tool:
    """A tool with the word in its name (4), in a word of it (3), in its hint (2), in its description (1)."""
    name = {4: f"{word}_{number}", 3: f"x{word}{number}"}.get(step, f"tool_{number}")
    meta = {SEARCH_HINT: f"finds {word} or more"} if step == 2 else {}
    described = {2: f"No {word}s.", 1: f"Finds one {word}.", 0: f"Finds {word}s."}.get(step, f"A {word}.")
    return Tool("s", name, described, meta=meta)


@given(st.sampled_from(["invoice", "bill", "x1"]), st.permutations([4, 3, 2, 1, 0, 4, 3, 2, 1, 0]))
def test_claude_code_goes_by_names_then_parts_of_them_then_hints_then_descriptions(
    word: str, steps: list[int]
) -> None:
    tools = [_in_step(step, word, number) for number, step in enumerate(steps)]
    expected = sorted((-step, tool.name) for step, tool in zip(steps, tools, strict=True) if step)
    assert found(ClaudeCodeRanker(tools), tools, word.upper()) == [name for _step, name in expected]


def test_claude_code_splits_names_at_underscores_but_not_at_capitals() -> None:
    tools = [Tool("s", name) for name in ("findInvoice", "invoice_find")]
    assert found(ClaudeCodeRanker(tools), tools, "invoice") == ["invoice_find", "findInvoice"]


def test_claude_code_does_not_search_for_a_tool_that_is_loaded_at_once() -> None:
    tools = [Tool("s", "find", meta={ALWAYS_LOAD: always}) for always in (True, False)]
    assert found(ClaudeCodeRanker(tools[:1]), tools[:1], "find") == []
    assert found(ClaudeCodeRanker(tools[1:]), tools[1:], "find") == ["find"]


def test_a_word_with_a_plus_must_match_somewhere() -> None:
    """The order that was measured with Claude Code 2.1.332: request 2, messages[3].content[24]."""
    assert _kept(claude_code, "orders") == ["list_orders", "cancel_order"]
    assert _kept(claude_code, "+cancel orders") == ["cancel_order"]
    texts = ["A merlin.", "Stands for a hint.", *["Stands."] * 4]
    names = ["order_one", "order_two", "order_xmerlinx", "order_merlin_b", "order_merlin_a", "field"]
    hints = ["", "merlin", *[""] * 4]
    tools = [
        Tool("s", name, text, meta={SEARCH_HINT: hint})
        for name, text, hint in zip(names, texts, hints, strict=True)
    ]
    measured = ["order_merlin_a", "order_merlin_b", "order_xmerlinx", "order_two", "order_one"]
    assert found(ClaudeCodeRanker(tools), tools, "+merlin stands") == measured
