"""What fills a registry and reads it: sessions, the embedder, searches beyond the connected servers."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from inspector.core.error import ConnectError, StoreError
from inspector.core.ranking import SearchRequest, Unconnected
from inspector.core.tool import Tool
from inspector.features.registry.acceptance import SyncReport
from inspector.features.registry.library import (
    RegistryLibrary,
    Synchronised,
    embed_missing,
    synchronise,
)
from inspector.features.registry.source import RegistrySource
from inspector.features.registry.sqlite import SqliteRegistry
from inspector.mcp.port import Opening
from tests.support.fakes import calls, says, searches
from tests.support.memory_servers import MemoryConnector, MemoryServer
from tests.support.memory_vectors import MemoryEmbedder
from tests.support.registry import embed_all, keep_vector, tool
from tests.support.workbench import connected, shop_and_weather

MAIL = tool("mail", "send", "Send a message by mail.")
SEND = SearchRequest("send a message by mail")
TIER = {"discovery.ranker": "three-tier", "discovery.registry": True, "discovery.iso_threshold": 0.2}
EMBEDDER = MemoryEmbedder()


def never() -> bool:
    return False


def silent(_what: str, _done: int, _total: int) -> None:
    pass


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[SqliteRegistry]:
    opened = SqliteRegistry(tmp_path / "toolsight.db")
    yield opened
    opened.close()


@pytest.fixture
def filled(registry: SqliteRegistry) -> SqliteRegistry:
    """Two tools of servers that no session here has, and one of a server that it has."""
    others = [MAIL, tool("fax", "dial", "Dial a number."), tool("shop", "send", "Send a message by mail.")]
    registry.sync("file", others, at=1.0)
    embed_all(registry, EMBEDDER)
    return registry


async def test_each_connected_server_is_an_origin_of_its_name(registry: SqliteRegistry) -> None:
    async with connected() as rig:
        assert synchronise(registry, rig.bench, at=5.0) == (
            Synchronised("shop", SyncReport(added=2)),
            Synchronised("weather", SyncReport(added=1)),
            Synchronised("calc", SyncReport(added=1)),
        )
        assert registry.origins() == {"calc": 1, "shop": 2, "weather": 1}
        offered = sorted(rig.bench.catalog.tools, key=lambda one: one.id)
        assert [one.tool for one in registry.tools()] == offered


async def test_a_server_that_failed_is_left_out_with_its_reason(registry: SqliteRegistry) -> None:
    registry.sync("broken", [tool("broken", "x")], at=1.0)
    fault = ConnectError("no-such-command is not installed")
    servers = {**shop_and_weather(), "broken": MemoryServer([], fault=fault)}
    async with connected(servers=servers) as rig:
        done = {one.server: one for one in synchronise(registry, rig.bench, at=5.0)}
    assert done["broken"] == Synchronised("broken", why="no-such-command is not installed")
    assert registry.count(part="broken:") == 1


def test_what_is_embedded_when_it_is_stopped_stays(registry: SqliteRegistry) -> None:
    registry.sync("o", [tool("s", f"t{number}") for number in range(100)], at=1.0)
    seen: list[tuple[int, int]] = []

    def progress(what: str, done: int, total: int) -> None:
        if what == "embedding":
            seen.append((done, total))

    first = embed_missing(registry, EMBEDDER, progress, lambda: bool(seen))
    assert 0 < first < 100
    assert registry.embedded(EMBEDDER.name) == first
    assert embed_missing(registry, EMBEDDER, progress, never) == 100 - first
    assert seen[-1] == (100 - first, 100 - first)
    assert embed_missing(registry, EMBEDDER, progress, never) == 0


def test_vectors_of_another_dimension_are_an_error_until_they_are_embedded_anew(
    filled: SqliteRegistry,
) -> None:
    everything = filled.count()
    # Only that all of them are of another length: keep_vectors forgets the others.
    for one in list(filled.tools()):
        keep_vector(filled, one.tool, 1, 0, model=EMBEDDER.name)
    assert filled.embedded(EMBEDDER.name) == everything
    library = RegistryLibrary(lambda: filled, lambda: EMBEDDER)
    with pytest.raises(StoreError) as caught:
        library.search("send a message", 3)
    assert "dimensions" in caught.value.message
    assert "toolsight registry --embed" in caught.value.hint
    library.embed(silent, never)
    assert filled.embedded(EMBEDDER.name) == everything
    assert len(library.search("send a message", everything)) == everything


async def test_three_tier_tells_of_tools_that_no_connected_server_has(filled: SqliteRegistry) -> None:
    async with connected(registry=filled, embedder=EMBEDDER, values=TIER) as rig:
        report = rig.bench.search(SEND)
        first = report.unconnected[0]
        assert first == Unconnected("mail:send", MAIL.description, "file", first.similarity)
        assert "shop:send" not in {one.tool_id for one in report.unconnected}, "the session has that server"
        assert not {one.tool_id for one in report.unconnected} & {hit.tool_id for hit in report.hits}


async def test_a_tool_that_is_not_connected_is_named_to_the_model_and_never_bound(
    filled: SqliteRegistry,
) -> None:
    steps = (searches(query=SEND.query), calls(("mail__send", {})), says("done"))
    async with connected(*steps, registry=filled, embedder=EMBEDDER, values=TIER) as rig:
        await rig.bench.chat("mail it")
        assert "mail:send" in rig.model.requests[1].messages[-1].text
        assert "not to be called" in rig.model.requests[1].messages[-1].text
        assert "mail:send" not in rig.loaded
        assert rig.received == 0


async def test_a_registry_that_fails_is_a_note_and_the_search_works() -> None:
    class Failing(SqliteRegistry):
        def nearest(self, *_arguments: object, **_more: object) -> tuple[()]:
            raise StoreError("the file is gone")

    async with connected(registry=Failing(Path("x")), embedder=EMBEDDER, values=TIER) as rig:
        report = rig.bench.search(SearchRequest("list orders by status"))
        assert "the file is gone" in report.note
        assert report.results


async def test_a_server_that_connects_anew_has_what_the_registry_has_then(filled: SqliteRegistry) -> None:
    stored = RegistrySource(lambda: filled)
    source = stored.connector(MemoryConnector({}))
    (spec,) = (one for one in stored.configuration().servers if one.name == "mail")

    async def listed(refresh: Callable[[], None] = lambda: None) -> list[Tool]:
        async with source.connect(spec, Opening(on_tools_changed=refresh)) as link:
            return list((await link.list_tools()).tools)

    assert await listed() == [MAIL]
    newer = replace(MAIL, description="Other.")
    filled.sync("file", [newer], at=2.0)
    assert await listed() == [newer]
