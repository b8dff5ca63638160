"""Pictures of the app, compared by snap_compare, which runs a loop of its own around an app."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import pytest
from textual._compositor import Compositor
from textual._context import visible_screen_stack
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.pilot import Pilot
from textual.screen import Screen

from inspector.app.base_screen import BaseScreen
from inspector.app.dialogs.approver import ModalApprover
from inspector.app.opening import Opened
from inspector.app.place import Destination
from inspector.core.access import AccessPolicy
from inspector.core.events import Record
from inspector.core.feature import Parts
from inspector.features.agents.feature import AGENTS
from inspector.features.agents.importing import AgentLibrary
from inspector.features.cost.audit.result import Audit
from inspector.features.cost.feature import AUDIT
from inspector.features.lab.feature import RUNS
from inspector.features.lab.runs.recording import RunSource
from inspector.features.registry.feature import REGISTRY
from inspector.features.registry.library import RegistryLibrary
from inspector.features.skills.feature import SKILLS
from inspector.features.skills.inventory import Inventory
from tests.support.app import RigApp, goes, is_up_to_date, ready, said, seen, until
from tests.support.fakes import Step
from tests.support.workbench import Rig, opened

SnapCompare = Callable[..., bool]
NARROW, WIDE = (80, 24), (120, 36)


class Shown(RigApp):
    """An app that opens and closes its own workbench."""

    def __init__(
        self,
        *steps: Step,
        at_home: bool = False,
        audit: Callable[[], Audit] | None = None,
        skills: Callable[[], Inventory] | None = None,
        yes: bool = False,
        agents: AgentLibrary | None = None,
        registry: RegistryLibrary | None = None,
        recorded: Sequence[Record] = (),
        policy: AccessPolicy | None = None,
        user: str = "",
        runs: RunSource | None = None,
        **ground: Any,
    ) -> None:
        """`ground` is what `opened` takes besides."""
        super().__init__(self._start_rig)
        self.at_home = at_home
        values = {"access.policy": "policy.yaml", "access.user": user} if policy is not None else {}
        self._approver = ModalApprover(yes=yes)
        self._opening = opened(
            *steps, approver=self._approver, policy=lambda: policy or AccessPolicy(), values=values, **ground
        )
        self._recorded = recorded
        self._parts = Parts(
            lambda: {AUDIT: audit, SKILLS: skills, AGENTS: agents, REGISTRY: registry, RUNS: runs}
        )
        self._rig: Rig | None = None
        self._stack = AsyncExitStack()

    async def _start_rig(self) -> Opened:
        self._rig = await self._stack.enter_async_context(self._opening)
        self._rig.store.append_all(self._recorded)
        return Opened(self._rig.bench, self._rig.memory, self._approver, parts=self._parts)

    @property
    def rig(self) -> Rig:
        assert self._rig is not None
        return self._rig

    async def settle(self, pilot: Pilot[None]) -> None:
        """Let everything connect that will, and be drawn."""
        await until(pilot, lambda: self._rig is not None)
        await ready(pilot, self.rig)

    async def on_unmount(self) -> None:  # type: ignore[override]
        super().on_unmount()
        await self._stack.aclose()


@dataclass(frozen=True, slots=True)
class Shows:
    """Wait until a text is on the screen, or within the Static of a selector."""

    text: str
    within: str = ""


@dataclass(frozen=True, slots=True)
class Lacks:
    """Wait until a text is gone from the screen, or from the Static of a selector."""

    text: str
    within: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """Ask the model, and wait for its answer."""

    question: str


@dataclass(frozen=True, slots=True)
class Opens:
    """Push a screen that no key opens in one step, and show what another page would ask it for."""

    screen: Callable[[], Screen[Any]]
    shows: Destination | None = None


@dataclass(frozen=True, slots=True)
class Goes:
    """Go to a page by its name."""

    page: str


# A text is a key to press.
Act = str | Shows | Lacks | Asked | Opens | Goes


def acted(
    *acts: Act, shows: type[Screen[Any]], light: bool = False
) -> Callable[[Pilot[None]], Awaitable[None]]:
    """What `snap_compare` runs before the picture: one act after another, until that screen is shown."""

    async def run(pilot: Pilot[None]) -> None:
        app = pilot.app
        assert isinstance(app, Shown)
        await app.settle(pilot)
        if light:
            app.action_toggle_theme()
        for act in acts:
            await _act(pilot, app, act)
        await pilot.pause()
        assert isinstance(app.screen, shows)

    return run


async def _act(pilot: Pilot[None], app: Shown, act: Act) -> None:
    match act:
        case str():
            await pilot.press(act)
        case Shows(text, within):
            await until(pilot, lambda: text in (said(pilot, within) if within else seen(pilot)))
        case Lacks(text, within):
            await until(pilot, lambda: text not in (said(pilot, within) if within else seen(pilot)))
        case Asked(question):
            await app.rig.bench.chat(question)
            await until(pilot, lambda: is_up_to_date(pilot, app.rig))
        case Goes(page):
            await goes(pilot, page)
        case Opens(make, destination):
            screen = make()
            await app.push_screen(screen)
            if destination is not None:
                assert isinstance(screen, BaseScreen)
                screen.arrive(destination)
            await pilot.pause()


_DRAW = Compositor.render_update
READ_STYLES = Stylesheet._parse_rules
_rules: dict[tuple[object, ...], list[RuleSet]] = {}


def draw_when_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw a screen when a test reads it or takes its picture, and not after every key."""

    def render_update(self: Compositor, full: bool = False, *args: Any, **kwargs: Any) -> Any:
        if full:
            return _DRAW(self, full, *args, **kwargs)
        visible_screen_stack.set(kwargs.get("screen_stack") or [])
        self._dirty_regions.clear()
        return None

    monkeypatch.setattr(Compositor, "render_update", render_update)


def read_styles_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parse each style sheet once for all apps with the same theme; each app parses them all otherwise.

    Rules are looked for by their identity, which Textual's own `__hash__` does too, but in Python.
    """

    def parse_rules(self: Stylesheet, *args: Any, **kwargs: Any) -> list[RuleSet]:
        key = (*args, *kwargs.items(), *self._variables.items())
        if key not in _rules:
            _rules[key] = READ_STYLES(self, *args, **kwargs)
        return _rules[key]

    monkeypatch.setattr(Stylesheet, "_parse_rules", parse_rules)
    monkeypatch.setattr(RuleSet, "__hash__", object.__hash__)
