"""Registries of others: what is read of them, and that nothing there changes."""

import sqlite3
from pathlib import Path

import pytest

from inspector.core.access import Grant, Scope, Sight
from inspector.core.error import ConfigError, StoreError
from inspector.core.tool import Tool
from inspector.features.registry.federation import Peer, load_peers
from inspector.features.registry.sqlite import ReadOnlyDatabase, SqliteRegistry
from inspector.features.registry.tool_registry import ToolRegistry
from tests.support.memory_vectors import MemoryEmbedder
from tests.support.postgres import address, empty_registry, execute
from tests.support.registry import embed_all

EMBEDDER = MemoryEmbedder()
TOOLS = [Tool("post", f"track_{number}", f"Track parcel {number}.") for number in range(5)]
VECTOR = EMBEDDER.embed(["track a parcel"])[0]
ADA = Sight("ada", grants=(Grant(Scope.USER, "ada", "acme", ("post:track_[13]", "post:track_2")),))


def peer_in(path: Path, seconds: float = 60) -> SqliteRegistry:
    return SqliteRegistry(path, reader=ReadOnlyDatabase(path, seconds=seconds))


def filled(registry: ToolRegistry) -> None:
    registry.sync("post", TOOLS, at=1.0)
    embed_all(registry, EMBEDDER)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "their.db"
    registry = SqliteRegistry(path)
    filled(registry)
    registry.close()
    return path


def same(peer: ToolRegistry, registry: ToolRegistry) -> bool:
    """Whether a peer answers as the registry itself does."""
    near = [one.nearest(EMBEDDER.name, VECTOR, 3) == () for one in (peer, registry)]
    return near == [False, False] and all(
        peer.nearest(EMBEDDER.name, VECTOR, 3, sight) == registry.nearest(EMBEDDER.name, VECTOR, 3, sight)
        and peer.count(sight) == registry.count(sight)
        and peer.embedded(EMBEDDER.name, sight) == registry.embedded(EMBEDDER.name, sight)
        for sight in (Sight(), ADA)
    )


def test_a_file_answers_as_its_own_program_and_nothing_is_left_beside_it(file: Path) -> None:
    before = file.read_bytes()
    assert same(peer_in(file), SqliteRegistry(file))
    for extra in file.parent.glob("their.db-*"):
        extra.unlink()
    file.write_bytes(before)
    peer = peer_in(file)
    peer.nearest(EMBEDDER.name, VECTOR, 3)
    peer.close()
    assert (list(file.parent.iterdir()), file.read_bytes()) == ([file], before)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("DELETE FROM _sqlite_migrations WHERE name = 'viewers'", "an older version of Toolsight"),
        (
            "UPDATE _sqlite_migrations SET name = 'dreams' WHERE name = 'viewers'",
            "a newer version of Toolsight",
        ),
        ("DROP TABLE _sqlite_migrations", "another program's database"),
    ],
)
def test_a_file_of_another_version_is_refused_and_left_as_it_is(file: Path, change: str, told: str) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute(change)
    connection.close()
    before = file.read_bytes()
    with pytest.raises(StoreError) as refused:
        peer_in(file).count()
    assert told in refused.value.message
    assert refused.value.hint
    assert file.read_bytes() == before


def test_a_file_that_is_missing_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="does not exist"):
        peer_in(tmp_path / "none" / "their.db").count()
    assert not list(tmp_path.iterdir())


def test_a_statement_that_does_not_end_is_ended(file: Path) -> None:
    endless = (
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT x AS is_there, x AS name FROM n"
    )
    with sqlite3.connect(file) as connection:
        connection.execute("DROP TABLE registry_tool")
        connection.execute(f"CREATE VIEW registry_tool AS {endless}")
    connection.close()
    with pytest.raises(StoreError, match="interrupted"):
        peer_in(file, 0.05).count()


def test_a_value_that_would_fill_the_memory_is_refused(file: Path) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE tool_version SET definition = zeroblob(5000000)")
    connection.close()
    with pytest.raises(StoreError, match="too big"):
        peer_in(file).nearest(EMBEDDER.name, VECTOR, 3)


def test_a_database_of_postgresql_answers_as_its_own_program_and_is_never_migrated() -> None:
    url = address()
    from inspector.features.registry.postgres import open_peer

    with empty_registry() as registry:
        filled(registry)
        peer = open_peer(url, seconds=60)
        assert same(peer, registry)
        execute("UPDATE toolsight.migration SET name = 'dreams' WHERE name = 'registry'")
        try:
            with pytest.raises(StoreError, match="a newer version of Toolsight"):
                open_peer(url, seconds=60).count()
        finally:
            execute("UPDATE toolsight.migration SET name = 'registry' WHERE name = 'dreams'")
        execute("ALTER TABLE toolsight.migration RENAME TO hidden")
        try:
            with pytest.raises(StoreError, match="an older version of Toolsight"):
                open_peer(url, seconds=60).count()
        finally:
            execute("ALTER TABLE toolsight.hidden RENAME TO migration")
        assert same(open_peer(url, seconds=60), registry)


def written(folder: Path, text: str) -> Path:
    path = folder / "peers.yaml"
    path.write_text(text)
    return path


def test_peers_are_read_in_their_order_with_files_beside_theirs(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "peers:\n  post: {database: '${POST}', policy: who.yaml, user: ada, expert: desk}\n"
        "  b: {database: b.db}",
    )
    url = "postgresql://u:p@h/d"
    assert list(load_peers(path, {"POST": url}).items()) == [
        ("post", Peer(database=url, policy=str(tmp_path / "who.yaml"), user="ada", expert="desk")),
        ("b", Peer(database=str(tmp_path / "b.db"))),
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "peers is missing"),
        ("peers: {}", "peers is empty"),
        ("peers: {a: {file: x}}", "peers.a.file is not a known key"),
        ("peers: {a: {database: 1}}", "peers.a.database must be a string"),
        ("peers: {a: {database: ''}}", "peers.a.database is empty"),
        ("peers: {a: {database: x, policy: p}}", "has a policy but no user"),
        ("peers: {a: {database: x, user: u}}", "has a user but no policy"),
        ("peers: {a: {database: x, expert: e}}", "has an expert but no policy"),
        ("peers: {a: {database: '${NOWHERE}'}}", "NOWHERE"),
        ("peers: {'': {database: x}}", "peers"),
        ('peers: {"a\\e[2J": {database: x}}', "at most 40"),
        ("peers: {a: {database: x}, a: {database: y}}", "a appears twice"),
    ],
)
def test_a_wrong_file_of_peers_is_refused_with_its_place(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(ConfigError) as refused:
        load_peers(written(tmp_path, text), {})
    assert told in refused.value.message
    assert str(tmp_path) in refused.value.message
