"""The data that sections are measured on, and how they report progress."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

import numpy as np
from msgspec import Struct, field

from inspector.access.reach import EvalCase, EvalSet
from inspector.core.budget import Tokenizer
from inspector.core.ports import Clock, TokenCounter
from inspector.core.session import SessionState
from inspector.core.tool import Tool
from inspector.features.marketplace.plugin import Plugin
from inspector.features.registry.tool_registry import ToolRegistry
from inspector.search.index.embedded_text import key_of
from inspector.search.index.semantics import Embedder, StaticEmbedder, VectorStore

if TYPE_CHECKING:
    from inspector.search.index.semantics import Semantics
    from inspector.search.index.tool_index import ToolIndex


COMMAND = "python -m docs.benchmark.recordings FOLDER --tools FILE"
RESULTS = "docs/papers/recorded-runs.md"


def recorded(what: str) -> str:
    """The command that measures this on recorded runs, and where its results stand; numbers stay there."""
    return f"{what}: `{COMMAND}`, with results in {RESULTS}; the runs are other people's and not shipped"


def columns(row: str) -> tuple[str, ...]:
    """The headers of a table, from the line in which they stand side by side: “method | tokens | cut”."""
    return tuple(row.split(" | "))


class StoredEmbedder:
    """An `Embedder` over another one and a store. New and kept vectors are equal to the last bit."""

    def __init__(self, embedder: Embedder, store: VectorStore) -> None:
        self._embedder = embedder
        self._store = store

    @property
    def name(self) -> str:
        return self._embedder.name

    def prepare(self, progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> None:
        """See `Embedder`."""
        self._embedder.prepare(progress, cancelled)

    def words(self) -> Sequence[str]:
        """See `Embedder`."""
        return self._embedder.words()

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """One unit vector per text, in order. Raises ModelError and StoreError."""
        keys = [key_of(text) for text in texts]
        known = dict(self._store.vectors(self.name, list(dict.fromkeys(keys))))
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            rows = np.asarray(self._embedder.embed(list(missing.values())), "<f4")
            new = {key: row.tobytes() for key, row in zip(missing, rows, strict=True)}
            self._store.keep_vectors(self.name, new)
            known |= new
        return [np.frombuffer(known[key], "<f4").tolist() for key in keys]


class Stopped(Exception):
    """The work was asked to stop, and stopped."""


class Steps(Struct, frozen=True):
    """Reports a section's progress, and stops it between two steps.

    `report(what, done, total)` may be called from any thread; `stopped` returns whether to stop.
    """

    report: Callable[[str, int, int], None] = lambda _what, _done, _total: None
    stopped: Callable[[], bool] = lambda: False

    def __call__(self, what: str, done: int = 0, total: int = 0) -> None:
        """Begin a step. Raises Stopped if the work was asked to stop."""
        if self.stopped():
            raise Stopped
        self.report(what, done, total)


class NamedCatalog(Struct, frozen=True):
    """A catalog with its servers' summaries and its labelled requests. `name` says whose it is."""

    name: str
    tools: tuple[Tool, ...]
    summaries: Mapping[str, str] = field(default_factory=dict)
    cases: tuple[EvalCase, ...] = ()


class PlayedScenario(Struct, frozen=True):
    """A scenario that was played on the demo servers, and its final session state."""

    name: str
    state: SessionState


class Poison(Struct, frozen=True):
    """A poisoned description: `text` is appended to the description of the tool with the id `tool`.

    `kind` is the kind of attack. The payloads are fictitious and lead nowhere.
    """

    id: str
    kind: str
    tool: str
    text: str


class Source(Protocol):
    """Where catalogs, sessions, vectors and token counts come from. Each is made only once."""

    @property
    def clock(self) -> Clock: ...

    @property
    def counter(self) -> TokenCounter:
        """The token counter for our own numbers."""

    @property
    def embedder(self) -> Embedder | None:
        """None means that searches use words alone."""

    @property
    def static(self) -> StaticEmbedder | None:
        """Static vectors, which searches use beside those of the embedder."""

    @property
    def vectors(self) -> VectorStore:
        """Vectors from earlier runs."""

    @property
    def versions(self) -> Sequence[str]:
        """What numbers depend on, such as `numpy 2.4.6`."""

    def counter_like(self, encoding: str) -> TokenCounter:
        """A token counter with a publication's encoding, such as `cl100k_base`."""

    def semantics(self) -> "Semantics | None":
        """A source of vectors without cached queries."""

    def demo(self) -> NamedCatalog:
        """The demo servers' tools, with people's requests for them. Raises ToolsightError."""

    def searches(self) -> Sequence[EvalCase]:
        """What an agent would search for among the demo's tools."""

    def others(self) -> Sequence[NamedCatalog]:
        """Other people's catalogs; empty if no folder was given. Raises ConfigError."""

    def poisons(self) -> Sequence[Poison]: ...

    @property
    def synthetic(self) -> int:
        """How many entries the synthetic marketplace has."""

    def plugins(self) -> Sequence[Plugin]:
        """The demo's marketplace."""

    def registries(self) -> AbstractContextManager[Mapping[str, ToolRegistry]]:
        """Empty registries of tools by back end; leaving removes them. Raises ToolsightError."""

    def played(self, steps: Steps) -> Sequence[PlayedScenario]:
        """Every shipped scenario, played. Raises ToolsightError and Stopped."""


def indexed(catalog: NamedCatalog, source: Source, steps: Steps, *, lined: bool = False) -> "ToolIndex":
    """The index of a catalog, with vectors if there is an embedder. Raises ModelError and Stopped.

    A `lined` index has those of the summary lines too, with which a gate compares.
    """
    from inspector.features.bench.run import prepare

    what = f"{catalog.name}: index of {len(catalog.tools)} tools"
    steps(what)
    evalset = EvalSet(catalog.name, catalog.tools, ())
    prepared = prepare(
        evalset,
        source.semantics(),
        progress=lambda done, total: steps.report(what, done, total),
        cancelled=steps.stopped,
        lined=lined,
    )
    if not prepared.is_complete:
        raise Stopped
    return prepared.index


def told(tokenizer: Tokenizer) -> str:
    """A tokenizer's name, and whether its counts are exact."""
    return f"{tokenizer.name}, {'exact' if tokenizer.exact else 'an estimate'}"
