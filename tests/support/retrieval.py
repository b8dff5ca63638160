"""Retrieval without a model, and with one that knows words only by their spelling."""

import fcntl
import shutil
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from inspector.core.ports import Clock
from inspector.core.settings import DiscoverySettings
from inspector.core.tool import Tool
from inspector.search.answer.retrieval import Retrieval
from inspector.search.answer.standing import Standing, position_of, standings_under
from inspector.search.index.semantics import Semantics
from inspector.search.index.tool_index import ToolIndex
from inspector.search.ranker.catalog_rankers import CatalogRankers
from inspector.store.server_memory import SqliteVectors
from tests.support.memory_vectors import MemoryEmbedder, MemoryStaticEmbedder, MemoryVectors


class CountingEmbedder(MemoryEmbedder):
    """Keeps the texts that it was asked to embed."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.texts += texts
        return super().embed(texts)


def memory_semantics() -> Semantics:
    """Vectors of both kinds, as the shipped app has them, but of words by their spelling."""
    return Semantics(MemoryEmbedder(), MemoryVectors(), MemoryStaticEmbedder())


def words_only(settings: DiscoverySettings, clock: Clock) -> Retrieval:
    """A retrieval that searches by words alone, and reports no progress."""
    return Retrieval(settings, clock, embedder=None, vectors=MemoryVectors(), report=lambda _state: None)


def embedded(index: ToolIndex, semantics: Semantics) -> ToolIndex:
    """The index with every passage and every server's text embedded; known vectors are kept."""
    semantics.embed({key: text for key, text in index.texts().items() if key not in index.vectors})
    return index.with_new_vectors()


def semantic_index(
    tools: Sequence[Tool], semantics: Semantics | None = None, *, lined: bool = False
) -> ToolIndex:
    """An index with all its vectors."""
    semantics = semantics or memory_semantics()
    return embedded(ToolIndex(tools, semantics=semantics, lined=lined), semantics)


def rankers_of(
    tools: Sequence[Tool],
    *,
    semantic: bool = True,
    settings: DiscoverySettings | None = None,
    lined: bool = False,
) -> CatalogRankers:
    """A catalog's rankers; by words alone unless `semantic`."""
    index = semantic_index(tools, lined=lined) if semantic else ToolIndex(tools)
    return CatalogRankers(index, settings or DiscoverySettings())


def kept(folder: Path, embed: Callable[[Path], None]) -> Path:
    """A database in this folder with these vectors alone; `embed` fills another one by searching the demo.

    Processes that ask at the same time wait for the first.
    """
    made = folder / "demo-vectors.db"
    with (folder / "demo-vectors.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            embed(folder / "embedded.db")
            _copied(folder / "embedded.db", folder / "copied.db").rename(made)
    return made


def _copied(source: Path, target: Path) -> Path:
    with sqlite3.connect(source) as database:
        rows = database.execute("SELECT model, key, vector FROM vector").fetchall()
    database.close()
    vectors = SqliteVectors(target)
    for model in {row[0] for row in rows}:
        vectors.keep_vectors(model, {key: vector for name, key, vector in rows if name == model})
    vectors.close()
    return target


def give(vectors: Path, database: Path) -> None:
    """Begin a database with these vectors."""
    shutil.copyfile(vectors, database)


def ranks_of(
    rankers: CatalogRankers, query: str, tool_id: str, names: Sequence[str]
) -> Mapping[str, Standing]:
    """One tool's standing under each of the rankers. Raises ToolsightError for an unknown tool or ranker."""
    position = position_of(rankers.index, tool_id)
    return {name: standings_under(rankers, query, name)[position] for name in names}
