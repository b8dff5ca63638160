"""The edit pane, driven by keys."""

import re

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace
from textual.events import Paste
from textual.pilot import Pilot
from textual.widgets import Static, TextArea

from fixtures.hostile import HOSTILE, HUGE, hostile_tools
from inspector.app.place import EditPage, WhyNotPage
from inspector.core.ranking import SearchRequest
from inspector.core.tool import Tool
from inspector.features.search import edit_pane as edit_pane
from inspector.features.search.draft import LONGEST, FieldText
from inspector.features.search.edit_pane import EditPane
from inspector.schema.json_value import JsonObject
from inspector.schema.schema import fields
from inspector.search.answer.tool_edit import reworded, wording_of
from tests.support.app import app_rig, arrives, seen, until
from tests.support.memory_servers import MemoryServer
from tests.support.memory_vectors import MemoryEmbedder
from tests.widgets.hostile import dangerous
from tests.widgets.screen import lines
from widgets import RecordList

PAY = Tool(
    "shop",
    "pay_back",
    "Give the money of an order back.",
    {
        "type": "object",
        "properties": {
            "order": {"type": "string", "description": "The number of the order."},
            "amount": {"type": "number", "description": "How much, in euros; all of it where empty."},
        },
        "required": ["order"],
    },
)
QUERY = "refund a late order"
BETTER = "Refund a late order. "


def shop() -> dict[str, MemoryServer]:
    """An order desk whose refund tool does not say refund, beside other servers."""
    return {
        "shop": MemoryServer(
            [
                Tool("shop", "list_orders", "List the orders of a customer, late ones first."),
                PAY,
                Tool("shop", "get_order", "Get one order with its items and its status."),
                Tool("shop", "cancel_order", "Cancel an order that has not been sent yet."),
                Tool("shop", "list_customers", "List customers by name or e-mail address."),
            ]
        ),
        "mail": MemoryServer(
            [
                Tool("mail", "send_message", "Send an e-mail message, for example about a late order."),
                Tool("mail", "search_messages", "Search the messages of a mailbox."),
                Tool("mail", "list_folders", "List the folders of a mailbox."),
            ]
        ),
        "wiki": MemoryServer(
            [
                Tool("wiki", "search_pages", "Search the pages of the handbook."),
                Tool("wiki", "get_page", "Get a page of the handbook as text."),
                Tool("wiki", "list_folders", "List the folders of the handbook."),
            ]
        ),
    }


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edit_pane, "PAUSE", 0.02)


def _page(pilot: Pilot[None]) -> EditPane:
    return pilot.app.screen.query_one(EditPane)


def _mark(pilot: Pilot[None]) -> str:
    return str(_page(pilot).query_one("#mark", Static).visual)


def _answer(pilot: Pilot[None]) -> str:
    return str(_page(pilot).query_one("#answer", Static).visual)


def _area(pilot: Pilot[None]) -> TextArea:
    return _page(pilot).query_one(TextArea)


async def _measured(pilot: Pilot[None]) -> None:
    await until(pilot, lambda: _mark(pilot) in {"✓ ranks are current", "not measured"})


async def _opened(pilot: Pilot[None], tool_id: str = PAY.id, query: str = QUERY) -> None:
    await arrives(pilot, EditPage(tool_id, query))
    await until(pilot, lambda: getattr(pilot.app.focused, "id", "") == "description")
    await _measured(pilot)


def keys(text: str) -> tuple[str, ...]:
    return tuple("space" if letter == " " else letter for letter in text)


async def _typed(pilot: Pilot[None], text: str) -> None:
    await pilot.press(*keys(text))
    await _measured(pilot)


async def _pasted(pilot: Pilot[None], text: str) -> None:
    pilot.app.post_message(Paste(text))
    await pilot.pause()
    await _measured(pilot)


async def test_typing_a_missing_word_brings_the_tool_to_the_first_place() -> None:
    async with app_rig(servers=shop(), embedder=MemoryEmbedder()) as (pilot, rig):
        await _opened(pilot)
        assert re.search(r"^(\w+ \d+ %) → \1, 4th → 4th$", _answer(pilot), re.MULTILINE)
        assert "0 of" in _answer(pilot)
        await _typed(pilot, BETTER)
        assert re.search(r"^\w+ \d+ % → found \d+ %, 4th → 1st$", _answer(pilot), re.MULTILINE)
        before, after = re.findall(r"(\d+) → (\d+) tokens", _answer(pilot))[0]
        assert int(after) - int(before) == len(BETTER)
        around = _page(pilot).query_one("#around", RecordList)
        assert around.shown[0].key == PAY.id
        assert len(around.shown) == 11
        assert rig.bench.catalog.require(PAY.id) == PAY
        assert "draft only" in seen(pilot)


async def test_without_a_query_the_edited_text_has_half_of_the_screen() -> None:
    async with app_rig(servers=shop(), embedder=MemoryEmbedder(), size=(120, 36)) as (pilot, _):
        await _opened(pilot, query="")
        assert _page(pilot).size.width > 55
        assert "For this query" not in seen(pilot)
        assert f"no query yet  {PAY.id}" in seen(pilot)
        await arrives(pilot, EditPage(PAY.id, QUERY))
        await until(pilot, lambda: "For this query, among 11 tools" in seen(pilot))


