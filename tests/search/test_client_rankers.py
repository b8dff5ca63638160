"""How real clients search, as far as it is known: what each finds, and what it misses."""

import pytest

from inspector.core.tool import Tool
from inspector.schema.schema import fields
from inspector.search.rankers.client import ClaudeCodeRanker, CodexRanker
from inspector.search.rankers.ranker import Ranker

SCHEMA = {"type": "object", "properties": {"city": {"type": "string", "description": "name of a town"}}}
TOOLS = (
    Tool("shop", "list_orders", "Show what customers bought.", SCHEMA),
    Tool("shop", "cancel_order", "Cancel orders that have not left the house."),
    Tool("office", "send_message", "Send a message to a person."),
)


def _kept(ranker: Ranker, query: str) -> list[str]:
    ranking = ranker.rank(query)
    return [TOOLS[position].name for position in ranking.order() if ranking.kept[position]]


codex = CodexRanker(TOOLS, {"office": "Mail and calendars of a company."})
claude_code = ClaudeCodeRanker(TOOLS)


def test_codex_finds_no_part_of_a_name_with_underscores() -> None:
    assert _kept(codex, "list") == []
    assert _kept(codex, "list_orders") == ["list_orders"]


def test_codex_finds_stemmed_words_of_the_description_and_no_stop_words() -> None:
    assert _kept(codex, "customer buying") == ["list_orders"]
    assert _kept(codex, "of the and") == []


def test_codex_finds_a_server_by_its_instructions_and_a_tool_by_its_parameters_names() -> None:
    assert _kept(codex, "calendar") == ["send_message"]
    assert _kept(codex, "city") == ["list_orders"]
    assert fields(SCHEMA)[0].description == "name of a town"
    assert _kept(codex, "town") == []


def test_claude_code_selects_tools_by_name() -> None:
    assert _kept(claude_code, "select:send_message,mcp__shop__list_orders") == ["list_orders", "send_message"]


def test_claude_code_puts_the_tool_that_a_query_names_first() -> None:
    assert _kept(claude_code, "cancel_order")[0] == "cancel_order"


def test_a_word_with_a_plus_must_be_in_the_name() -> None:
    assert _kept(claude_code, "orders") == ["list_orders", "cancel_order"]
    assert _kept(claude_code, "+cancel orders") == ["cancel_order"]


@pytest.mark.parametrize("ranker", [codex, claude_code], ids=["codex", "claude-code"])
def test_an_empty_query_finds_nothing(ranker: Ranker) -> None:
    assert _kept(ranker, "  ") == []
