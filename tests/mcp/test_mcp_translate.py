"""What a server sends, as ours: results, sizes, and pages of tools, each judged by itself."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, strategies as st

from inspector.mcp.client.process import exit_text
from inspector.mcp.client.translate import (
    MAX_DEFINITION,
    MAX_STRUCTURED,
    MAX_TEXT,
    SKIPPED,
    summary,
    tool_result,
    with_valid_tools,
)
from inspector.mcp.pace import size_text


def block(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, **fields}


@pytest.mark.parametrize(
    ("raw", "text", "kinds"),
    [
        ({"content": [block("text", text="a"), block("text", text="b")]}, "a\nb", ("text", "text")),
        ({"content": [block("image", data="QUJD", mimeType="i/p")]}, "[image i/p, 3 B]", ("image",)),
        ({"content": [block("audio", data="QUI=")]}, "[audio of unknown type, 2 B]", ("audio",)),
        (
            {"content": [block("resource", resource={"uri": "file:///a", "text": "hi"})]},
            "[resource file:///a]\nhi",
            ("resource",),
        ),
        (
            {"content": [block("resource", resource={"uri": "x:/a", "mimeType": "a/b", "blob": "AAAA"})]},
            "[resource x:/a a/b, 3 B]",
            ("resource",),
        ),
        ({"content": [block("resource_link", uri="x:/a", name="A")]}, "[link x:/a A]", ("resource_link",)),
        ({"content": [], "structuredContent": {"a": 1}}, '{"a":1}', ("structured",)),
        ({"content": [block("text", text=" ")], "structuredContent": [1]}, "[1]", ("text", "structured")),
        ({"content": "bare"}, '"bare"', ("unknown",)),
        ({"content": [None, block("text")]}, "null\nnull", ("unknown", "text")),
        ({"content": [{"type": 7}]}, '[unknown: {"type":7}]', ("unknown",)),
        ({}, "", ("empty",)),
    ],
)  # fmt: skip
def test_a_result_reads_as_text(raw: Mapping[str, Any], text: str, kinds: tuple[str, ...]) -> None:
    result = tool_result(raw)
    assert (result.text, result.kinds, result.is_error) == (text, kinds, False)


@pytest.mark.parametrize("structured", [[1, 2], "text", 3, {"large": "x" * MAX_STRUCTURED}])
def test_structured_content_that_is_no_small_object_is_left_out(structured: object) -> None:
    assert tool_result({"content": [], "structuredContent": structured}).structured is None


@pytest.mark.parametrize("raw", [{"resultType": "input_required"}, {"task": {"taskId": "1"}}])
def test_results_that_only_begin_something_say_so(raw: Mapping[str, Any]) -> None:
    result = tool_result(raw)
    assert result.is_error
    assert "Toolsight" in result.text


def test_a_text_that_is_too_long_says_how_much_is_missing() -> None:
    text = tool_result({"content": [block("text", text="x" * (MAX_TEXT + 5))]}).text
    assert text.endswith("\n[5 more characters left out; ask for less at a time]")


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (999, "999 B"), (12_288, "12 KB"), (3_400_000, "3 MB"), (2e12, "2000 GB")]
)
def test_sizes_read_well(count: float, text: str) -> None:
    assert size_text(count) == text


@pytest.mark.parametrize(
    ("candidates", "line"),
    [
        (("First. Second.", "title"), "First."),
        (("\n\n  # A   heading\nmore", None), "A heading"),
        (("e.g. this", None), "e.g."),
        ((None, "", "description"), "description"),
        (("x" * 200,), "x" * 159 + "…"),
        ((None,), ""),
    ],
)
def test_a_summary_is_one_short_line(candidates: tuple[str | None, ...], line: str) -> None:
    assert summary(*candidates) == line


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (None, "closed its output"),
        (0, "ended with exit code 0"),
        (-9, "was killed by SIGKILL"),
        (-99, "was killed by signal 99"),
    ],
)
def test_an_end_reads_as_the_rest_of_a_sentence(code: int | None, text: str) -> None:
    assert exit_text(code) == text


@pytest.mark.parametrize("page", [{"tools": "none"}, {}, {"tools": [], "nextCursor": 5}])
def test_a_page_that_is_wrong_as_a_whole_is_left_to_the_sdk(page: Mapping[str, Any]) -> None:
    assert with_valid_tools(page, "2025-06-18") == page


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


def test_a_tool_that_no_model_could_read_is_left_out_and_named() -> None:
    giant = {"name": "giant", "inputSchema": {"type": "object", "title": "x" * MAX_DEFINITION}}
    small = {"name": "small", "inputSchema": {"type": "object"}}
    bad = {"name": "bad"}
    page = with_valid_tools({"tools": [giant, small, bad], "_meta": {SKIPPED: [["mine", "?"]]}}, "2025-06-18")
    assert [tool["name"] for tool in page["tools"]] == ["small"]
    assert [name for name, _ in page["_meta"][SKIPPED]] == ["bad", "giant"]
    assert "reads at most 1 MB" in page["_meta"][SKIPPED][1][1]
