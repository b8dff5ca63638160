"""The app on an in-memory workbench, driven by real key presses."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager

from textual.pilot import Pilot

from inspector.adapters.memory.fakes import MemoryServer
from inspector.app.app import ToolsightApp
from inspector.app.dialogs.approver import ModalApprover
from inspector.app.opening import Opened
from inspector.domain.configuration import Configuration
from inspector.domain.price import Prices
from inspector.engine.ports import Embedder
from tests.support.told_model import Step
from tests.support.workbench import Rig, opened

PATIENCE = 400
_ALIKE = 4


@asynccontextmanager
async def app_rig(
    *steps: Step,
    servers: Mapping[str, MemoryServer] | None = None,
    size: tuple[int, int] = (120, 32),
    settled: bool = True,
    approved: bool = True,
    embedder: Embedder | None = None,
    configuration: Configuration | None = None,
    prices: Sequence[Prices] = (),
) -> AsyncGenerator[tuple[Pilot[None], Rig], None]:
    """Run the app; with `settled`, every server is ready or failed, and drawn."""
    approver = ModalApprover()
    async with opened(
        *steps,
        servers=servers,
        approver=approver,
        approved=approved,
        embedder=embedder,
        configuration=configuration,
        prices=prices,
    ) as rig:
        app = app_on(rig, approver)
        async with app.run_test(size=size) as pilot:
            if settled:
                await until(pilot, lambda: bool(rig.store.read("s", kinds=("catalog",))))
                await rig.bench.wait_connected()
                await rig.bench.retrieval.settled()
                await until(pilot, lambda: app.view is not None and app.view.session == rig.bench.state)
            yield pilot, rig


def app_on(rig: Rig, approver: ModalApprover) -> ToolsightApp:
    """An app that shows the rig's workbench."""

    async def start() -> Opened:
        return Opened(rig.bench, rig.memory, approver)

    return ToolsightApp(start)


async def until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    """Let the app run until the condition holds; fail after many turns of the event loop."""
    for _ in range(PATIENCE):
        if condition():
            await pilot.pause()
            return
        await pilot.pause(0.01)
    raise AssertionError("the app never met the condition")


async def until_still(pilot: Pilot[None]) -> None:
    """Let the app run until its picture stops changing: late layouts, scroll bars, underlines."""
    last, alike = "", 0
    for _ in range(PATIENCE):
        await pilot.wait_for_scheduled_animations()
        await pilot.pause(0.01)
        drawn = pilot.app.export_screenshot()
        alike = alike + 1 if drawn == last else 0
        last = drawn
        if alike == _ALIKE:
            return
    raise AssertionError("the app never stopped changing")
