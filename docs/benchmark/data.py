"""The data sets and the vectors that measurements share."""

import asyncio
import json
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from docs.benchmark import say
from docs.papers.source import StoredEmbedder
from inspector.access.reach import EvalSet
from inspector.cli.composition import make_embedder, make_static_embedder
from inspector.cli.launch import headless
from inspector.cli.location import fixtures_path
from inspector.cli.options import Options
from inspector.core.tool import Tool
from inspector.features.bench.run import Prepared, prepare
from inspector.mcp.recorded_link import read_definitions
from inspector.search.answer.evalset import read_cases, read_evalset, read_tools
from inspector.search.index.semantics import Embedder, Semantics
from inspector.store.server_memory import SqliteVectors

ROOT = Path(__file__).resolve().parents[2]
# Where `make data` puts the published sets; without it, they may lie beside the checkout.
FETCHED = ROOT / ".benchmark" / "data"
DATA = FETCHED if FETCHED.is_dir() else ROOT.parent / "shared" / "data"
PUBLISHED = ("azure_mcp", "bfcl", "metatool", "toolalpaca")
POOL = "pool_docker"
CATALOGS = ("demo", POOL, "azure_mcp", "toolalpaca")
OWN = ("demo_search", "demo", "pool_docker_search", "pool_docker")
# Nothing is fitted on the reported ones; the servers of the others share no tool with them.
REPORTED = ("demo", "vendors_reported", "servers_reported")
FITTED = ("vendors_fitted", "azure_mcp", "servers_fitted")
EVERYDAY = (*REPORTED, *FITTED)
# Every third of the pool's vendors by name, of those that have requests.
REPORTED_VENDORS = frozenset(
    {
        "buildkite",
        "explorium",
        "kubectl-mcp-server",
        "neo4j",
        "sentry-remote",
        "sqlite-mcp-server",
        "webflow-remote",
    }
)
# What published servers list (`make servers`): every second one by name is reported.
LISTS = ROOT / ".benchmark" / "servers"
SAMPLE = 600
_VECTORS = ROOT / ".benchmark" / "vectors.db"


@cache
def embedder() -> Embedder:
    found = make_embedder("packaged")
    assert found is not None
    return found


@cache
def _vectors() -> SqliteVectors:
    return SqliteVectors(_VECTORS)


def semantics() -> Semantics:
    """A source of vectors that remembers tools from earlier runs; what queries cost is measured."""
    return Semantics(embedder(), _vectors(), make_static_embedder())


def untimed_semantics(model: Embedder | None = None) -> Semantics:
    """A source of vectors, of the packaged model or another, that remembers queries of earlier runs too."""
    return Semantics(StoredEmbedder(model or embedder(), _vectors()), _vectors(), make_static_embedder())


def folder(name: str) -> Path:
    """The folder of a published set. Ends the program in words if it is not here."""
    if not (DATA / name).is_dir():
        raise SystemExit(f"the data set {name} is not here: `make data` fetches it")
    return DATA / name


def sample(evalset: EvalSet, count: int) -> EvalSet:
    """Keep at most `count` cases, always the same ones and in their order, and all the tools."""
    if len(evalset.cases) <= count:
        return evalset
    chosen = np.random.default_rng(0).choice(len(evalset.cases), count, replace=False)
    return replace(evalset, cases=tuple(evalset.cases[index] for index in sorted(chosen.tolist())))


@cache
def published(name: str) -> EvalSet:
    """A published data set, cut to SAMPLE requests."""
    return sample(read_evalset(folder(name)), SAMPLE)


@cache
def pool() -> tuple[Tool, ...]:
    return read_tools(folder(POOL))


def among_others(evalset: EvalSet) -> EvalSet:
    """The same requests with the pool's tools as distractors; tools whose id is taken are left out."""
    taken = {tool.id for tool in evalset.tools}
    tools = (*evalset.tools, *(tool for tool in pool() if tool.id not in taken))
    return EvalSet(f"{evalset.name} + pool", tools, evalset.cases)


@cache
def demo_tools() -> tuple[Tool, ...]:
    """The tools of the demo servers, asked of the servers themselves."""

    async def ask() -> tuple[Tool, ...]:
        with tempfile.TemporaryDirectory() as folder:
            async with headless(Options(database=Path(folder) / "session.db", demo=True)) as bench:
                return bench.catalog.tools

    return asyncio.run(ask())


@cache
def listed_tools(*, reported: bool) -> tuple[Tool, ...]:
    """What every second server of `everyday_servers.json` lists. Ends the program if that is not here."""
    servers = json.loads((Path(__file__).parent / "everyday_servers.json").read_text())["mcpServers"]
    paths = [LISTS / f"{name}.json" for name in sorted(servers)][reported::2]
    if missing := [path.stem for path in paths if not path.is_file()]:
        raise SystemExit(f"the lists of {', '.join(missing)} are not here: `make servers` fetches them")
    return read_definitions(paths)


def own(name: str) -> EvalSet:
    """One of the project's own sets of requests."""
    tools = pool() if name.startswith(POOL) else demo_tools()
    return EvalSet(name, tools, read_cases(fixtures_path() / "evalsets" / f"{name}.jsonl"))


def catalog_tools(catalog: str) -> tuple[Tool, ...]:
    """The tools of one of CATALOGS."""
    if catalog in PUBLISHED:
        return published(catalog).tools
    return pool() if catalog == POOL else demo_tools()


def judged(catalog: str) -> EvalSet:
    """Requests over one of CATALOGS or PUBLISHED by kind: what a search should answer and what not.

    Possible ones are of the kind `possible`; `far`, `near-miss` and `small-talk` have no tool.
    """
    folder = fixtures_path() / "evalsets"
    sets = [published(catalog)] if catalog in PUBLISHED else [own(catalog), own(f"{catalog}_search")]
    possible = [replace(case, kind="possible") for cases in sets for case in cases.cases if case.is_possible]
    names = (f"{catalog}_far", f"{catalog}_near") if catalog in CATALOGS else ()
    impossible = [case for name in (*names, "small_talk") for case in read_cases(folder / f"{name}.jsonl")]
    return EvalSet(catalog, catalog_tools(catalog), (*possible, *impossible))


def everyday(name: str) -> EvalSet:
    """Everyday requests over one of EVERYDAY: what people say, written without seeing a description."""
    kind, _, half = name.rpartition("_")
    if kind == "vendors":
        tools = tuple(t for t in pool() if (t.server in REPORTED_VENDORS) is (half == "reported"))
    elif kind == "servers":
        tools = listed_tools(reported=half == "reported")
    else:
        tools = catalog_tools(name)
    cases = read_cases(fixtures_path() / "evalsets" / f"everyday_{name}.jsonl")
    return EvalSet(f"everyday_{name}", tools, cases)


def prepared(evalset: EvalSet, *, lined: bool = False, model: Embedder | None = None) -> Prepared:
    """Its index, with every vector; a `lined` one has those of the tools' summary lines too.

    What is asked of it is embedded once for all runs.
    """

    def progress(done: int, total: int) -> None:
        if done == total or done % 320 == 0:
            say(f"{evalset.name}: {done} of {total} texts embedded")

    return prepare(
        evalset,
        untimed_semantics(model),
        progress=progress,
        cancelled=lambda: False,
        lined=lined,
    )
