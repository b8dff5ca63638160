"""The pages about tools that compete, driven by keys."""

from textual.pilot import Pilot

from inspector.app.pages.tools.catalog import ToolsScreen
from inspector.app.pages.tools.confusable import ConfusableScreen, PairScreen, marked
from inspector.app.place import EditPage, WhyNotPage
from inspector.core.ranking import SearchRequest
from inspector.core.tool import Tool
from tests.support.app import app_rig, destinations, goes, said, seen, until
from tests.support.memory_servers import MemoryServer
from tests.support.memory_vectors import MemoryEmbedder
from tests.support.tools_page import shown
from widgets import RecordList


def _parameters(**described: str) -> dict[str, object]:
    properties = {name: {"type": "string", "description": text} for name, text in described.items()}
    return {"type": "object", "properties": properties, "required": list(properties)[:1]}


def offices() -> dict[str, MemoryServer]:
    """Two trackers that were copied from each other, and a name that three servers use."""
    issue = _parameters(title="What the issue is about.", body="The text of the issue.")
    rest = "in the tracker of a project, with a title and a text."
    ticket = _parameters(title="What the ticket is about.", body="The text of the ticket.")
    return {
        "tracker": MemoryServer(
            [
                Tool("tracker", "create_issue", f"Create an issue {rest}", issue),
                Tool("tracker", "create_ticket", f"Create a ticket {rest}", ticket),
                Tool("tracker", "search", "Search the issues of every project, open ones first."),
            ]
        ),
        "wiki": MemoryServer(
            [
                Tool("wiki", "search", "Full text search in the pages of the handbook."),
                Tool("wiki", "get_page", "Get one page of the handbook."),
            ]
        ),
        "mail": MemoryServer([Tool("mail", "search", "Find messages in a mailbox by sender and date.")]),
    }


def _different() -> dict[str, MemoryServer]:
    return {
        "a": MemoryServer([Tool("a", "add", "Sum up numbers."), Tool("a", "paint", "Draw a picture.")]),
        "b": MemoryServer([Tool("b", "forecast", "Tell the weather of tomorrow.")]),
    }


def _is_compared(pilot: Pilot[None]) -> bool:
    return "Comparing" not in said(pilot, "#facts")


async def _opened(pilot: Pilot[None]) -> RecordList:
    await goes(pilot, "confusable")
    await until(pilot, lambda: _is_compared(pilot))
    return pilot.app.screen.query_one(RecordList)


async def test_the_most_alike_come_first_with_the_reason_and_what_they_share() -> None:
    async with app_rig(servers=offices(), embedder=MemoryEmbedder()) as (pilot, _):
        found = await _opened(pilot)
        first = found.shown[0]
        assert [str(cell) for cell in first.cells[1:5]] == [
            "cosine",
            "same meaning",
            "tracker:create_issue",
            "tracker:create_ticket",
        ]
        assert {"create", "tracker", "project"} <= set(str(first.cells[5]).split())
        assert [str(record.cells[2]) for record in found.shown[1:]] == ["same name"] * 3
        assert "4 pairs among 6 tools" in seen(pilot)


async def test_without_embeddings_words_decide_and_the_page_says_so() -> None:
    async with app_rig(servers=offices()) as (pilot, rig):
        found = await _opened(pilot)
        assert {str(record.cells[1]) for record in found.shown} == {"overlap"}
        assert "not embedded" in seen(pilot)
        rig.bench.switch_toolset("sums")
        await until(pilot, lambda: "No tools to compare yet" in seen(pilot))


async def test_the_keys_of_a_tool_are_about_the_first_of_a_pair_or_the_one_with_the_focus() -> None:
    issue, ticket = (
        f"Create {thing} in the tracker of a project, with a title and a text."
        for thing in ("an issue", "a ticket")
    )
    async with app_rig(servers=offices(), embedder=MemoryEmbedder()) as (pilot, rig):
        await _opened(pilot)
        await pilot.press("l")
        await until(pilot, lambda: "tracker:create_issue" in rig.bench.state.bound_ids)
        went = destinations(pilot)
        await pilot.press("e", "enter", "e", "tab", "l", "w")
        await until(pilot, lambda: "tracker:create_ticket" in rig.bench.state.bound_ids and len(went) == 3)
        assert went[:2] == [EditPage("tracker:create_issue", ticket)] * 2
        assert went[2] == WhyNotPage("tracker:create_ticket", SearchRequest(issue))


async def test_enter_opens_the_two_side_by_side_and_esc_comes_back() -> None:
    async with app_rig(servers=offices(), embedder=MemoryEmbedder()) as (pilot, _):
        await _opened(pilot)
        await pilot.press("enter")
        assert isinstance(pilot.app.screen, PairScreen)
        assert "▸ tracker:create_issue" in seen(pilot)
        await pilot.press("tab")
        assert "▸ tracker:create_ticket" in seen(pilot)
        await pilot.press("enter")
        assert isinstance(pilot.app.screen, ToolsScreen)
        await until(pilot, lambda: shown(pilot) == "tracker:create_ticket")
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, PairScreen))
        await pilot.press("escape")
        assert isinstance(pilot.app.screen, ConfusableScreen)


async def test_no_two_tools_alike_is_told_with_the_reason() -> None:
    async with app_rig(servers=_different(), embedder=MemoryEmbedder()) as (pilot, _):
        await _opened(pilot)
        assert "No confusable tools" in seen(pilot)
        assert "esc goes back" in seen(pilot)
        await pilot.press("enter", "e", "w", "l", "y")
        assert isinstance(pilot.app.screen, ConfusableScreen)


def test_words_are_marked_in_whatever_form_they_are_written() -> None:
    content = marked("createPage: Creating pages [/] of a \x1b page_list", {"creat", "page"})
    assert [content.plain[span.start : span.end] for span in content.spans] == [
        "create",
        "Page",
        "Creating",
        "pages",
        "page",
    ]
