"""A lab in memory: scenarios played on fresh in-memory servers by a scripted model."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inspector.cli.composition import model_for
from inspector.cli.options import Options
from inspector.config.configuration import Configuration
from inspector.core.error import ConfigError
from inspector.core.events import Record
from inspector.core.message import ToolResult
from inspector.core.ports import ChatModel
from inspector.core.stream import Listener
from inspector.core.tool import Tool
from inspector.features.lab.comparison import ScenarioResult
from inspector.features.lab.ground import Ground, ScenarioFile
from inspector.features.lab.open_lab import OpenLab
from inspector.features.lab.run import ChangingConnector, LabClock, ScenarioRun
from inspector.features.lab.scenario import Scenario, Step, Turn, load_scenario
from inspector.loop.approval import AllowedBefore
from inspector.session.assembly import Ports
from inspector.session.workbench import Workbench
from inspector.store.server_memory import MemoryServerMemory
from inspector.store.store import MemoryStore
from tests.support.fakes import CharacterCounter, FixedApprover, ManualClock, MemoryPrices
from tests.support.memory_servers import MemoryConnector, MemoryServer
from tests.support.memory_vectors import MemoryVectors
from tests.support.workbench import READS, configured, shop_and_weather

_SCENARIOS = Path(__file__).with_name("scenarios")
FORECAST = (_SCENARIOS / "forecast.yaml").read_text("utf-8")
_VERBS = "add copy delete export find link lock merge move print read share tag"


def four_servers() -> dict[str, MemoryServer]:
    """`shop_and_weather`, and a server with enough tools that not binding them all saves tokens."""
    about = "Work with the pages of a notebook: read them, change them, share them with others."
    tools = [Tool("notes", f"{verb}_page", f"{verb.title()} a page. {about}") for verb in _VERBS.split()]
    servers = {**shop_and_weather(), "notes": MemoryServer(tools)}
    servers["weather"].answer = _snow
    return servers


async def _snow(*_: object) -> ToolResult:
    """The forecast for any city, however it is spelled: a repeated call brings nothing new."""
    return ToolResult("Snow.")


def story(*turns: Sequence[Step], **more: Any) -> Scenario:
    """A scenario with these turns; in each the user says "a"."""
    said = tuple(Turn(user="a", steps=tuple(steps)) for steps in turns)
    return Scenario(title="Case", turns=said, **more)


@dataclass(frozen=True, slots=True)
class LabBench:
    """A workbench for scenarios, and what it runs on."""

    bench: Workbench
    clock: LabClock
    connector: ChangingConnector
    servers: dict[str, MemoryServer]

    async def connected(self) -> None:
        self.bench.connect()
        await self.bench.wait_connected()

    def run(self, scenario: Scenario) -> ScenarioRun:
        return ScenarioRun(self.bench, scenario, self.clock, self.connector)


@asynccontextmanager
async def lab_bench(
    servers: dict[str, MemoryServer],
    *,
    model_for: Callable[[str], ChatModel] = model_for,
    configuration: Configuration | None = None,
    ground: Ground | None = None,
    **options: Any,
) -> AsyncIterator[LabBench]:
    """A workbench on servers in memory, not connected yet."""
    clock, connector = LabClock(ManualClock()), ChangingConnector(MemoryConnector(servers))
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
    async with Workbench(configuration or configured(servers), ports, **options) as bench:
        yield LabBench(bench, clock, connector, servers)


class MemoryLab:
    """Runs a folder's scenarios. While `gate` is not set, a run waits after its servers have connected."""

    def __init__(self, folder: Path, servers: Callable[[], dict[str, MemoryServer]] = four_servers) -> None:
        self.gate = asyncio.Event()
        self.gate.set()
        self.runs: list[tuple[str, str, Mapping[str, Any]]] = []
        self.grounds: list[Ground] = []
        self.cancelled = 0
        self._folder = folder
        self._servers = servers
        self.model_for: Callable[[str], ChatModel] = model_for

    def scenarios(self) -> Sequence[ScenarioFile]:
        return [_file(path) for path in sorted(self._folder.glob("*.yaml"))]

    async def run(
        self, file: ScenarioFile, profile: str, values: Mapping[str, Any], tell: Callable[[Record], None]
    ) -> ScenarioResult:
        self.runs.append((file.path.stem, profile, values))
        assert file.scenario is not None
        return await self._played(file.scenario, f"demo/script:{file.path}", profile, values, tell)

    async def race(
        self,
        scenario: Scenario,
        ground: Ground,
        profile: str,
        values: Mapping[str, Any],
        tell: Callable[[Record], None],
    ) -> ScenarioResult:
        self.runs.append((scenario.title, profile, values))
        self.grounds.append(ground)
        return await self._played(scenario, ground.model, profile, values, tell, ground)

    async def _played(
        self,
        scenario: Scenario,
        model: str,
        profile: str,
        values: Mapping[str, Any],
        tell: Callable[[Record], None],
        ground: Ground | None = None,
    ) -> ScenarioResult:
        opened = lab_bench(
            self._servers(),
            model_for=self.model_for,
            ground=ground,
            model=model,
            session_id="lab",
            profile=profile,
            values={**scenario.settings, **values},
        )
        try:
            async with opened as on:
                on.bench.subscribe(tell)
                await on.connected()
                await self.gate.wait()
                now = {"profile": profile, "settings": on.bench.policy.session_values}
                return await on.run(scenario.model_copy(update=now)).run()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise


def _file(path: Path) -> ScenarioFile:
    try:
        return ScenarioFile(path, load_scenario(path))
    except ConfigError as error:
        return ScenarioFile(path, problem=error.message)


def hostile_servers(text: str) -> dict[str, MemoryServer]:
    """A server whose tool has the text in its description and its answer."""

    async def answer(*_: object) -> ToolResult:
        return ToolResult(text)

    return {
        "weather": MemoryServer([Tool("weather", "get_forecast", text, annotations=READS)], answer=answer)
    }


def hostile_scenario(text: str) -> str:
    """A scenario with the text wherever possible."""
    scenario = {
        "title": f"hostile {text}",
        "about": text,
        "turns": [
            {
                "user": f"say {text}",
                "steps": [
                    {"calls": [{"tool": "search_tools", "arguments": {"tool_names": ["get_forecast"]}}]},
                    {"calls": [{"tool": "weather:get_forecast", "arguments": {"city": text}}]},
                    {"calls": [{"tool": "search_tools", "arguments": {"query": text}}]},
                    {"say": f"hear {text}"},
                ],
            }
        ],
    }
    return json.dumps(scenario)


def written(folder: Path, **texts: str) -> Path:
    """A folder of scenario files: `texts`, or by default some that run and one that cannot be read."""
    if not texts:
        names = ("alternate", "loop", "missed", "redundant", "unreadable")
        texts = {name: (_SCENARIOS / f"{name}.yaml").read_text("utf-8") for name in names}
    for name, text in texts.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder


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
        opened = lab_bench(
            shop_and_weather(),
            ground=ground,
            model=options.model,
            session_id=f"s{len(self.opened)}",
            profile=profile or options.profile or scenario.profile,
            values={**scenario.settings, **options.values},
        )
        async with opened as on:
            if tell is not None:
                on.bench.subscribe(tell)
            await on.connected()
            yield OpenLab(on.bench, on.run(scenario))
