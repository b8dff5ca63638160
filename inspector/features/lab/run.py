"""Runs one scenario on one workbench, turn by turn on a clock of its own, and checks its expectations.

As the scenario says, the tools of servers change on the way, and calls fail. The servers may be real.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from math import inf

from msgspec import Struct, field
from msgspec.structs import replace

from inspector.access.restriction import NOT_A_SETTING
from inspector.config.setting import value_of
from inspector.core.error import ConfigError, ToolsightError
from inspector.core.events import ModelRequested, Record, ServerFailed, ServerStopped, ToolsChanged, TurnEnded
from inspector.core.message import OnTask, ToolResult
from inspector.core.ports import Clock, ToolListing
from inspector.core.server import ServerSpec
from inspector.core.stream import Listener
from inspector.core.text import closest
from inspector.core.tool import Tool
from inspector.features.lab.comparison import ScenarioResult, totals
from inspector.features.lab.expectation import check
from inspector.features.lab.scenario import CatalogChange, Fault, Scenario, Step, Turn, Viewer
from inspector.mcp.port import Connector, Opening, ignored
from inspector.mcp.recorded_link import PassedOn
from inspector.schema.json_value import JsonObject
from inspector.session.workbench import Workbench

_NO_ANSWER = "The scenario added this tool: no server answers it."
_MOMENT = 0.05


class LabClock:
    """Wraps a clock and adds the seconds waited.

    Between two waits the work itself counts `most` seconds at most: with a script, a busy machine reaches no
    time limit that the script does not.
    """

    def __init__(self, clock: Clock, *, most: float = inf) -> None:
        self._clock, self._most = clock, most
        self._epoch = clock.now() - clock.monotonic()
        self._waited = self._since = clock.monotonic()

    def now(self) -> float:
        return self._epoch + self.monotonic()

    def monotonic(self) -> float:
        return self._waited + min(self._clock.monotonic() - self._since, self._most)

    def wait(self, seconds: float) -> None:
        """Advance by `seconds`; negative values are ignored."""
        self._waited = self.monotonic() + max(seconds, 0.0)
        self._since = self._clock.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Advance by `seconds`, and let others work for a moment: servers may be real."""
        self.wait(seconds)
        await asyncio.sleep(min(seconds, _MOMENT))


class ChangingConnector(Struct, eq=False):
    """Wraps a connector, applies changes to its tool listings in their order, and lets calls fail."""

    _connector: Connector
    _changes: list[CatalogChange] = []
    _links: dict[str, "_ChangingLink"] = {}
    _away: dict[str, tuple[Tool, ...]] = {}
    _faults: dict[str, tuple[Fault, int]] = {}

    def fail(self, fault: Fault) -> None:
        """Let a server's next calls fail, in place of what it was to fail with before."""
        self._faults[fault.server] = (fault, fault.times)

    def fault(self, server: str, tool: str) -> ToolsightError | None:
        """What a call fails with, if it is to fail; asked once a call."""
        fault, left = self._faults.get(server, (None, 0))
        if fault is None or not left or fault.tool not in ("", tool):
            return None
        self._faults[server] = (fault, left - 1)
        return fault.error(tool)

    @asynccontextmanager
    async def connect(self, spec: ServerSpec, opening: Opening) -> "AsyncGenerator[_ChangingLink, None]":
        """See `Connector`. A server that reconnects keeps its earlier changes."""
        async with self._connector.connect(spec, opening) as link:
            changing = _ChangingLink(link, opening.on_tools_changed, partial(self.fault, spec.name))
            changing.changes = [change for change in self._changes if change.server == spec.name]
            self._links[spec.name] = changing
            try:
                yield changing
            finally:
                if self._links.get(spec.name) is changing:
                    del self._links[spec.name]
                    self._away[spec.name] = changing.listed

    def change(self, change: CatalogChange) -> bool:
        """Change a server's tools; return whether its list differs now, which it then announces.

        A server that is away has the change once it is back. Raises ConfigError and changes nothing if the
        server was never connected or has no such tool.
        """
        link = self._links.get(change.server)
        if link is None and change.server in self._away:
            self._away[change.server] = _after(self._away[change.server], change)
            self._changes.append(change)
            return False
        if link is None:
            near = ", ".join(closest(change.server, self._links) or sorted(self._links)) or "none"
            raise ConfigError(
                f"the server '{change.server}' is not connected, so its tools cannot change",
                hint=f"Connected: {near}.",
            )
        differs = link.apply(change)
        self._changes.append(change)
        return differs


class _ChangingLink(PassedOn, eq=False):
    """A ServerLink that applies the changes to its listings and answers for the tools they add."""

    _on_tools_changed: Callable[[], None]
    _fault: Callable[[str], ToolsightError | None]
    changes: list[CatalogChange] = field(default_factory=list)
    listed: tuple[Tool, ...] = ()

    def apply(self, change: CatalogChange) -> bool:
        """Apply a change to the last list. Raises ConfigError for a tool that is not in it."""
        after = _after(self.listed, change)
        differs = after != self.listed
        self.changes.append(change)
        self.listed = after
        if differs:
            self._on_tools_changed()
        return differs

    async def list_tools(self, progress: Callable[[int], None] = ignored) -> ToolListing:
        listing = await self._link.list_tools(progress)
        tools = listing.tools
        for change in self.changes:
            tools = changed(tools, change)
        self.listed = tools
        return replace(listing, tools=tools)

    async def call(
        self, tool: str, arguments: JsonObject, *, timeout: float, on_task: OnTask = ignored
    ) -> ToolResult:
        if error := self._fault(tool):
            raise error
        for change in reversed(self.changes):
            for added in change.add:
                if added.id == f"{change.server}:{tool}":
                    return ToolResult(added.answer or _NO_ANSWER, is_error=not added.answer)
        return await self._link.call(tool, arguments, timeout=timeout, on_task=on_task)


