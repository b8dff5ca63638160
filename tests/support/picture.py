"""An app for pictures: it owns its workbench, because snap_compare runs it in its own event loop."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from textual import constants
from textual.pilot import Pilot
from textual.screen import Screen

from inspector.adapters.memory.fakes import MemoryServer
from inspector.app import app as app_module
from inspector.app.app import ToolsightApp
from inspector.app.dialogs.approver import ModalApprover
from inspector.app.opening import Opened
from inspector.domain.price import Prices
from inspector.domain.server import ServerPhase
from inspector.engine.ports import Embedder, TokenCounter
from tests.support.app import until, until_still
from tests.support.told_model import Step
from tests.support.workbench import Rig, opened
from widgets import PlainInput

SnapCompare = Callable[..., bool]


@pytest.fixture(autouse=True)
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "TEXTUAL_ANIMATIONS", "none")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(PlainInput, "cursor_blink", False)


class Shown(ToolsightApp):
    """An app that opens and closes its own workbench, because snap_compare runs it in its own event loop."""

    CSS_PATH = str(Path(app_module.__file__).with_name("app.tcss"))

    def __init__(
        self,
        *steps: Step,
        servers: Mapping[str, MemoryServer] | None = None,
        approved: bool = True,
        embedder: Embedder | None = None,
        counter_for: Callable[[str], TokenCounter] | None = None,
        prices: Sequence[Prices] = (),
    ) -> None:
        super().__init__(self._start_rig)
        self._steps = steps
        self._servers = servers
        self._approved = approved
        self._embedder = embedder
        self._counter_for = counter_for
        self._prices = prices
        self._rig: Rig | None = None
        self._stack = AsyncExitStack()

    async def _start_rig(self) -> Opened:
        approver = ModalApprover()
        self._rig = await self._stack.enter_async_context(
            opened(
                *self._steps,
                servers=self._servers,
                approver=approver,
                approved=self._approved,
                embedder=self._embedder,
                counter_for=self._counter_for,
                prices=self._prices,
            )
        )
        return Opened(self._rig.bench, self._rig.memory, approver)

    @property
    def is_settled(self) -> bool:
        """Whether everything is connected and drawn."""
        if self._rig is None or self.view is None:
            return False
        state = self._rig.bench.state
        open_phases = (ServerPhase.CONNECTING, ServerPhase.STOPPED)
        decided = state.servers and all(s.phase not in open_phases for s in state.servers.values())
        return bool(decided) and self.view.session == state

    async def on_unmount(self) -> None:  # type: ignore[override]
        super().on_unmount()
        await self._stack.aclose()


def after(
    *keys: str, screen: Callable[[], Screen[None]] | None = None, light: bool = False
) -> Callable[[Pilot[None]], Awaitable[None]]:
    async def run(pilot: Pilot[None]) -> None:
        app = pilot.app
        assert isinstance(app, Shown)
        await until(pilot, lambda: app.is_settled)
        if light:
            app.action_toggle_theme()
        if screen is not None:
            await app.push_screen(screen())
        for key in keys:
            await pilot.press(key)
            await pilot.pause()
        await until(pilot, lambda: app.is_settled)
        await until_still(pilot)

    return run
