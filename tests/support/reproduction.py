"""A source for reproductions that needs no server, model or file."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from docs.papers.source import NamedCatalog, PlayedScenario, Poison, Steps
from inspector.access.reach import EvalCase
from inspector.core.package_run import PackageKind
from inspector.core.ports import TokenCounter
from inspector.core.session import SessionState
from inspector.core.tool import Tool
from inspector.features.marketplace.plugin import Package, Plugin, PluginTool
from inspector.features.registry.sqlite import SqliteRegistry
from inspector.features.registry.tool_registry import ToolRegistry
from inspector.search.index.semantics import Embedder, Semantics, StaticEmbedder, VectorStore
from tests.support.fakes import CharacterCounter, ManualClock
from tests.support.memory_vectors import MemoryEmbedder, MemoryStaticEmbedder, MemoryVectors
from tests.support.office import office


def office_tools() -> tuple[Tool, ...]:
    """The tools of the servers in `tests.support.office`."""
    return tuple(tool for server in office().values() for tool in server.tools)


def case(query: str, *tools: str) -> EvalCase:
    """A request that needs all of these tools; without tools, an impossible request."""
    return EvalCase(query, query, tuple(frozenset({tool}) for tool in tools))


class MemorySource:
    """A `Source` in memory, with the given catalogs, poisons and played scenarios."""

    def __init__(
        self,
        demo: NamedCatalog | None = None,
        *,
        others: Sequence[NamedCatalog] = (),
        poisons: Sequence[Poison] = (),
        played: Sequence[PlayedScenario] = (),
        searches: Sequence[EvalCase] = (),
        counter: TokenCounter | None = None,
    ) -> None:
        self.clock = ManualClock()
        self.counter: TokenCounter = counter or CharacterCounter()
        self.embedder: Embedder | None = MemoryEmbedder()
        self.static: StaticEmbedder | None = MemoryStaticEmbedder()
        self.synthetic = 20
        self.versions: Sequence[str] = ("toolsight 0.0.0", "memory 1.0")
        self._demo = demo or NamedCatalog("demo", office_tools())
        self._others = others
        self._poisons = poisons
        self._played = played
        self._searches = searches
        self.vectors: VectorStore = MemoryVectors()

    def counter_like(self, encoding: str) -> TokenCounter:  # noqa: ARG002 - there is only one
        return self.counter

    def semantics(self) -> Semantics | None:
        return Semantics(self.embedder, self.vectors, self.static) if self.embedder is not None else None

    def demo(self) -> NamedCatalog:
        return self._demo

    def searches(self) -> Sequence[EvalCase]:
        return self._searches

    def others(self) -> Sequence[NamedCatalog]:
        return self._others

    def poisons(self) -> Sequence[Poison]:
        return self._poisons

    def plugins(self) -> Sequence[Plugin]:
        return [
            Plugin(
                tool.name,
                tool.description,
                Package(PackageKind.NPM, tool.name),
                tools=(PluginTool(tool.name, tool.description),),
            )
            for tool in office_tools()
        ]

    @contextmanager
    def registries(self) -> Iterator[Mapping[str, ToolRegistry]]:
        with TemporaryDirectory() as folder:
            registry = SqliteRegistry(Path(folder) / "registry.db")
            yield {"SQLite": registry}
            registry.close()

    def played(self, steps: Steps) -> Sequence[PlayedScenario]:
        steps("scenario", 0, len(self._played))
        return self._played


def session(discovered: Sequence[str], used: Sequence[str]) -> PlayedScenario:
    """A scenario that discovered and used these tools, in one search."""
    state = SessionState(searches=1, discovered=frozenset(discovered), used=frozenset(used))
    return PlayedScenario(f"{len(discovered)} found, {len(used)} used", state)