async def test_w_before_any_query_lets_one_be_typed_at_once_and_then_explains() -> None:
    async with app_rig(servers=shop(), embedder=MemoryEmbedder(), size=(80, 24)) as (pilot, _):
        await arrives(pilot, WhyNotPage(PAY.id, SearchRequest()))
        await until(pilot, lambda: getattr(pilot.app.focused, "id", "") == "query")
        await pilot.press(*keys(QUERY), "enter")
        await until(pilot, lambda: f"{PAY.id}   for “{QUERY}”" in seen(pilot))


async def test_a_draft_is_there_again_after_esc() -> None:
    async with app_rig(servers=shop()) as (pilot, _):
        await _opened(pilot)
        await _pasted(pilot, BETTER)
        await pilot.press("escape")
        await _opened(pilot, "shop:get_order")
        assert not _area(pilot).text.startswith(BETTER)
        await pilot.press("escape")
        await _opened(pilot)
        assert _area(pilot).text == BETTER + PAY.description
        assert "Your draft" in seen(pilot)


@pytest.mark.parametrize(("typed", "then"), [("", "New words."), (BETTER, BETTER + PAY.description)])
async def test_a_draft_outlives_a_change_by_the_server_and_the_servers_text_follows(
    typed: str, then: str
) -> None:
    async with app_rig(servers=shop()) as (pilot, rig):
        await _opened(pilot)
        await _pasted(pilot, typed)
        server = rig.servers["shop"]
        server.tools = tuple(replace(t, description="New words.") if t == PAY else t for t in server.tools)
        await rig.bench.reconnect("shop")
        await rig.bench.wait_connected()
        await until(pilot, lambda: getattr(_page(pilot)._tool, "description", "") == "New words.")
        await _measured(pilot)
        assert _area(pilot).text == then


@given(st.text() | st.text("ab\n\t\x1b\ud800\u202e"), st.booleans())
def test_a_text_that_nobody_edits_stays_as_it_is(text: str, lines: bool) -> None:
    shown = FieldText(text, lines=lines)
    assert shown.read(shown.value) == text


def test_what_a_field_does_not_show_stays_behind_an_edit() -> None:
    shown = FieldText("x" * LONGEST + "\x1b[2J", lines=True)
    assert shown.read(f"new {shown.value}") == "new " + "x" * LONGEST + "\x1b[2J"
    one_line = FieldText("two\nlines")
    assert one_line.read(f"{one_line.value}!") == "two\nlines!"


SCHEMAS: list[JsonObject] = [
    PAY.input_schema,
    {
        "$ref": "#/$defs/all",
        "$defs": {"all": {"properties": {"a": {"$ref": "#/$defs/b"}}, "required": ["a"]}},
    },
    {"properties": {"a": True, "b": False, "c": {"description": 7}}, "required": [1, "b"]},
    {"properties": []},
    {},
]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_every_parameter_takes_another_name_and_description(schema: JsonObject) -> None:
    tool = replace(PAY, input_schema=schema)
    own = wording_of(tool)
    new = tuple(replace(p, name=f"new_{p.name}", description="Said anew.") for p in own.parameters)
    edited = reworded(tool, replace(own, parameters=new))
    known, changed = fields(tool.input_schema), fields(edited.input_schema)
    assert [f.name for f in changed] == [f"new_{f.name}" for f in known]
    assert {f.description for f in changed} <= {"Said anew."}
    assert [f.required for f in changed] == [f.required for f in known]
    assert wording_of(tool) == own


def _hostile() -> dict[str, MemoryServer]:
    named = [
        Tool("bad", tool["name"], tool["description"], tool["inputSchema"])
        for tool in hostile_tools()
        if tool["name"].removeprefix("hostile_") not in HUGE
    ]
    every = "\n".join(text for name, text in HOSTILE.items() if name not in HUGE)
    all_at_once = Tool("bad", "every", every, {"properties": {every: {"description": every}, "y": True}})
    return {
        "bad": MemoryServer([*named, all_at_once]),
        "big": MemoryServer([Tool("big", "big", "x" * 10**5)]),
    }


@pytest.mark.slow
async def test_hostile_texts_do_no_harm_and_stay_as_they_are() -> None:
    async with app_rig(servers=_hostile(), size=(80, 24)) as (pilot, rig):
        for tool_id in ("bad:every", "big:big"):
            await _opened(pilot, tool_id, "\x1b[2J \ud800")
            assert not dangerous("".join(lines(pilot.app)))
            assert "Your draft" not in seen(pilot)
            await _typed(pilot, "q")
            assert "Your draft" in seen(pilot)
            wording = _page(pilot)._editor.wording
            assert len(wording.description) > len(rig.bench.catalog.require(tool_id).description)
            assert not dangerous(wording.description.replace("\n", "").replace("\t", ""))
            await pilot.press("ctrl+y", "escape")
