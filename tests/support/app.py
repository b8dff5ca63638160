"""The app on an in-memory workbench, driven by real key presses."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from textual.app import ComposeResult
from textual.pilot import Pilot
from textual.widgets import Static

from inspector.app import app as app_module
from inspector.app.app import HOME, ToolsightApp
from inspector.app.base_screen import BaseScreen, HeaderLine
from inspector.app.dialogs.approver import ModalApprover
from inspector.app.dialogs.elicitor import ModalElicitor
from inspector.app.opening import Opened
from inspector.app.place import Destination
from inspector.app.stream import View
from inspector.config.configuration import Configuration
from inspector.config.profile import DEFAULT_PROFILE
from inspector.core.error import SettingProblem
from inspector.core.feature import Part, Parts
from inspector.core.session import SessionState
from inspector.core.settings import Settings
from inspector.features.chat.page import SessionScreen
from inspector.session.view import SessionView
from tests.support.fakes import Step
from tests.support.workbench import Rig, opened

# Seconds that a condition may take on a machine that is busy with other things.
PATIENCE = 30
# Seconds between the first two looks while only a thread or a timer can bring what is waited for. What a
# thread works on for long is looked at more seldom: to draw a screen holds the thread up.
_NAP, _LONGER, _LONGEST_NAP = 0.003, 1.3, 0.03


class BlankSession(SessionScreen):
    """The home of an app whose test looks at another page: the session page takes most of an app's start."""

    CSS_PATH = None  # type: ignore[assignment]
    AUTO_FOCUS = ""

    def compose(self) -> ComposeResult:
        yield HeaderLine(markup=False)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Nothing to leave or to stop."""
        return True

    def show_view(self, view: View) -> None:
        """Nothing to draw."""


Beside = Callable[[Rig], Mapping[Any, Any]]


class RigApp(ToolsightApp):
    """An app whose home is the session page (`at_home`) or a blank one."""

    CSS_PATH = str(Path(app_module.__file__).with_name("app.tcss"))
    at_home = False

    def new_page(self, name: str) -> BaseScreen:
        return BlankSession() if name == HOME and not self.at_home else super().new_page(name)

    def soon(self, callback: Callable[[], None], _seconds: float) -> None:
        """A burst of records reaches the pages in the app's next turn, not some milliseconds later."""
        self.call_later(callback)


@asynccontextmanager
async def app_rig(
    *steps: Step,
    size: tuple[int, int] = (120, 32),
    settled: bool = True,
    at_home: bool = False,
    yes: bool = False,
    beside: Beside = lambda _: {},
    **ground: Any,
) -> AsyncGenerator[tuple[Pilot[None], Rig], None]:
    """The app, running; with `settled` every server is ready or failed and drawn.

    What the app gets `beside` the workbench are parts by their keys, and fields of `Opened`; `ground` is what
    `opened` takes besides. Tests of the session page take `at_home`; under any other page there is a blank
    one. With `yes` every call is approved without asking.
    """
    approver, elicitor = ModalApprover(yes=yes), ModalElicitor()
    async with opened(*steps, approver=approver, elicitor=elicitor, **ground) as rig:

        async def start() -> Opened:
            given = beside(rig)
            parts = {key: one for key, one in given.items() if isinstance(key, Part) and one is not None}
            fields = {key: one for key, one in given.items() if isinstance(key, str)}
            return Opened(
                rig.bench, rig.memory, approver, elicitor=elicitor, parts=Parts(lambda: parts), **fields
            )

        app = RigApp(start)
        app.at_home = at_home
        async with app.run_test(size=size) as pilot:
            if settled:
                await ready(pilot, rig)
            yield pilot, rig


async def ready(pilot: Pilot[None], rig: Rig) -> None:
    """Let the app go on until it shows that every server is ready or failed, and every tool embedded."""
    await until(pilot, lambda: bool(rig.store.read("s", kinds=("catalog",))))
    await rig.bench.wait_connected()
    await rig.bench.retrieval.settled()
    await until(pilot, lambda: is_up_to_date(pilot, rig))


def is_up_to_date(pilot: Pilot[None], rig: Rig) -> bool:
    """Whether the pages show the session as it is."""
    view: View | None = pilot.app.view  # type: ignore[attr-defined]
    return view is not None and view.state == rig.bench.state


async def goes(pilot: Pilot[None], page: str) -> None:
    """Let a person go to a page, as the palette or a click on the second line does."""
    await pilot.app.run_action(f"page('{page}')")
    await pilot.pause()


async def arrives(pilot: Pilot[None], destination: Destination) -> None:
    """Let another page send a person to a destination."""
    assert isinstance(pilot.app, ToolsightApp)
    pilot.app.open(destination)
    await pilot.pause()


def session_of(
    settings: Settings,
    values: Mapping[str, Any] | None = None,
    *,
    profile: str = DEFAULT_PROFILE,
    problems: tuple[SettingProblem, ...] = (),
) -> SessionView:
    """A session of which only the settings are known, with those `values` that were changed in it."""
    known = {
        "configuration": Configuration("c", ()),
        "profile": profile,
        "settings": settings,
        "session_values": values or {},
        "state": SessionState(problems=problems),
    }
    return cast("SessionView", SimpleNamespace(**known))


async def until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    """Let the app go on until the condition holds."""
    try:
        async with asyncio.timeout(PATIENCE):
            await pilot.pause()
            nap = _NAP
            while not condition():
                await asyncio.sleep(nap)
                await pilot.pause()
                nap = min(nap * _LONGER, _LONGEST_NAP)
    except TimeoutError:
        raise AssertionError("the app never got there") from None


def seen(pilot: Pilot[None]) -> str:
    """The text of the whole screen, as a person reads it."""
    return "\n".join(strip.text for strip in pilot.app.screen._compositor.render_strips())


def said(pilot: Pilot[None], selector: str) -> str:
    """The whole text of a Static, also of what does not fit on the screen."""
    return str(pilot.app.screen.query_one(selector, Static).visual)


def toasts(pilot: Pilot[None]) -> str:
    """What the notifications say, a line each."""
    return "\n".join(f"{told.title} {told.message}" for told in pilot.app._notifications)


def destinations(pilot: Pilot[None]) -> list[Destination]:
    """Stay on the page from now on, and collect where it asks to go."""
    asked: list[Destination] = []
    pilot.app.open = asked.append  # type: ignore[attr-defined]
    return asked
