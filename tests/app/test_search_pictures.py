"""How search, a tool and a detail look; the pictures are compared."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from textual import constants
from textual.pilot import Pilot
from textual.screen import Screen

from inspector.app import app as app_module
from inspector.app.app import ToolsightApp
from inspector.app.approver import ModalApprover
from inspector.app.opening import Opened
from inspector.app.screens.detail import DetailScreen
from inspector.app.screens.tool import ToolScreen
from tests.support.app import until
from tests.support.workbench import Rig, opened
from widgets import PlainInput

SnapCompare = Callable[..., bool]
ORDERS = {"orders": [{"id": 7, "status": "late"}, {"id": 9, "status": "late"}]}


@pytest.fixture(autouse=True)
def _still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "TEXTUAL_ANIMATIONS", "none")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(PlainInput, "cursor_blink", False)


class _Shown(ToolsightApp):
    """An app that opens and closes its workbench: snap_compare runs an event loop of its own around it."""

    CSS_PATH = str(Path(app_module.__file__).with_name("app.tcss"))

    def __init__(self) -> None:
        super().__init__(self._start_rig)
        self._rig: Rig | None = None
        self._stack = AsyncExitStack()

    async def _start_rig(self) -> Opened:
        approver = ModalApprover()
        self._rig = await self._stack.enter_async_context(opened(approver=approver))
        return Opened(self._rig.bench, self._rig.memory, approver)

    @property
    def is_settled(self) -> bool:
        """Whether everything is connected and drawn."""
        if self._rig is None or self.view is None:
            return False
        connected = self._rig.bench.state.ready_servers == len(self._rig.servers)
        return connected and self.view.session == self._rig.bench.state

    async def on_unmount(self) -> None:  # type: ignore[override]
        super().on_unmount()
        await self._stack.aclose()


def _after(
    *keys: str, screen: Callable[[], Screen[None]] | None = None, light: bool = False
) -> Callable[[Pilot[None]], Awaitable[None]]:
    async def run(pilot: Pilot[None]) -> None:
        app = pilot.app
        assert isinstance(app, _Shown)
        await until(pilot, lambda: app.is_settled)
        if light:
            app.action_toggle_theme()
        if screen is not None:
            await app.push_screen(screen())
        for key in keys:
            await pilot.press(key)
            await pilot.pause()
        await until(pilot, lambda: app.is_settled)

    return run


SEARCHES = {
    "found": _after("f4", *"refund", "space", *"late", "space", *"order", "enter"),
    "empty": _after("f4"),
    "error": _after("f4", "tab", *"shp", "enter"),
    "light": _after("f4", *"order", "enter", light=True),
}


def _tool(tool_id: str = "weather:get_forecast") -> Callable[[], Screen[None]]:
    return lambda: ToolScreen(tool_id)


OTHERS = {
    "about": _after(screen=_tool()),
    "call": _after("4", *"Oslo", "enter", screen=_tool()),
    "missing": _after("4", "ctrl+r", screen=_tool()),
    "confirm": _after("4", "ctrl+r", screen=_tool("shop:refund_order")),
    "gone": _after(screen=_tool("shop:gone")),
    "detail": _after(screen=lambda: DetailScreen("shop:list_orders", "2 orders are late", ORDERS)),
}


@pytest.mark.parametrize("size", [(80, 24), (120, 32), (200, 60)])
@pytest.mark.parametrize("name", SEARCHES)
def test_search_looks_the_same(snap_compare: SnapCompare, name: str, size: tuple[int, int]) -> None:
    assert snap_compare(_Shown(), terminal_size=size, run_before=SEARCHES[name])


@pytest.mark.parametrize("size", [(80, 24), (120, 32)])
@pytest.mark.parametrize("name", OTHERS)
def test_tool_and_detail_look_the_same(snap_compare: SnapCompare, name: str, size: tuple[int, int]) -> None:
    assert snap_compare(_Shown(), terminal_size=size, run_before=OTHERS[name])
