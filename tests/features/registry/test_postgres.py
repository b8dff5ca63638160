"""What only the registry in PostgreSQL has: a server, an index, roles, and programs that start at once."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import numpy as np
import pytest
from hypothesis import given, strategies as st

from inspector.core.access import EVERYTHING, Sight
from inspector.core.error import StoreError
from inspector.core.tool import Tool
from inspector.features.registry import postgres_vector
from inspector.features.registry.acceptance import embedded_text
from inspector.features.registry.postgres import PostgresRegistry
from inspector.features.registry.postgres_database import STEPS, PostgresDatabase
from inspector.search.index.embedded_text import key_of
from tests.support.commands import Toolsight
from tests.support.examples import examples
from tests.support.postgres import address, empty_registry, execute
from tests.support.registry import MODEL, keep_vector, sight_of, sights, tool, tools, unit

A, B, C = tool("s", "a", "One."), tool("s", "b", "Two."), tool("t", "c", "Three.")
QUERY = unit(1, 0, 0)
# Those to this process's database: other tests use the same server.
_END_CONNECTIONS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE application_name = 'toolsight' AND datname = current_database() AND pid <> pg_backend_pid()
"""


@pytest.fixture
def registry() -> Iterator[PostgresRegistry]:
    with empty_registry() as opened:
        yield opened


@pytest.fixture
def tiny_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three vectors are enough for an index."""
    monkeypatch.setattr(postgres_vector, "INDEXED_FROM", 3)


def fill(registry: PostgresRegistry, *of: Tool) -> None:
    """Keep the tools with vectors that point ever further away from QUERY, and index them."""
    registry.sync("o", of, at=1.0)
    for place, text in enumerate(dict.fromkeys(map(embedded_text, of))):
        vector = np.array(unit(1, place / 10, 0), "<f4").tobytes()
        registry.keep_vectors(MODEL, {key_of(text): vector})
    assert registry.unembedded(MODEL, 10) == {}


def found(registry: PostgresRegistry, count: int = 10, sight: Sight = EVERYTHING) -> list[str]:
    return [one.found.tool.id for one in registry.nearest(MODEL, QUERY, count, sight)]


def plan(registry: PostgresRegistry) -> str:
    """How PostgreSQL finds the nearest by the index, as it tells."""
    table = next(one for one in postgres_vector.tables_of(registry._database, MODEL) if one.indexed)
    distance = postgres_vector._BY_INDEX.format(dimensions=3)
    sql = postgres_vector._SEARCH.format(table=table.name, seen="TRUE", distance=distance)
    asked = {"vector": "[1,0,0]", "count": 3, "taken": 5}
    return "\n".join(line for (line,) in registry._database.rows(f"EXPLAIN {sql}", asked))


@pytest.mark.usefixtures("tiny_index")
def test_many_vectors_are_found_by_the_index(registry: PostgresRegistry) -> None:
    fill(registry, A, B, C)
    assert found(registry) == [A.id, B.id, C.id]
    assert "Index Scan using vector_" in plan(registry)


@pytest.mark.slow
@examples(share=0.5)
@given(given_tools=st.lists(tools, max_size=12), sight=sights())
def test_a_filtered_index_finds_what_comparing_the_permitted_ones_finds(
    given_tools: list[Tool], sight: Sight
) -> None:
    with pytest.MonkeyPatch.context() as patch, empty_registry() as registry:
        patch.setattr(postgres_vector, "INDEXED_FROM", 1)
        fill(registry, *given_tools)
        everything = registry.nearest(MODEL, QUERY, 99)
        assert len(everything) == len({one.id for one in given_tools})
        permitted = [one for one in everything if sight.permits(one.found.tool.id)]
        assert registry.nearest(MODEL, QUERY, 3, sight) == tuple(permitted[:3])


@pytest.mark.usefixtures("tiny_index")
def test_an_index_that_gives_up_is_made_up_for(
    registry: PostgresRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It looks at one tool, which is not permitted, and stops."""
    lazy = "SET hnsw.ef_search = 1; SET hnsw.iterative_scan = off"
    monkeypatch.setattr(registry._database, "_settings", f"{registry._database._settings}; {lazy}")
    fill(registry, *(tool("s", f"near{number}", f"{number}") for number in range(40)), A, B, C)
    assert found(registry, 2, sight_of("s:b", "t:*")) == [B.id, C.id]


