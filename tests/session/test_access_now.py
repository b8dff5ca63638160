"""What a policy or another session changes holds at once for everything that began before."""

from pathlib import Path

from inspector.core.ranking import SearchRequest
from inspector.registry.embedding import embed_missing
from inspector.registry.sqlite import SqliteRegistry
from tests.session.test_access_session import as_user, policy
from tests.support.marketplace import market, servers_and_money
from tests.support.memory_vectors import MemoryEmbedder
from tests.support.registry import tool
from tests.support.workbench import Rig, configured, connected, shop_and_weather

TIER = {"discovery.ranker": "three-tier", "discovery.registry": True, "discovery.iso_threshold": 0.2}
WIRE = SearchRequest("send money by wire")


def registry(path: Path, *tools: str) -> SqliteRegistry:
    """A registry of tools that send money by wire, each named `SERVER:TOOL`."""
    opened = SqliteRegistry(path / "registry.db")
    named = [one.split(":") for one in tools]
    opened.sync("file", [tool(server, name, "Send money by wire.") for server, name in named], at=1.0)
    embed_missing(opened, MemoryEmbedder(), lambda _what, _done, _total: None, lambda: False)
    return opened


def unconnected(rig: Rig) -> list[str]:
    return [one.tool_id for one in rig.bench.search(WIRE).unconnected]


async def test_the_registry_is_searched_with_the_sight_of_the_moment(tmp_path: Path) -> None:
    known, now = registry(tmp_path, "bank:send", "mail:wire"), [policy(ada=("mail:*", "bank:*", "calc:*"))]
    values = as_user("ada", **TIER)
    opening = connected(registry=known, embedder=MemoryEmbedder(), policy=lambda: now[0], values=values)
    async with opening as rig:
        assert set(unconnected(rig)) == {"bank:send", "mail:wire"}
        now[0] = policy(ada=("mail:*", "calc:*"))
        await rig.bench.read_policy_again()
        await rig.bench.retrieval.settled()
        assert unconnected(rig) == ["mail:wire"]


async def test_a_server_that_was_installed_is_not_told_as_unconnected(tmp_path: Path) -> None:
    opening = connected(
        servers=servers_and_money(),
        configuration=configured(shop_and_weather()),
        registry=registry(tmp_path, "currency:send", "bank:wire"),
        embedder=MemoryEmbedder(),
        marketplace=market(),
        values=TIER,
    )
    async with opening as rig:
        assert set(unconnected(rig)) == {"currency:send", "bank:wire"}
        await rig.bench.install(rig.bench.marketplace.plan("currency"))
        await rig.bench.retrieval.settled()
        assert unconnected(rig) == ["bank:wire"]
