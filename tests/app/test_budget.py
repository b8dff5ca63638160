"""The budget page: where tool tokens go."""

import pytest

from fixtures.hostile import HOSTILE
from inspector.adapters.memory import MemoryServer
from inspector.app.presenters.budget_table import budget_rows, is_server
from inspector.app.screens.servers import ServersScreen
from inspector.app.screens.tool import ToolScreen
from inspector.domain.session import Binding, SessionState, ToolState
from inspector.domain.tool import Tool
from tests.support.app import app_rig, until
from tests.support.picture import Shown, SnapCompare, after, still
from tests.widgets.screen import lines
from widgets import RecordList

__all__ = ["still"]


def session(*tools: ToolState) -> SessionState:
    return SessionState(tools={tool.id: tool for tool in tools})


CHEAP = ToolState("a:cheap", 10, Binding.PINNED)
DEAR = ToolState("b:dear", 70, Binding.LOADED)
MIDDLE = ToolState("b:middle", 20, Binding.EVICTED)


def test_the_dearest_server_comes_first_and_its_dearest_tool_next() -> None:
    rows = budget_rows(session(CHEAP, MIDDLE, DEAR))
    assert [row.key for row in rows] == ["server b", "b:dear", "b:middle", "server a", "a:cheap"]
    assert [row.cells[3] for row in rows] == ["90 %", "70 %", "20 %", "10 %", "10 %"]


def test_a_state_is_a_word_beside_its_icon() -> None:
    rows = {row.key: row for row in budget_rows(session(CHEAP, MIDDLE, DEAR))}
    assert [rows[key].cells[4] for key in ("a:cheap", "b:dear", "b:middle")] == [
        "pinned",
        "loaded",
        "evicted",
    ]


def test_one_tool_is_no_plural() -> None:
    assert budget_rows(session(CHEAP))[0].cells[1] == "a (1 tool)"


def test_tools_without_tokens_divide_by_nothing() -> None:
    assert budget_rows(session(ToolState("a:x", 0, Binding.PINNED)))[1].cells[3] == ""


@pytest.mark.parametrize("name", HOSTILE)
def test_any_text_makes_a_row(name: str) -> None:
    rows = budget_rows(session(ToolState(f"a:{HOSTILE[name]}", 1, Binding.DEFERRED)))
    assert [is_server(row.key) for row in rows] == [True, False]


async def test_enter_opens_a_tool_and_a_server_its_page() -> None:
    async with app_rig() as (pilot, _):
        await pilot.press("f5")
        table = pilot.app.screen.query_one("#budget-table", RecordList)
        await until(pilot, lambda: bool(table.records))
        await pilot.press("home", "down", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ToolScreen))
        await pilot.press("escape", "home", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ServersScreen))


async def test_names_are_whole_where_the_bar_would_take_their_place() -> None:
    name = "query_database_by_column"
    servers = {"notes": MemoryServer([Tool("notes", name, "Find rows.")])}
    async with app_rig(servers=servers, size=(80, 24)) as (pilot, _):
        await pilot.press("f5")
        await until(pilot, lambda: any(f"notes:{name}" in line for line in lines(pilot.app)))


def test_the_page_looks_the_same_in_light(snap_compare: SnapCompare) -> None:
    assert snap_compare(Shown(), terminal_size=(200, 60), run_before=after("f5", light=True))