def changed(tools: Iterable[Tool], change: CatalogChange) -> tuple[Tool, ...]:
    """A server's tools after a change; removals come first, so that the change may add the same id again."""
    kept = {tool.id: tool for tool in tools if tool.id not in change.remove}
    for tool_id, description in change.describe.items():
        if tool_id in kept:
            kept[tool_id] = replace(kept[tool_id], description=description)
    for tool_id, schema in change.parameters.items():
        if tool_id in kept:
            kept[tool_id] = replace(kept[tool_id], input_schema=schema)
    for added in change.add:
        name = added.id.removeprefix(f"{change.server}:")
        kept[added.id] = Tool(change.server, name, added.description)
    return tuple(kept.values())


def _after(tools: tuple[Tool, ...], change: CatalogChange) -> tuple[Tool, ...]:
    """The tools after a change. Raises ConfigError for a tool that is not among them."""
    known = [tool.id for tool in tools]
    for tool_id in (*change.remove, *change.describe, *change.parameters):
        if tool_id not in known:
            near = ", ".join(closest(tool_id, known) or known) or "none"
            raise ConfigError(f"there is no tool '{tool_id}' to change", hint=f"Tools: {near}.")
    return changed(tools, change)


class ScenarioRun(Struct, eq=False):
    """Runs a scenario in its own session, on a connected workbench whose model plays it.

    `clock` and `connector` are the workbench's.
    """

    _bench: Workbench
    scenario: Scenario
    _clock: LabClock
    _connector: ChangingConnector
    turn: int = 0
    _past: tuple[Record, ...] = ()

    @property
    def is_over(self) -> bool:
        """Whether all user messages have been played."""
        return self.turn >= len(self.scenario.turns)

    async def run(self) -> ScenarioResult:
        """Play all remaining turns. After cancellation, the records and `result` cover the turns so far."""
        while not self.is_over:
            await self.step()
        return self.result()

    async def step(self) -> TurnEnded:
        """Play one turn, with its preparation. A canceled turn is not played again.

        Raises ConfigError, also if the scenario is over, and whatever `Workbench.chat` raises.
        """
        if self.is_over:
            raise ConfigError(f"{self.scenario.title}: the scenario is over", hint="Start it again.")
        turn = self.scenario.turns[self.turn]
        if self.turn == 0:
            self._use_settings()
        self.turn += 1
        await self._prepare(turn)
        await self._bench.retrieval.settled()
        await self._bench.server_source.settled()
        unsubscribe = self._bench.subscribe(self._waiting(turn.steps))
        try:
            return await self._bench.chat(turn.user)
        finally:
            unsubscribe()

    def result(self) -> ScenarioResult:
        """The result so far."""
        records = (*self._past, *self._bench.records())
        findings = check(records, self.scenario.expect, self.scenario.never)
        accounting = self._bench.accounting
        prices, count = accounting.prices(), accounting.meter.text
        had = totals(records, prices, count)
        return ScenarioResult(self.scenario, self._bench.state.profile, records, findings, had, prices)

    def _use_settings(self) -> None:
        """Apply the scenario's profile and settings that differ from the workbench's."""
        policy = self._bench.policy
        if self.scenario.profile and self.scenario.profile != policy.profile:
            policy.use(self.scenario.profile)
        for path, value in self.scenario.settings.items():
            if path not in NOT_A_SETTING and value_of(policy.settings, path) != value:
                policy.set(path, value)

    async def _prepare(self, turn: Turn) -> None:
        if turn.see_as is not None:
            await self._see_as(turn.see_as)
        self._clock.wait(turn.wait)
        for path, value in turn.settings.items():
            self._bench.change_setting(path, value)
        if turn.milestone:
            self._bench.milestone(turn.milestone, by="scenario")
        if turn.stop:
            await self._bench.stop(turn.stop)
        if turn.change is not None:
            await self._change(turn.change)
        if turn.fault is not None:
            self._connector.fail(turn.fault)
        if turn.reconnect:
            await self._bench.reconnect(turn.reconnect)
        source = self._bench.server_source
        if turn.install:
            await self._bench.install(source.plan(turn.install), by="scenario")
        if turn.uninstall:
            await self._bench.remove_server(source.removal(turn.uninstall), by="scenario")

    async def _see_as(self, viewer: Viewer) -> None:
        """Go on in the session of somebody else; what was recorded so far belongs to the result."""
        self._past = (*self._past, *self._bench.records())
        await self._bench.see_as(viewer.user, viewer.expert)
        await self._bench.wait_connected()

    async def _change(self, change: CatalogChange) -> None:
        """Change a server and wait until the session knows about it."""
        known = asyncio.Event()

        def listen(record: Record) -> None:
            match record.event:
                case ToolsChanged(server=server) | ServerFailed(server=server) | ServerStopped(server=server):
                    if server == change.server:
                        known.set()

        unsubscribe = self._bench.subscribe(listen)
        try:
            if self._connector.change(change):
                await known.wait()
        finally:
            unsubscribe()

    def _waiting(self, steps: Sequence[Step]) -> Listener:
        """A listener that lets a step's seconds pass at its model call; thoughts are not steps."""
        waits = iter([step.wait for step in steps])

        def listen(record: Record) -> None:
            if isinstance(record.event, ModelRequested) and not record.event.think:
                self._clock.wait(next(waits, 0.0))

        return listen
