"""Scenarios on the command line without the demo servers: every lab that a command opens is in memory."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from inspector.cli.composition import model_for
from inspector.cli.lab import OpenLab
from inspector.cli.options import Options
from inspector.core.stream import Listener
from inspector.scenario.ground import AllowedBefore, Ground
from inspector.scenario.run import ChangingConnector, LabClock, ScenarioRun
from inspector.scenario.scenario import Scenario
from inspector.session.assembly import Ports
from inspector.session.workbench import Workbench
from inspector.store.memory import MemoryServerMemory, MemoryStore
from tests.support.counting import CharacterCounter
from tests.support.fakes import FixedApprover, ManualClock, MemoryPrices
from tests.support.memory_servers import MemoryConnector
from tests.support.memory_vectors import MemoryVectors
from tests.support.workbench import configured, shop_and_weather

FORECAST = """
title: A forecast
about: One search, one call.
expect: [{event: result, tool: "weather:get_forecast", ok: true}, {event: end, outcome: answered}]
never: [{event: reject}]
turns:
  - user: Oslo?
    steps:
      - calls: [{tool: search_tools, arguments: {tool_names: [get_forecast], server_name: weather}}]
      - calls: [{tool: "weather:get_forecast", arguments: {city: Oslo}}]
      - say: Snow.
"""


@dataclass(slots=True)
class MemoryLabs:
    """Opens every lab in memory and keeps its options; lab number `interrupted` raises a Ctrl+C."""

    opened: list[tuple[str, Options]] = field(default_factory=list)
    interrupted: int = 0
    grounds: list[Ground | None] = field(default_factory=list)

    @asynccontextmanager
    async def open(
        self,
        scenario: Scenario,
        options: Options,
        profile: str = "",
        *,
        tell: Listener | None = None,
        ground: Ground | None = None,
    ) -> AsyncIterator[OpenLab]:
        self.opened.append((profile, options))
        self.grounds.append(ground)
        if len(self.opened) == self.interrupted:
            raise KeyboardInterrupt
        servers, clock = shop_and_weather(), LabClock(ManualClock())
        connector = ChangingConnector(MemoryConnector(servers))
        ports = Ports(
            connector,
            MemoryStore(),
            MemoryServerMemory(),
            clock,
            AllowedBefore(ground.allowed) if ground is not None else FixedApprover(),
            model_for=model_for,
            counter_for=lambda _: CharacterCounter(),
            embedder_for=lambda _: None,
            prices=MemoryPrices(),
            vectors=MemoryVectors(),
        )
        async with Workbench(
            configured(servers),
            ports,
            model=options.model,
            session_id=f"s{len(self.opened)}",
            profile=profile or options.profile or scenario.profile,
            values={**scenario.settings, **options.values},
        ) as bench:
            if tell is not None:
                bench.subscribe(tell)
            bench.connect()
            await bench.wait_connected()
            yield OpenLab(bench, ScenarioRun(bench, scenario, clock, connector))
