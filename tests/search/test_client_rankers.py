"""Rankers that follow real clients find what those found, in their order.

`client_orders.json` has what Qwen Code 0.24.4, Droid 0.215.0, Mistral Vibe 3.0.2 and Copilot CLI 1.0.102
(with Claude) gave over its tools on 2026-11-29: how many tools of their own took places, then the others.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from inspector.clients.client import find_client
from inspector.clients.seen import as_sent
from inspector.core.settings import DiscoverySettings
from inspector.core.tool import Tool
from inspector.search.index.tool_index import ToolIndex
from inspector.search.ranker.catalog_rankers import CatalogRankers
from inspector.search.ranker.pattern import CopilotRanker
from inspector.search.ranker.ranker import Ranker
from inspector.search.ranker.vibe_ranker import VibeRanker
from tests.search.test_word_rankers import found

ORDERS = json.loads(Path(__file__).with_name("client_orders.json").read_text(encoding="utf-8"))
TOOLS = [
    Tool(
        one["server"],
        one["name"],
        one.get("description", ""),
        one["inputSchema"],
        output_schema=one.get("outputSchema"),
    )
    for one in ORDERS["tools"]
]
WORDS = st.sampled_from(
    ["water", "plants", "plan", "list", "beds", "stop", "back", "tool", "shed", "the", "a"]
)


def as_client(name: str) -> tuple[Ranker, tuple[Tool, ...]]:
    client = find_client(name)
    tools = as_sent(client, TOOLS)
    return CatalogRankers(ToolIndex().updated(tools), DiscoverySettings()).get(client.search.ranker), tools


@pytest.mark.parametrize("name", [name for name in ORDERS if name != "tools"])
def test_a_client_finds_these_tools_in_this_order(name: str) -> None:
    (ranker, tools), results = as_client(name), find_client(name).search.results
    ids = {tool.name: tool.id for tool in tools}
    for query, (own, *expected) in ORDERS[name].items():
        got = [ids[each] for each in found(ranker, tools, query)][: results - own]
        assert (query, got) == (query, expected)


@given(st.lists(WORDS, max_size=4), st.sampled_from(["plan", "list", "back"]))
def test_a_word_with_a_plus_has_to_be_in_the_name(words: list[str], required: str) -> None:
    for ranker, tools in map(as_client, ("qwen-code", "droid")):
        names = found(ranker, tools, f"{' '.join(words)} +{required}")
        assert sorted(names) == sorted(tool.name for tool in tools if required in tool.name)


@given(st.lists(WORDS, min_size=1, max_size=4))
def test_vibe_counts_a_word_once_and_other_clients_as_often_as_it_stands_there(words: list[str]) -> None:
    query, twice = " ".join(words), " ".join(words * 2)
    for name, times in (("vibe", 1), ("droid", 2), ("qwen-code", 2)):
        ranker, _tools = as_client(name)
        assert ranker.rank(twice).values == pytest.approx(ranker.rank(query).values * times, abs=1e-6)


def test_what_is_no_pattern_finds_nothing_in_copilot() -> None:
    tools = [Tool("s", "run", "Runs f(x).")]
    assert found(CopilotRanker(tools), tools, "f(") == []
    assert found(CopilotRanker(tools), tools, r"f\(") == ["run"]
    assert "no pattern" in CopilotRanker(tools).rank("f(").note


def test_a_schema_that_is_no_schema_is_searched_as_one_that_says_nothing() -> None:
    loop = {"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"items": {"$ref": "#/$defs/A"}}}}
    deep: dict[str, Any] = {"const": "pearl"}
    for _ in range(3_000):
        deep = {"anyOf": [deep]}
    wide: dict[str, Any] = {"description": "x" * 9_000}
    for _ in range(25):
        wide = {"type": ["object", "array"], "properties": {"a": wide}, "items": wide}
    odd: list[dict[str, Any]] = [
        {"properties": 7, "enum": None},
        {"properties": {"a": {"type": [[], None]}}},
        loop,
        deep,
        wide,
    ]
    tools = [Tool("s", f"tool_{number}", "", schema) for number, schema in enumerate(odd)]
    assert len(found(VibeRanker(tools), tools, "tool")) == len(tools)
    assert found(VibeRanker(tools), tools, "pearl") == []
