"""The data that the published tables are measured on: the demo, and the folders that are named."""

import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import platformdirs
from msgspec.structs import replace

from docs.papers.source import NamedCatalog, PlayedScenario, Poison, Steps
from inspector import __version__
from inspector.access.reach import EvalCase
from inspector.access.restriction import OpenedConfiguration
from inspector.cli import composition, location
from inspector.cli.composition import PLANNER, counter_for
from inspector.cli.configuration import demo_configuration
from inspector.cli.launch import headless
from inspector.cli.options import Options
from inspector.cli.run import run
from inspector.core.error import ConfigError
from inspector.core.fold import fold
from inspector.core.ports import Clock, SystemClock, TokenCounter
from inspector.features.lab import open_lab as lab
from inspector.features.lab.scenario import load_scenario
from inspector.features.marketplace.plugin import Plugin
from inspector.features.marketplace.reader import read_catalog
from inspector.features.registry.sqlite import SqliteRegistry
from inspector.features.registry.tool_registry import ToolRegistry
from inspector.mcp.recorded_link import read_definitions
from inspector.search.answer.evalset import QUERIES, TOOLS, read_cases, read_evalset, read_tools
from inspector.search.index.semantics import Embedder, StaticEmbedder
from inspector.store.server_memory import SqliteVectors

if TYPE_CHECKING:
    from inspector.search.index.semantics import Semantics


# A model whose tokens are counted with the encoding.
_COUNTS_WITH = {"cl100k_base": "openai/gpt-4", "o200k_base": PLANNER}
# Requests of another catalog at most: each is searched for several times.
REQUESTS = 200
# Entries of the synthetic marketplace.
SYNTHETIC = 5_000
_PACKAGES = ("tiktoken", "fastembed", "numpy")


