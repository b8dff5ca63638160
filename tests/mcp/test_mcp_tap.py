"""A page of tools is judged tool by tool, however few of them are invalid."""

from collections.abc import Sequence
from typing import Any

from hypothesis import given, strategies as st

from inspector.mcp.client.translate import MAX_DEFINITION, SKIPPED, with_valid_tools

OBJECT = {"type": "object"}
REST = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "nextCursor": "2"}
PROTOCOLS = st.sampled_from(["2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28", "", "1999-01-01"])
GOOD = st.fixed_dictionaries(
    {"name": st.sampled_from(["a", "b", "x" * 200, ""]), "inputSchema": st.just(OBJECT)},
    optional={"description": st.text(max_size=5), "title": st.just("T"), "other": st.integers()},
)
BAD: st.SearchStrategy[Any] = st.sampled_from(
    [
        7,
        None,
        "tool",
        [],
        {},
        {"inputSchema": OBJECT},
        {"name": 3, "inputSchema": OBJECT},
        {"name": "untyped", "inputSchema": {}},
        {"name": "snake", "input_schema": OBJECT},
        {"name": "text", "inputSchema": "object"},
        {"name": "claims", "inputSchema": OBJECT, "annotations": {"readOnlyHint": "maybe"}},
        {"name": "output", "inputSchema": OBJECT, "outputSchema": 1},
        {"name": "output", "inputSchema": OBJECT, "outputSchema": {"type": "array"}},
        {"name": "title", "inputSchema": OBJECT, "title": 1},
        {"name": "icons", "inputSchema": OBJECT, "icons": [{"source": "x"}]},
        {"name": "meta", "inputSchema": OBJECT, "_meta": []},
        {"name": "run", "inputSchema": OBJECT, "execution": {"taskSupport": "sometimes"}},
    ]
)


def kept_and_skipped(tools: Sequence[Any], protocol: str) -> tuple[list[Any], list[list[str]]]:
    page = with_valid_tools({**REST, "tools": tools, "_meta": {"mine": 1}}, protocol)
    assert page["_meta"]["mine"] == 1
    assert {key: page[key] for key in REST} == REST
    return page["tools"], page["_meta"][SKIPPED]


@given(st.lists(GOOD | BAD, max_size=8), PROTOCOLS)
def test_a_tool_is_judged_as_if_it_were_alone_on_its_page(tools: list[Any], protocol: str) -> None:
    alone = [kept_and_skipped([tool], protocol) for tool in tools]
    kept, skipped = kept_and_skipped(tools, protocol)
    assert kept == [tool for good, _ in alone for tool in good]
    expected = []
    for number, (_, bad) in enumerate(alone, start=1):
        expected += [[f"tool {number}" if name == "tool 1" else name, flaw] for name, flaw in bad]
    assert skipped == expected


@given(st.lists(GOOD, max_size=5), PROTOCOLS)
def test_a_page_of_good_tools_stays_as_it_was(tools: list[Any], protocol: str) -> None:
    assert kept_and_skipped(tools, protocol) == (tools, [])


def test_a_tool_that_no_model_could_read_is_left_out_and_named() -> None:
    giant = {"name": "giant", "inputSchema": {"type": "object", "title": "x" * MAX_DEFINITION}}
    small = {"name": "small", "inputSchema": {"type": "object"}}
    bad = {"name": "bad"}
    page = with_valid_tools({"tools": [giant, small, bad], "_meta": {SKIPPED: [["mine", "?"]]}}, "2025-06-18")
    assert [tool["name"] for tool in page["tools"]] == ["small"]
    assert [name for name, _ in page["_meta"][SKIPPED]] == ["bad", "giant"]
    assert "reads at most 1 MB" in page["_meta"][SKIPPED][1][1]
