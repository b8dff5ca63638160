"""How far the pages of a list are read, of tools as of resources and prompts."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, strategies as st
from mcp.types import ListToolsResult
from msgspec.structs import replace

from inspector.core.definition import declared, definition_hash
from inspector.core.error import ProtocolError
from inspector.core.ports import ToolListing
from inspector.core.server import SkippedTool, skipped_lines
from inspector.mcp.client.tool_pages import read_pages
from inspector.mcp.client.translate import with_valid_tools
from inspector.mcp.port import ignored
from inspector.mcp.reading import Kind, Offered, Offers

Page = dict[str, Any]
LEFT = "this page and later ones are not listed"


async def listed(answer: Callable[[int], Page]) -> tuple[ToolListing, int]:
    """What is read of a server whose page of that number is this, and how many pages were asked for."""
    asked = 0

    async def page(_cursor: str | None) -> ListToolsResult:
        nonlocal asked
        asked += 1
        raw = with_valid_tools(answer(asked), "2025-11-25")
        return ListToolsResult.model_validate(raw, by_name=False)

    return await read_pages("shop", page, ignored), asked


def tools(*names: str) -> list[Page]:
    return [{"name": name, "inputSchema": {"type": "object"}} for name in names]


def says(listing: ToolListing) -> list[str]:
    return list(skipped_lines(listing.skipped))


async def test_pages_are_read_up_to_the_first_that_lists_nothing_new() -> None:
    listing, asked = await listed(lambda n: {"tools": tools("a", "b"), "nextCursor": f"new {n}"})
    assert asked == 2
    assert [tool.name for tool in listing.tools] == ["a", "b"]
    assert says(listing) == [
        f"page 3: page 2 lists nothing new, but names another; {LEFT}",
        "2 tools, a, b: listed again; the first one is used",
    ]


async def test_an_endless_list_of_nothing_ends() -> None:
    listing, asked = await listed(lambda n: {"tools": [], "nextCursor": f"new {n}"})
    assert (asked, listing.tools) == (1, ())


async def test_equal_notes_are_one_with_a_count() -> None:
    odd = {"name": "odd", "inputSchema": 3}
    pages = {n: {"tools": [*tools("a", f"new {n}"), odd], "nextCursor": "next"} for n in range(1, 10)}
    listing, _ = await listed(lambda n: pages.get(n, {"tools": []}))
    assert len(listing.tools) == 10
    again, wrong = sorted(says(listing))
    assert again == "a: listed again; the first one is used (8 times)"
    assert wrong.endswith("(9 times)")


@pytest.mark.parametrize("cursor", [5, True, ["x"], {"page": 2}])
async def test_a_cursor_that_is_not_text_costs_no_page_before_it(cursor: Any) -> None:
    listing, asked = await listed(
        lambda n: {"tools": tools(f"t{n}"), "nextCursor": "2" if n == 1 else cursor}
    )
    assert (asked, [tool.name for tool in listing.tools]) == (2, ["t1", "t2"])
    (told,) = says(listing)
    assert told.startswith("page 3: the cursor of the next page is not text")


async def test_a_page_that_fails_costs_no_page_before_it() -> None:
    def answer(number: int) -> Page:
        if number == 3:
            raise ProtocolError("cursor expired")
        return {"tools": tools(f"t{number}"), "nextCursor": "next"}

    listing, _ = await listed(answer)
    assert (len(listing.tools), says(listing)) == (2, [f"page 3: cursor expired; {LEFT}"])


RAW: st.SearchStrategy[Page] = st.fixed_dictionaries(
    {"name": st.just("a"), "inputSchema": st.just({"type": "object", "required": None})},
    optional={
        "title": st.sampled_from([None, "", "T"]),
        "description": st.sampled_from([None, "", "D"]),
        "outputSchema": st.sampled_from([None, {"type": "object"}]),
        "annotations": st.sampled_from(
            [None, {}, {"readOnlyHint": True}, {"title": "T"}, {"readOnlyHint": "true"}, {"properties": {}}]
        ),
        "_meta": st.sampled_from([None, {}, {"mine": 1, "anthropic/alwaysLoad": True}]),
        "execution": st.sampled_from([{}, {"taskSupport": "optional"}, {"taskSupport": "forbidden"}]),
        "icons": st.just([]),
        "strict": st.booleans(),
    },
)


@given(RAW)
@example({"name": "a", "title": "T", "inputSchema": {"type": "object"}, "annotations": {"title": "T"}})
async def test_a_listed_tool_can_be_written_as_its_server_sent_it(raw: Page) -> None:
    listing, _ = await listed(lambda _: {"tools": [raw]})
    (tool,) = listing.tools
    assert declared(tool) == raw
    assert definition_hash(tool) == definition_hash(replace(tool, beside={}))
    assert tool == replace(tool, beside={})
    large, _ = await listed(lambda _: {"tools": [{**raw, "strict": "x" * 5_000}]})
    assert "strict" not in declared(large.tools[0])


async def test_what_is_lost_is_kept_as_it_was_sent_with_how_often() -> None:
    odd = {"name": "odd", "inputSchema": 3}
    first = {"tools": [*tools("a"), None, odd], "nextCursor": "next"}
    listing, _ = await listed(lambda n: first if n == 1 else {"tools": [*tools("a"), odd]})
    null, lost, again = listing.skipped
    assert (null.name, null.label, null.kind, null.definition) == ("", "tool 2", "tool", None)
    assert (lost.place, lost.times, lost.definition) == ("inputSchema", 2, odd)
    assert (again.kind, again.definition) == ("again", *tools("a"))


def test_skipped_tools_of_one_reason_are_a_line() -> None:
    skipped = [SkippedTool(name, "too large") for name in "abcde"] + [SkippedTool("f", "no name")]
    assert list(skipped_lines(skipped)) == ["5 tools, a, b, c …: too large", "f: no name"]


class Endless:
    """A link to a server whose lists have these entries on every page, and always another page."""

    def __init__(self, cursor: Callable[[int], Any]) -> None:
        self.asked = 0
        self._cursor = cursor

    async def request(self, method: str, _params: Any, *, timeout: float) -> Page:  # noqa: ARG002
        self.asked += 1
        kind = "resourceTemplates" if "templates" in method else method.partition("/")[0]
        entry = {"uri": "x:a", "uriTemplate": "x:{a}", "name": "a"}
        return {kind: [entry], "nextCursor": self._cursor(self.asked)}


@pytest.mark.parametrize(("kind", "lists"), [("resources", 2), ("prompts", 1)])
async def test_lists_of_anything_are_read_up_to_the_first_page_that_lists_nothing_new(
    kind: Kind, lists: int
) -> None:
    link = Endless(str)
    found: Offered = await Offers(link, 5.0).listed(kind)  # type: ignore[arg-type]
    assert link.asked == 2 * lists
    assert len(found.offers) == lists
    assert found.troubles[0].endswith("has more pages: the last one read lists nothing new")
    link = Endless(lambda _: 5)
    found = await Offers(link, 5.0).listed(kind)  # type: ignore[arg-type]
    assert (link.asked, len(found.offers)) == (lists, lists)
    assert found.troubles[0].endswith("the cursor of the next one is not text")
