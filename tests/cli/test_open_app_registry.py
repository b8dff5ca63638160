"""The registry that the app opens: what of it somebody sees whom a policy restricts."""

from pathlib import Path

import pytest

from inspector.cli.open_app import registry_library
from inspector.core.access import AccessPolicy, Grant, Scope, User
from inspector.core.error import ConfigError
from inspector.core.tool import Tool
from inspector.registry.embedding import embed_missing
from inspector.registry.sqlite import SqliteRegistry
from tests.support.canned import REST
from tests.support.memory_vectors import MemoryEmbedder
from tests.support.workbench import connected

GRANT = Grant(Scope.USER, "ada", "acme", ("shop:*", "billing:*"))
POLICY = AccessPolicy({"ada": User("ada", "acme")}, (GRANT,))


@pytest.fixture
def registry(tmp_path: Path) -> SqliteRegistry:
    kept = SqliteRegistry(tmp_path / "toolsight.db")
    kept.sync("acme.jsonl", [*REST, Tool("shop", "sell", "Sell a product.")], at=1.0)
    embed_missing(kept, MemoryEmbedder(), lambda *_: None, lambda: False)
    return kept


async def test_a_user_sees_permitted_tools_of_the_registry_and_no_peers(
    registry: SqliteRegistry, tmp_path: Path
) -> None:
    peers = tmp_path / "peers.yaml"
    peers.write_text("peers: {acme: {database: toolsight.db}}")
    values = {"access.policy": "policy.yaml", "access.user": "ada", "federation.peers": str(peers)}
    async with connected(
        registry=registry, policy=lambda: POLICY, values=values, embedder=MemoryEmbedder()
    ) as rig:
        library = registry_library(rig.bench)
        assert library is not None
        assert [one.tool.id for one in library.rows("", "", 9).tools] == [
            "billing:send_reminder",
            "shop:sell",
        ]
        assert {one.found.tool.server for one in library.search("parcel", 9)} == {"billing", "shop"}
        with pytest.raises(ConfigError, match="no peers"):
            library.federated("parcel", 9)
        await rig.bench.see_as("")
        assert library.rows("", "", 9).total == 4
        done = library.federated("parcel", 9)
        assert [one.found for one in done.answers] == [4]
