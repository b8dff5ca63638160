"""The manifest page: exact, ready to be read, and clear about why it is empty."""

import json

from inspector.app.place import EditPage, ToolPage, WhyNotPage
from inspector.core.budget import Tokenizer
from inspector.core.message import ModelRequest
from inspector.core.ranking import SearchRequest
from inspector.core.server import ServerPhase
from inspector.core.session import ServerState, SessionState
from inspector.features.clients.request_page import label, pretty, token_rows, why_empty
from tests.support.app import app_rig, destinations, goes, toasts, until
from widgets import RecordList

ENTRIES = tuple({"type": "function", "function": {"name": name}} for name in ("search_tools", "calc__add"))
REQUEST = ModelRequest(system="Be brief.", messages=(), tools=ENTRIES, max_output=10)


def test_rows_are_the_prompt_each_entry_in_order_and_the_whole() -> None:
    rows = token_rows(REQUEST, 9, (40, 2))
    assert [row.key for row in rows] == ["system prompt", "search_tools", "calc__add", "whole array of 2"]
    assert [row.cells[1] for row in rows] == ["9", "40", "2", "42"]
    offered = token_rows(REQUEST, 9, (40, 2), offered=7)[-1]
    assert (offered.key, offered.cells[1]) == ("before the message", "7")


def test_why_there_is_no_manifest() -> None:
    ready = SessionState(servers={"a": ServerState("a", ServerPhase.READY)})
    assert "see Tools" in why_empty(SessionState())
    assert "defer_loading" in why_empty(ready)


def test_what_was_cut_from_the_manifest_is_shown_with_the_setting() -> None:
    limited = {"manifest": {"max_tokens": 1_600}}
    cut = SessionState(manifest_rules=("descriptions left out",), settings=limited)
    shown = label(Tokenizer(), cut).plain.splitlines()
    assert shown[1:] == ["shortened: descriptions left out", "to fit in 1,600 tokens (manifest.max_tokens)"]
    assert len(label(Tokenizer(), SessionState(settings=limited)).plain.splitlines()) == 1


async def test_the_manifest_can_be_copied_at_once_and_the_array_with_one_key_more() -> None:
    async with app_rig() as (pilot, rig):
        await goes(pilot, "manifest")
        await pilot.press("y")
        await until(pilot, lambda: pilot.app.clipboard == rig.bench.state.manifest)
        await pilot.press("right", "y")
        await until(pilot, lambda: pilot.app.clipboard == pretty(rig.bench.next_request()))
        assert json.loads(pilot.app.clipboard) == list(rig.bench.next_request().tools)


async def test_an_entry_is_a_tool_with_the_keys_of_every_tool() -> None:
    async with app_rig() as (pilot, rig):
        rig.bench.load("shop:list_orders")
        await goes(pilot, "manifest")
        table = pilot.app.screen.query_one("#manifest-table", RecordList)
        await until(pilot, lambda: any(row.key == "shop__list_orders" for row in table.records))
        table.focus()
        table.move_to("shop__list_orders")
        await pilot.press("y")
        assert pilot.app.clipboard == "shop:list_orders"
        await pilot.press("l")
        await until(pilot, lambda: "shop:list_orders" not in rig.bench.state.bound_ids)
        table.move_to("calc__evaluate")
        went = destinations(pilot)
        await pilot.press("enter", "w", "e")
        await until(pilot, lambda: len(went) == 3)
        assert went == [
            ToolPage("calc:evaluate"),
            WhyNotPage("calc:evaluate", SearchRequest()),
            EditPage("calc:evaluate", ""),
        ]
        await pilot.press("home", "enter", "w")
        await until(pilot, lambda: "Put the cursor on a tool first." in toasts(pilot))
