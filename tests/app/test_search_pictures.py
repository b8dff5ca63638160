"""How search, a tool and a detail look; the pictures are compared."""

from collections.abc import Callable

import pytest
from textual.screen import Screen

from inspector.adapters.memory.vectors import MemoryEmbedder
from inspector.app.dialogs.detail import DetailScreen
from inspector.app.pages.tools.tool.screen import ToolScreen
from tests.support.office import office
from tests.support.picture import Shown, SnapCompare, after, still

__all__ = ["still"]

ORDERS = {"orders": [{"id": 7, "status": "late"}, {"id": 9, "status": "late"}]}

QUERY = ("f4", *"send", "space", *"a", "space", *"late", "space", *"order", "space", *"message", "enter")
SEARCHES = {
    "found": after(*QUERY),
    "abstained": after("f4", *"zebra", "enter"),
    "empty": after("f4"),
    "error": after("f4", "tab", *"shp", "enter"),
    "light": after(*QUERY, light=True),
    "ranker": after(*QUERY, "k"),
}


def _tool(tool_id: str = "weather:get_forecast") -> Callable[[], Screen[None]]:
    return lambda: ToolScreen(tool_id)


OTHERS = {
    "about": after(screen=_tool()),
    "call": after("4", *"Oslo", "enter", screen=_tool()),
    "missing": after("4", "ctrl+r", screen=_tool()),
    "confirm": after("4", "ctrl+r", screen=_tool("shop:refund_order")),
    "gone": after(screen=_tool("shop:gone")),
    "detail": after(screen=lambda: DetailScreen("shop:list_orders", "2 orders are late", ORDERS)),
}


@pytest.mark.parametrize("size", [(80, 24), (120, 32), (200, 60)])
@pytest.mark.parametrize("name", SEARCHES)
def test_search_looks_the_same(snap_compare: SnapCompare, name: str, size: tuple[int, int]) -> None:
    shown = Shown(servers=office(), embedder=MemoryEmbedder())
    assert snap_compare(shown, terminal_size=size, run_before=SEARCHES[name])


@pytest.mark.parametrize("size", [(80, 24), (120, 32)])
@pytest.mark.parametrize("name", OTHERS)
def test_tool_and_detail_look_the_same(snap_compare: SnapCompare, name: str, size: tuple[int, int]) -> None:
    assert snap_compare(Shown(), terminal_size=size, run_before=OTHERS[name])
