"""A registry in sessions that a policy restricts: nothing of it is there but what may be seen."""

from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from inspector.core.access import AccessPolicy, Grant, Scope, User
from inspector.core.error import StoreError, ToolsightError
from inspector.core.ranking import SearchRequest
from inspector.core.tool import Tool
from inspector.features.registry.library import (
    RegistryLibrary,
    synchronise,
)
from inspector.features.registry.source import RegistrySource
from inspector.features.registry.sqlite import SqliteRegistry
from inspector.session.assembly import Ports
from inspector.session.workbench import Workbench
from inspector.store.server_memory import MemoryServerMemory
from inspector.store.store import MemoryStore
from tests.support.fakes import (
    CharacterCounter,
    FixedApprover,
    ManualClock,
    MemoryPrices,
    ToldModel,
    says,
    searches,
)
from tests.support.memory_servers import MemoryConnector
from tests.support.memory_vectors import MemoryEmbedder, MemoryVectors
from tests.support.registry import embed_all, sight_of
from tests.support.workbench import connected

EMBEDDER = MemoryEmbedder()
TIER = {"discovery.ranker": "three-tier", "discovery.registry": True, "discovery.iso_threshold": 0.2}
STORED = (
    Tool("mail", "send_letter", "Send a message by mail."),
    Tool("mail", "send_secret", "Send a message by mail in secret."),
    Tool("vault", "send_gold", "Send a message by mail with gold."),
)
QUERY = "send a message by mail"


def policy(*patterns: str) -> AccessPolicy:
    """Ada may see what matches, and what the shop lists."""
    grant = Grant(Scope.USER, "ada", "acme", ("shop:list*", *patterns))
    return AccessPolicy({"ada": User("ada", "acme")}, (grant,))


AS_ADA = {"access.policy": "p", "access.user": "ada"}


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[SqliteRegistry]:
    registry = SqliteRegistry(tmp_path / "toolsight.db")
    registry.sync("file", STORED, at=1.0)
    embed_all(registry, EMBEDDER)
    yield registry
    registry.close()


async def test_the_third_tier_tells_of_permitted_tools_alone(filled: SqliteRegistry) -> None:
    steps = (searches(query=QUERY), says("done"))
    values = {**TIER, **AS_ADA}
    opening = connected(
        *steps, registry=filled, embedder=EMBEDDER, policy=lambda: policy("*:send_l*"), values=values
    )
    async with opening as rig:
        found = rig.bench.search(SearchRequest(QUERY)).unconnected
        assert [one.tool_id for one in found] == ["mail:send_letter"]
        await rig.bench.chat("mail it")
        assert "mail:send_letter" in rig.model.requests[1].messages[-1].text
        told = repr((rig.bench.records(), rig.model.requests[:2]))
        assert "secret" not in told
        assert "vault" not in told


async def test_a_grant_for_tools_that_only_the_registry_has_is_no_mistake(filled: SqliteRegistry) -> None:
    granted = policy("mail:send_l*", "vault:*", "mail:nothing")
    for values, wrong in (({}, {"mail:send_l*", "vault:*", "mail:nothing"}), (TIER, {"mail:nothing"})):
        opening = connected(
            registry=filled, embedder=EMBEDDER, policy=lambda: granted, values={**values, **AS_ADA}
        )
        async with opening as rig:
            assert {one.entry for one in rig.bench.state.problems} == wrong


@asynccontextmanager
async def on_the_registry(
    registry: SqliteRegistry, granted: Callable[[], AccessPolicy], user: str = "ada"
) -> AsyncGenerator[Workbench]:
    """A session on the servers of a registry."""
    source = RegistrySource(lambda: registry)
    ports = Ports(
        source.connector(MemoryConnector({})),
        MemoryStore(),
        MemoryServerMemory(),
        ManualClock(),
        FixedApprover(),
        model_for=lambda _: ToldModel(),
        counter_for=lambda _: CharacterCounter(),
        embedder_for=lambda _: EMBEDDER,
        vectors=MemoryVectors(),
        prices=MemoryPrices(),
        stored_tools=source,
        policy_from=lambda _: granted(),
    )
    values = {"access.policy": "p", "access.user": user}
    async with Workbench(source.configuration(), ports, model="told", session_id="s", values=values) as bench:
        bench.connect()
        await bench.wait_connected()
        yield bench


def there(bench: Workbench) -> tuple[list[str], list[str]]:
    """The servers and the tools that there are."""
    return list(bench.state.servers), [one.id for one in bench.catalog.tools]


async def test_a_registered_server_without_a_tool_to_see_is_not_there(filled: SqliteRegistry) -> None:
    # The pattern reaches every server; the vault has nothing that it matches.
    async with on_the_registry(filled, lambda: policy("*:send_l*")) as bench:
        assert there(bench) == (["mail"], ["mail:send_letter"])
        assert [spec.name for spec in bench.configuration.servers] == ["mail"]
        assert "vault" not in repr(bench.records())
        with pytest.raises(ToolsightError, match="there is no server 'vault'"):
            await bench.reconnect("vault")


async def test_a_grant_that_comes_brings_its_registered_server(filled: SqliteRegistry) -> None:
    now = [policy("*:send_l*")]
    async with on_the_registry(filled, lambda: now[0]) as bench:
        now[0] = policy("*:send_g*", "mail:send_s*")
        await bench.read_policy_again()
        await bench.wait_connected()
        assert there(bench)[1] == ["mail:send_secret", "vault:send_gold"]
        now[0] = policy("*:send_g*")
        await bench.read_policy_again()
        assert there(bench)[1] == ["vault:send_gold"]


async def test_a_registry_that_cannot_be_read_lets_nobody_see_as_another(filled: SqliteRegistry) -> None:
    async with on_the_registry(filled, lambda: policy("mail:*")) as bench:
        before = bench.session_id

        class Failing(SqliteRegistry):
            def servers(self, *_arguments: object) -> dict[str, int]:
                raise StoreError("the file is gone")

        bench.ports = replace(bench.ports, stored_tools=RegistrySource(lambda: Failing(Path("x"))))
        with pytest.raises(StoreError):
            await bench.see_as("ada")
        assert bench.session_id == before


async def test_only_the_administrator_fills_the_registry(filled: SqliteRegistry) -> None:
    library = RegistryLibrary(lambda: filled, lambda: EMBEDDER, lambda: sight_of("mail:*"))
    with pytest.raises(ToolsightError, match="only the administrator"):
        library.embed(lambda *_: None, lambda: False)
    async with connected(policy=policy, values=AS_ADA) as rig:
        with pytest.raises(ToolsightError, match="only the administrator"):
            synchronise(filled, rig.bench, at=1.0)
        assert filled.count() == len(STORED)
        await rig.bench.see_as("")
        await rig.bench.wait_connected()
        assert synchronise(filled, rig.bench, at=1.0)
