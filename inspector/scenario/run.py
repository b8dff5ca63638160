"""Runs one scenario on one workbench, turn by turn on a clock of its own, and checks its expectations."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from inspector.access.restriction import NOT_A_SETTING
from inspector.config.setting import value_of
from inspector.core.budget import Prices
from inspector.core.error import ConfigError
from inspector.core.events import ModelRequested, Record, ServerFailed, ServerStopped, ToolsChanged, TurnEnded
from inspector.core.ports import Clock
from inspector.core.stream import Listener
from inspector.scenario.changing import ChangingConnector
from inspector.scenario.scenario import CatalogChange, Finding, Preparation, Scenario, Step, Viewer, check
from inspector.scenario.totals import Totals, totals
from inspector.session.workbench import Workbench

_MOMENT = 0.05


class LabClock:
    """Wraps a clock and adds the seconds waited."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waited = 0.0

    def now(self) -> float:
        return self._clock.now() + self._waited

    def monotonic(self) -> float:
        return self._clock.monotonic() + self._waited

    def wait(self, seconds: float) -> None:
        """Advance by `seconds`; negative values are ignored."""
        self._waited += max(seconds, 0.0)

    async def sleep(self, seconds: float) -> None:
        """Advance by `seconds`, and let others work for a moment: servers may be real."""
        self.wait(seconds)
        await asyncio.sleep(min(seconds, _MOMENT))


@dataclass(frozen=True, slots=True)
class ScenarioResult:
    """The result of a scenario so far; `records` are those of the whole session, `prices` its model's."""

    scenario: Scenario
    profile: str
    records: tuple[Record, ...]
    findings: tuple[Finding, ...]
    totals: Totals
    prices: Prices | None = None

    @property
    def passed(self) -> bool:
        """Whether everything expected occurred, and nothing forbidden."""
        return all(finding.met for finding in self.findings)


class ScenarioRun:
    """Runs a scenario in its own session, on a connected workbench whose model plays it.

    `clock` and `connector` are the workbench's; only a scenario that changes a catalog needs a connector.
    """

    def __init__(
        self,
        bench: Workbench,
        scenario: Scenario,
        clock: LabClock,
        connector: ChangingConnector | None = None,
    ) -> None:
        """Raises ConfigError if the scenario changes a catalog and there is no connector."""
        if scenario.changes_servers and connector is None:
            raise ConfigError(f"{scenario.title}: this workbench cannot change a server's tools or answers")
        self.scenario = scenario
        self.turn = 0
        self._bench = bench
        self._clock = clock
        self._connector = connector
        self._past: tuple[Record, ...] = ()

    @property
    def is_over(self) -> bool:
        """Whether all user messages have been played."""
        return self.turn >= len(self.scenario.users)

    async def run(self, on_turn: Callable[[TurnEnded], None] | None = None) -> ScenarioResult:
        """Play all remaining turns. After cancellation, the records and `result` cover the turns so far."""
        while not self.is_over:
            ended = await self.step()
            if on_turn is not None:
                on_turn(ended)
        return self.result()

    async def step(self) -> TurnEnded:
        """Play one turn, with its preparation. A canceled turn is not played again.

        Raises ConfigError, also if the scenario is over, and whatever `Workbench.chat` raises.
        """
        if self.is_over:
            raise ConfigError(f"{self.scenario.title}: the scenario is over", hint="Start it again.")
        turn, self.turn = self.turn, self.turn + 1
        if turn == 0:
            self._use_settings()
        await self._prepare(self.scenario.preparation(turn))
        await self._bench.retrieval.settled()
        await self._bench.marketplace.settled()
        unsubscribe = self._bench.subscribe(self._waiting(self.scenario.turns[turn]))
        try:
            return await self._bench.chat(self.scenario.users[turn])
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

    async def _prepare(self, preparation: Preparation) -> None:
        if preparation.see_as is not None:
            await self._see_as(preparation.see_as)
        self._clock.wait(preparation.wait)
        for path, value in preparation.settings.items():
            self._bench.change_setting(path, value)
        if preparation.milestone:
            self._bench.milestone(preparation.milestone, by="scenario")
        if preparation.stop:
            await self._bench.stop(preparation.stop)
        if preparation.change is not None and self._connector is not None:
            await self._change(self._connector, preparation.change)
        if preparation.fault is not None and self._connector is not None:
            self._connector.fail(preparation.fault)
        if preparation.reconnect:
            await self._bench.reconnect(preparation.reconnect)
        market = self._bench.marketplace
        if preparation.install:
            await self._bench.install(market.plan(preparation.install), by="scenario")
        if preparation.uninstall:
            await self._bench.remove_server(market.removal(preparation.uninstall), by="scenario")

    async def _see_as(self, viewer: Viewer) -> None:
        """Go on in the session of somebody else; what was recorded so far belongs to the result."""
        self._past = (*self._past, *self._bench.records())
        await self._bench.see_as(viewer.user, viewer.expert)
        await self._bench.wait_connected()

    async def _change(self, connector: ChangingConnector, change: CatalogChange) -> None:
        """Change a server and wait until the session knows about it."""
        known = asyncio.Event()

        def listen(record: Record) -> None:
            event = record.event
            if (
                isinstance(event, ToolsChanged | ServerFailed | ServerStopped)
                and event.server == change.server
            ):
                known.set()

        unsubscribe = self._bench.subscribe(listen)
        try:
            if connector.change(change):
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
