"""A whole workbench in memory: servers, model, clock and store."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, ParamSpec

from inspector.config.configuration import Configuration
from inspector.core.access import AccessPolicy, ServerRule, Toolset
from inspector.core.budget import Prices
from inspector.core.message import ModelRequest, ToolMessage
from inspector.core.ports import Approver, EventStore, TokenCounter
from inspector.core.server import ServerSpec
from inspector.core.tool import Annotations, Tool
from inspector.features.marketplace.marketplace import with_marketplace
from inspector.features.marketplace.reader import Catalogs
from inspector.features.registry.source import RegistrySource
from inspector.features.registry.tool_registry import ToolRegistry
from inspector.loop.breaker import BreakerStore, MemoryBreakers
from inspector.mcp.client.connector import McpConnector
from inspector.mcp.port import Elicitor
from inspector.search.index.semantics import Embedder
from inspector.session.assembly import Ports
from inspector.session.workbench import Workbench
from inspector.store.call_history import RecordedCalls
from inspector.store.server_memory import MemoryServerMemory
from inspector.store.store import MemoryStore
from tests.support.fakes import (
    CharacterCounter,
    FixedApprover,
    FixedElicitor,
    ManualClock,
    MemoryPrices,
    Step,
    ToldModel,
)
from tests.support.memory_servers import MemoryConnector, MemoryServer
from tests.support.memory_vectors import MemoryVectors

Given = ParamSpec("Given")
READS = Annotations(read_only=True)
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def shop_and_weather() -> dict[str, MemoryServer]:
    """Two servers with deferred tools and one, calc, whose tool is pinned."""
    return {
        "shop": MemoryServer(
            [
                Tool("shop", "list_orders", "List orders by status.", annotations=READS),
                Tool("shop", "refund_order", "Refund an order.", annotations=Annotations(read_only=False)),
            ]
        ),
        "weather": MemoryServer([Tool("weather", "get_forecast", "Forecast for a city.", CITY, READS)]),
        "calc": MemoryServer([Tool("calc", "evaluate", "Evaluate an expression.", annotations=READS)]),
    }


@dataclass(frozen=True, slots=True)
class Rig:
    """A workbench and the fakes under it."""

    bench: Workbench
    model: ToldModel
    servers: Mapping[str, MemoryServer]
    store: EventStore
    memory: MemoryServerMemory
    clock: ManualClock
    breakers: BreakerStore

    def events(self, kind: str) -> list[Any]:
        """The stored events of a kind so far."""
        return [record.event for record in self.bench.records((kind,))]

    @property
    def results(self) -> list[str]:
        """The call results in the model's last request."""
        return [
            message.text for message in self.model.requests[-1].messages if isinstance(message, ToolMessage)
        ]

    @property
    def loaded(self) -> list[str]:
        """The discovered tools that are bound, in load order."""
        return list(self.bench.state.load_order)

    @property
    def received(self) -> int:
        """The calls that reached any server."""
        return sum(len(server.calls) for server in self.servers.values())


def names(request: ModelRequest) -> list[str]:
    """The wire names of the tools that a request binds."""
    return [entry["function"]["name"] for entry in request.tools]


def configured(servers: Iterable[str]) -> Configuration:
    """A configuration in which all servers but calc are deferred, and a toolset `sums` with only calc.

    Its servers are trusted, so that nobody is asked about what only reads. Few tools are searched too.
    """
    return Configuration(
        "test.json",
        tuple(
            ServerSpec(name, name, defer_loading=name != "calc", trust_annotations=True) for name in servers
        ),
        {"sums": Toolset("sums", "Sums only", {"calc": ServerRule()})},
        values={"discovery.auto": "always"},
    )


Compose = Callable[[Ports], Ports]
"""Puts what a feature has into the ports of a session."""


@asynccontextmanager
async def opened(
    *steps: Step,
    servers: Mapping[str, MemoryServer] | None = None,
    approver: Approver | None = None,
    elicitor: Elicitor | None = None,
    approved: bool = True,
    embedder: Embedder | None = None,
    configuration: Configuration | None = None,
    toolset: str = "",
    profile: str = "",
    values: Mapping[str, Any] | None = None,
    store: EventStore | None = None,
    counter_for: Callable[[str], TokenCounter] | None = None,
    prices: Sequence[Prices] = (),
    breakers: BreakerStore | None = None,
    registry: ToolRegistry | None = None,
    marketplace: Compose | None = None,
    policy: Callable[[], AccessPolicy] | None = None,
    mcp: McpConnector | None = None,
) -> AsyncGenerator[Rig, None]:
    """A rig with nothing connected; the model plays `steps`. The default configuration is `configured`.

    With `mcp` its servers are real ones.
    """
    servers = servers or shop_and_weather()
    model, clock = ToldModel(*steps), ManualClock()
    store, breakers = store or MemoryStore(), breakers or MemoryBreakers()
    configuration = configuration or configured(servers)
    memory = MemoryServerMemory()
    if approved:
        memory.approve(configuration.consent_items(), configuration.source)
    connector = mcp or MemoryConnector(servers)
    ports = Ports(
        connector,
        store,
        memory,
        clock,
        approver or FixedApprover(),
        model_for=lambda _: model,
        counter_for=counter_for or (lambda _: CharacterCounter()),
        embedder_for=lambda _: embedder,
        vectors=MemoryVectors(),
        prices=MemoryPrices(*prices),
        wire=connector,
        sign_ins=mcp,
        elicitor=elicitor or FixedElicitor(),
        history=RecordedCalls(store) if isinstance(store, MemoryStore) else None,
        breakers=breakers,
        sleep=clock.sleep,
        stored_tools=RegistrySource(lambda: registry) if registry is not None else None,
        policy_from=lambda _: policy() if policy is not None else AccessPolicy(),
    )
    compose = marketplace or (lambda given: with_marketplace(given, lambda _files: Catalogs()))
    async with Workbench(
        configuration,
        compose(ports),
        model="told",
        session_id="s",
        toolset=toolset,
        profile=profile,
        values=values,
    ) as bench:
        yield Rig(bench, model, servers, store, memory, clock, breakers)


def _connecting(
    opening: Callable[Given, AbstractAsyncContextManager[Rig]],
) -> Callable[Given, AbstractAsyncContextManager[Rig]]:
    @asynccontextmanager
    async def connecting(*args: Given.args, **kwargs: Given.kwargs) -> AsyncGenerator[Rig, None]:
        async with opening(*args, **kwargs) as rig:
            rig.bench.connect()
            await rig.bench.wait_connected()
            await rig.bench.retrieval.settled()
            yield rig

    return connecting


connected = _connecting(opened)
"""As `opened`, with everything connected and indexed."""


async def happens(bench: Workbench, kind: str) -> None:
    """Wait for the next event of a kind."""
    seen = asyncio.Event()
    stop = bench.subscribe(lambda record: seen.set() if record.kind == kind else None)
    try:
        async with asyncio.timeout(5):
            await seen.wait()
    finally:
        stop()
