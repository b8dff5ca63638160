"""The data sets and the vectors that measurements share."""

import asyncio
import tempfile
from functools import cache
from pathlib import Path

from inspector.adapters.clock import SystemClock
from inspector.adapters.files.evalset import read_cases, read_evalset, read_tools, sample
from inspector.adapters.sqlite.vectors import SqliteVectors
from inspector.cli.composition import fixtures_path, make_embedder
from inspector.cli.launch import headless
from inspector.cli.options import Options
from inspector.domain.evaluation import EvalSet
from inspector.domain.tool import Tool
from inspector.engine.discovery.semantics import Semantics
from inspector.engine.measure.prepare import Prepared, prepare
from inspector.engine.ports import Embedder
from tests.benchmark.output import say

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
PUBLISHED = ("azure_mcp", "bfcl", "metatool", "toolalpaca")
POOL = "pool_docker"
OWN = ("demo_search", "demo", "pool_docker_search", "pool_docker")
SAMPLE = 600
_VECTORS = ROOT / ".benchmark" / "vectors.db"


@cache
def embedder() -> Embedder:
    found = make_embedder("packaged")
    assert found is not None
    return found


def semantics() -> Semantics:
    """A source of vectors that remembers those of earlier runs."""
    return Semantics(embedder(), SqliteVectors(_VECTORS))


@cache
def published(name: str) -> EvalSet:
    """A data set of the folder beside the checkout, cut to SAMPLE requests."""
    return sample(read_evalset(DATA / name), SAMPLE)


@cache
def pool() -> tuple[Tool, ...]:
    return read_tools(DATA / POOL)


def among_others(evalset: EvalSet) -> EvalSet:
    """The same requests with the pool's tools as distractors."""
    return evalset.with_distractors(f"{evalset.name} + pool", pool())


@cache
def demo_tools() -> tuple[Tool, ...]:
    """The tools of the demo servers, asked of the servers themselves."""

    async def ask() -> tuple[Tool, ...]:
        with tempfile.TemporaryDirectory() as folder:
            async with headless(Options(database=Path(folder) / "session.db", demo=True)) as bench:
                return bench.catalog.tools

    return asyncio.run(ask())


def own(name: str) -> EvalSet:
    """One of the project's own sets of requests."""
    tools = pool() if name.startswith(POOL) else demo_tools()
    return EvalSet(name, tools, read_cases(fixtures_path() / "evalsets" / f"{name}.jsonl"))


def prepared(evalset: EvalSet) -> Prepared:
    """Its index, with every vector."""

    def progress(done: int, total: int) -> None:
        if done == total or done % 320 == 0:
            say(f"{evalset.name}: {done} of {total} texts embedded")

    return prepare(evalset, semantics(), clock=SystemClock(), progress=progress, cancelled=lambda: False)