@pytest.mark.usefixtures("tiny_index")
def test_vectors_of_another_length_have_an_index_of_their_own(registry: PostgresRegistry) -> None:
    fill(registry, A, B, C)
    keep_vector(registry, A, 1, 0)
    assert found(registry) == []
    fill(registry, A, B, C)
    assert found(registry) == [A.id, B.id, C.id]
    assert "Index Scan using vector_" in plan(registry)


@pytest.mark.usefixtures("tiny_index")
def test_what_is_nearer_in_half_precision_alone_does_not_come_first(registry: PostgresRegistry) -> None:
    registry.sync("o", [A, B, C], at=1.0)
    keep_vector(registry, A, 1, 0.568, 0.554)
    keep_vector(registry, B, 1, 0.444, 0.658)
    keep_vector(registry, C, 0, 1, 1)
    assert registry.unembedded(MODEL, 1) == {}
    assert found(registry, 1) == [A.id]


def test_a_search_survives_that_its_connection_was_ended(registry: PostgresRegistry) -> None:
    fill(registry, A, B)
    assert found(registry) == [A.id, B.id]
    execute(_END_CONNECTIONS)
    assert found(registry) == [A.id, B.id]
    execute(_END_CONNECTIONS)
    with pytest.raises(StoreError):
        registry.sync("o", [A], at=2.0)
    assert registry.sync("o", [A], at=2.0).removed == 1


def test_who_may_only_read_can_search(registry: PostgresRegistry) -> None:
    fill(registry, A, B)
    execute(
        "DROP ROLE IF EXISTS reader",
        "CREATE ROLE reader LOGIN",
        "GRANT USAGE ON SCHEMA toolsight TO reader",
        "GRANT SELECT ON ALL TABLES IN SCHEMA toolsight TO reader",
    )
    reader = PostgresRegistry(address().replace("//postgres:", "//reader:"))
    assert found(reader) == [A.id, B.id]
    with pytest.raises(StoreError, match="permission denied") as told:
        reader.sync("o", [], at=2.0)
    assert "rights" in told.value.hint
    reader.close()
    execute("DROP OWNED BY reader", "DROP ROLE reader")


def test_programs_that_start_at_once_make_the_tables_once(registry: PostgresRegistry) -> None:
    registry.close()
    execute("DROP SCHEMA IF EXISTS toolsight CASCADE")
    together = Barrier(4)

    def start(_number: int) -> int:
        own = PostgresRegistry(address())
        together.wait()
        try:
            return own.count()
        finally:
            own.close()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(start, range(4))) == [0] * 4
    rows = PostgresDatabase(address()).rows("SELECT name FROM toolsight.migration")
    assert rows == [(name,) for name in STEPS]


def test_what_a_newer_toolsight_wrote_is_refused(registry: PostgresRegistry) -> None:
    assert registry.count() == 0
    registry.close()
    execute("INSERT INTO toolsight.migration VALUES ('later', 99)")
    try:
        with pytest.raises(StoreError, match="newer version of Toolsight") as told:
            registry.count()
        assert "unknown migrations: later" in str(told.value)
        assert told.value.hint == "Update Toolsight, or use another database."
    finally:
        execute("DELETE FROM toolsight.migration WHERE name = 'later'")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ada:sesame@127.0.0.1:1/firm",
        "postgresql://ada@127.0.0.1:1/firm?password=sesame",
        "host=127.0.0.1 port=1 user=ada password=sesame",
        "postgresql://ada:sesame@127.0.0.1:port/firm",
        "postgresql:ada:sesame",
        "sesame",
        "postgresql://ada:sesame\0@127.0.0.1:1/firm",
        "postgresql://ada:sesame\ud800@127.0.0.1:1/firm",
    ],
)
def test_a_password_is_in_no_error(url: str) -> None:
    pytest.importorskip("psycopg")
    registry = PostgresRegistry(url, timeout=2)
    for use in (registry.count, lambda: registry.sync("o", [], at=1.0)):
        with pytest.raises(StoreError) as told:
            use()
        assert told.value.hint
        assert "sesame" not in f"{told.value} {told.value.hint}"
        assert told.value.__cause__ is None
        assert told.value.__suppress_context__


def test_the_command_line_keeps_tools_on_the_server(toolsight: Toolsight, tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    file.write_text('{"tools": [{"name": "a", "description": "One."}]}')
    with empty_registry() as registry:
        done = toolsight(
            "registry",
            "import",
            str(file),
            "--set",
            "discovery.embedding_model=none",
            TOOLSIGHT_DATABASE_URL=address(),
        )
        assert (done.exit_code, [one.tool.id for one in registry.tools()]) == (0, ["s:a"])
