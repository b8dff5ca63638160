"""Call results and server texts of any shape."""

from collections.abc import Mapping
from typing import Any

import pytest

from inspector.mcp.client.limit import size_text
from inspector.mcp.client.process import exit_text
from inspector.mcp.client.translate import (
    MAX_STRUCTURED,
    MAX_TEXT,
    SKIPPED,
    summary,
    tool_result,
    with_valid_tools,
)

OBJECT = {"type": "object"}


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


def test_structured_content_is_kept_beside_the_text() -> None:
    result = tool_result({"content": [block("text", text="5 C")], "structuredContent": {"c": 5}})
    assert (result.text, result.structured) == ("5 C", {"c": 5})


@pytest.mark.parametrize("structured", [[1, 2], "text", 3, {"large": "x" * MAX_STRUCTURED}])
def test_structured_content_that_is_no_small_object_is_left_out(structured: object) -> None:
    assert tool_result({"content": [], "structuredContent": structured}).structured is None


@pytest.mark.parametrize("claim", [True, "true", 1])
def test_only_true_is_an_error(claim: object) -> None:
    assert tool_result({"content": [], "isError": claim}).is_error is (claim is True)


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


@pytest.mark.parametrize("protocol", ["2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28"])
def test_invalid_tools_leave_a_page_and_the_rest_stays(protocol: str) -> None:
    page = {
        "tools": [
            {"name": "good", "inputSchema": OBJECT},
            {"name": "untyped", "inputSchema": {}},
            {"inputSchema": OBJECT},
            7,
            {"name": "claims", "inputSchema": OBJECT, "annotations": {"readOnlyHint": "maybe"}},
        ],
        "nextCursor": "2",
        "resultType": "complete",
        "ttlMs": 0,
        "cacheScope": "private",
    }
    kept = with_valid_tools(page, protocol)
    assert [tool["name"] for tool in kept["tools"]] == ["good"]
    assert kept["nextCursor"] == "2"
    assert [name for name, _ in kept["_meta"][SKIPPED]] == ["untyped", "tool 3", "tool 4", "claims"]


@pytest.mark.parametrize("page", [{"tools": "none"}, {}, {"tools": [], "nextCursor": 5}])
def test_a_page_that_is_wrong_as_a_whole_is_left_to_the_sdk(page: Mapping[str, Any]) -> None:
    assert with_valid_tools(page, "2025-06-18") == page