class ShippedSource:
    """A `Source`. Its sessions are not kept, and its vectors are stored apart from the user's.

    Use it as a context manager: leaving it removes its folder.
    """

    def __init__(
        self, folders: Sequence[Path] = (), *, model: str = "packaged", database: Path | None = None
    ) -> None:
        """Each of `folders` is a catalog or a folder of catalogs. `model` is the embedding model.

        `database` keeps vectors between runs; by default it is in the user's cache.
        """
        self.clock: Clock = SystemClock()
        self._database = database or platformdirs.user_cache_path(location.APP) / "reproduction.db"
        self._folders = tuple(folders)
        self._model = model
        self._played: tuple[PlayedScenario, ...] | None = None

    def __enter__(self) -> "ShippedSource":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the vectors, and delete the recorded sessions."""
        if "vectors" in self.__dict__:
            self.vectors.close()
        if "_folder" in self.__dict__:
            self._folder.cleanup()

    @cached_property
    def embedder(self) -> Embedder | None:
        return composition.make_embedder(self._model)

    @property
    def static(self) -> StaticEmbedder | None:
        return composition.make_static_embedder()

    @cached_property
    def vectors(self) -> SqliteVectors:
        return composition.open_vectors(Options(database=self._database))

    @cached_property
    def counter(self) -> TokenCounter:
        return counter_for(PLANNER)

    @property
    def versions(self) -> Sequence[str]:
        return (f"toolsight {__version__}", *filter(None, map(_version, _PACKAGES)))

    def counter_like(self, encoding: str) -> TokenCounter:
        return counter_for(_COUNTS_WITH[encoding])

    def semantics(self) -> "Semantics | None":
        from inspector.search.index.semantics import Semantics

        return Semantics(self.embedder, self.vectors, self.static) if self.embedder is not None else None

    def demo(self) -> NamedCatalog:
        return self._demo

    def searches(self) -> Sequence[EvalCase]:
        return self._cases("demo_search")

    def others(self) -> Sequence[NamedCatalog]:
        return self._others

    def poisons(self) -> Sequence[Poison]:
        return read_poisons(location.fixtures_path() / "poison" / "demo.jsonl")

    @property
    def synthetic(self) -> int:
        return SYNTHETIC

    def plugins(self) -> Sequence[Plugin]:
        places = {"TOOLSIGHT_PYTHON": sys.executable, "TOOLSIGHT_FIXTURES": str(location.fixtures_path())}
        return read_catalog(location.fixtures_path() / "marketplace" / "catalog.json", places).plugins

    @contextmanager
    def registries(self) -> Iterator[Mapping[str, ToolRegistry]]:
        """One in a file; where TOOLSIGHT_DATABASE_URL is set, one on its server, beside what is there."""
        with ExitStack() as opened:
            folder = opened.enter_context(tempfile.TemporaryDirectory(prefix="toolsight-reproduce-"))
            found: dict[str, ToolRegistry] = {"SQLite": SqliteRegistry(Path(folder) / "registry.db")}
            opened.callback(found["SQLite"].close)
            if url := os.environ.get("TOOLSIGHT_DATABASE_URL"):
                from docs.papers.scratch_registry import scratch_registry

                found["PostgreSQL"] = opened.enter_context(scratch_registry(url))
            yield found

    def played(self, steps: Steps) -> Sequence[PlayedScenario]:
        if self._played is None:
            paths = location.shipped_scenarios()
            self._played = tuple(
                self._play(path, steps, number, len(paths)) for number, path in enumerate(paths)
            )
        return self._played

    @cached_property
    def _folder(self) -> "tempfile.TemporaryDirectory[str]":
        return tempfile.TemporaryDirectory(prefix="toolsight-reproduce-")

    @property
    def _setup(self) -> Options:
        """The demo's options, with a temporary database."""
        return Options(database=Path(self._folder.name) / "sessions.db")

    @cached_property
    def _demo(self) -> NamedCatalog:
        return run(self._connected())

    @cached_property
    def _others(self) -> tuple[NamedCatalog, ...]:
        paths = [path for folder in self._folders for path in _catalogs(folder)]
        return tuple(map(_named, paths))

    async def _connected(self) -> NamedCatalog:
        with tempfile.TemporaryDirectory(prefix="toolsight-demo-") as state:
            configuration = demo_configuration(Path(state))
            discovery = replace(configuration.settings.discovery, embedding_model="none")
            settings = replace(configuration.settings, discovery=discovery)
            async with headless(self._setup, OpenedConfiguration(configuration).using(settings)) as bench:
                tools, summaries = bench.catalog.tools, bench.retrieval.index.summaries
                return NamedCatalog("demo", tools, summaries, self._cases("demo"))

    def _cases(self, name: str) -> tuple[EvalCase, ...]:
        return read_cases(location.fixtures_path() / "evalsets" / f"{name}.jsonl")

    def _play(self, path: Path, steps: Steps, number: int, total: int) -> PlayedScenario:
        """Play a scenario; if cancelled, stop after the turn. Raises ToolsightError and Stopped."""
        scenario = load_scenario(path)
        setup = replace(
            self._setup, model=f"demo/script:{path}", values={"discovery.embedding_model": self._model}
        )

        async def played() -> PlayedScenario:
            async with lab.open_lab(scenario, setup) as opened:
                while not opened.run.is_over:
                    await opened.run.step()
                    steps(f"scenario {path.stem}", number, total)
                return PlayedScenario(path.stem, fold(opened.run.result().records))

        steps(f"scenario {path.stem}", number, total)
        return run(played())


def read_poisons(path: Path) -> tuple[Poison, ...]:
    """Read poisoned descriptions from a JSON Lines file. Raises ConfigError."""
    try:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        return tuple(Poison(row["id"], row["kind"], row["tool"], row["text"]) for row in rows)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}", hint="Reinstall Toolsight.") from error


def _catalogs(folder: Path) -> list[Path]:
    """The path itself if it is a catalog, else the catalogs in it. Raises ConfigError if there are none."""
    if (folder / TOOLS).is_file() or folder.is_file():
        return [folder]
    catalogs = sorted(path.parent for path in folder.glob(f"*/{TOOLS}"))
    if not catalogs:
        raise ConfigError(
            f"{folder} has no catalog", hint=f"A catalog is a folder with {TOOLS}, one tool per line."
        )
    return catalogs


def _named(folder: Path) -> NamedCatalog:
    """A catalog with the requests in its folder, else ours for it, else none. Raises ConfigError."""
    name = folder.resolve().name
    if folder.is_file():
        return NamedCatalog(folder.resolve().parent.name, read_definitions([folder]))
    if (folder / QUERIES).is_file():
        from docs.benchmark.data import sample

        found = sample(read_evalset(folder), REQUESTS)
        return NamedCatalog(name, found.tools, cases=found.cases)
    tools, path = read_tools(folder), location.fixtures_path() / "evalsets" / f"{name}.jsonl"
    known = {tool.id for tool in tools}
    cases = read_cases(path) if path.is_file() else ()
    is_theirs = all(tool_id in known for case in cases for group in case.relevant for tool_id in group)
    return NamedCatalog(name, tools, cases=cases if is_theirs else ())


def _version(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return ""
