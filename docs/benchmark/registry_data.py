"""Any number of tools with vectors, made of real ones, for `docs.benchmark.registry`.

The real tools are those of the published data sets and of the demo; their vectors are MiniLM's, of the text
that a registry embeds. Tool number i is a copy of real tool i modulo their number: its name and description
end with the number of the copy, and its vector is the real one with Gaussian noise, brought back to length 1.
The noise has the covariance of the real vectors, so that copies differ in what tools differ in, and NOISE is
its length: a copy is as far from its original as a real tool is from the nearest other one (in the median, a
cosine of .78). Queries are labelled requests of the same data sets with their own vectors.

Each server's name ends with one of 100 groups, drawn at random for each tool: a grant for so many groups is
one for so many percent of the tools, wherever they are.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from zlib import crc32

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from docs.benchmark.data import POOL, PUBLISHED, ROOT, demo_tools, embedder, folder
from docs.papers.source import StoredEmbedder
from inspector.core.access import EVERYTHING, Grant, Scope, Sight
from inspector.core.tool import Tool
from inspector.features.registry.acceptance import embedded_text
from inspector.search.answer.evalset import read_evalset, read_tools
from inspector.search.index.embedded_text import key_of
from inspector.store.server_memory import SqliteVectors

NOISE = 0.8
GROUPS = 100
QUERIES_A_SET = 75
CHUNK = 10_000
_BATCH = 64

Vectors = NDArray[np.float32]


class Chunk(Struct, frozen=True):
    """Some of the tools in order of their numbers, with a vector and a group each."""

    tools: list[Tool]
    vectors: Vectors
    groups: NDArray[np.int64]

    @property
    def by_key(self) -> dict[bytes, bytes]:
        """The vectors as a registry keeps them."""
        rows = zip(self.tools, self.vectors, strict=True)
        return {key_of(embedded_text(tool)): row.astype("<f4").tobytes() for tool, row in rows}


@cache
def real_tools() -> tuple[Tool, ...]:
    """The tools of the data sets, of the pool and of the demo."""
    sets = [read_tools(folder(name)) for name in (*PUBLISHED, POOL)]
    return tuple(tool for tools in (*sets, demo_tools()) for tool in tools)


@cache
def _real_vectors() -> Vectors:
    return _embedded([embedded_text(tool) for tool in real_tools()])


@cache
def _shape() -> Vectors:
    """What turns independent numbers into noise of the length NOISE with the real vectors' covariance."""
    covariance = np.cov(_real_vectors().T)
    variances, directions = np.linalg.eigh(covariance)
    root = directions * np.sqrt(np.clip(variances, 0, None)) @ directions.T
    shape: Vectors = (root * (NOISE / np.trace(covariance) ** 0.5)).astype(np.float32)
    return shape


@cache
def query_vectors() -> Vectors:
    """The vectors of the first labelled requests of each data set."""
    cases = [case for name in PUBLISHED for case in read_evalset(folder(name)).cases[:QUERIES_A_SET]]
    return _embedded([case.query for case in cases])


def chunks(count: int) -> Iterator[Chunk]:
    """The tools, the same ones whenever they are asked for."""
    real, vectors, shape = real_tools(), _real_vectors(), _shape()
    for start in range(0, count, CHUNK):
        numbers = np.arange(start, min(start + CHUNK, count))
        noise = np.random.default_rng(start).standard_normal((len(numbers), vectors.shape[1]), np.float32)
        noise = noise @ shape
        noise[numbers < len(real)] = 0
        rows = vectors[numbers % len(real)] + noise
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        groups = np.array([crc32(b"%d" % number) % GROUPS for number in numbers])
        tools = [
            _copied(real[number % len(real)], number // len(real), group)
            for number, group in zip(numbers.tolist(), groups.tolist(), strict=True)
        ]
        yield Chunk(tools, rows, groups)


def permitting(percent: int) -> Sight:
    """What somebody sees who was granted so many percent of the tools, by their servers."""
    if percent == GROUPS:
        return EVERYTHING
    patterns = tuple(f"*-{group:02d}:*" for group in range(percent))
    return Sight("ada", "", (Grant(Scope.USER, "ada", "firm", patterns),))


def exact(count: int, nearest: int, percents: Sequence[int]) -> dict[int, list[list[str]]]:
    """By percentage, the ids of each query's nearest permitted tools, compared one by one."""
    queries = query_vectors()
    best = {percent: [[(-2.0, "")] * nearest for _ in queries] for percent in percents}
    for chunk in chunks(count):
        similarities = queries @ chunk.vectors.T
        for percent in percents:
            permitted = np.flatnonzero(chunk.groups < percent)
            found = similarities[:, permitted]
            top = np.argpartition(-found, min(nearest, found.shape[1] - 1), axis=1)[:, :nearest]
            for number, row in enumerate(top):
                new = [(float(found[number, at]), chunk.tools[permitted[at]].id) for at in row]
                best[percent][number] = sorted(best[percent][number] + new, reverse=True)[:nearest]
    return {percent: [[tool for _, tool in row] for row in rows] for percent, rows in best.items()}


def _copied(tool: Tool, number: int, group: int) -> Tool:
    server = f"{tool.server}-{number}-{group:02d}"
    if number == 0:
        return replace(tool, server=server)
    return replace(
        tool, server=server, name=f"{tool.name}_{number}", description=f"{tool.description} {number}"
    )


def _embedded(texts: Sequence[str]) -> Vectors:
    model = StoredEmbedder(embedder(), SqliteVectors(ROOT / ".benchmark" / "vectors.db"))
    model.prepare(lambda _done, _total: None, lambda: False)
    parts = [model.embed(texts[start : start + _BATCH]) for start in range(0, len(texts), _BATCH)]
    return np.array([row for part in parts for row in part], np.float32)
