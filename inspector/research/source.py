"""What the sections are measured on, and how one says how far it is."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from inspector.domain.budget import Tokenizer
from inspector.domain.evaluation import EvalCase, EvalSet
from inspector.domain.session import SessionState
from inspector.domain.tool import Tool
from inspector.engine.ports import Clock, Embedder, TokenCounter, VectorStore

if TYPE_CHECKING:
    from inspector.engine.discovery.index import ToolIndex
    from inspector.engine.discovery.semantics import Semantics


class Stopped(Exception):
    """The work was asked to stop, and has."""


@dataclass(frozen=True, slots=True)
class Steps:
    """Tells how far a section is, and stops it between two steps.

    `report(what, done, total)` may be called from any thread; `stopped` says whether to go on.
    """

    report: Callable[[str, int, int], None] = lambda _what, _done, _total: None
    stopped: Callable[[], bool] = lambda: False

    def __call__(self, what: str, done: int = 0, total: int = 0) -> None:
        """A step begins. Raises Stopped where it is not to."""
        if self.stopped():
            raise Stopped
        self.report(what, done, total)


@dataclass(frozen=True, slots=True)
class NamedCatalog:
    """Tools of somebody's, with what their servers say of themselves and requests that may be asked of them.

    `name` tells whose they are, for people.
    """

    name: str
    tools: tuple[Tool, ...]
    summaries: Mapping[str, str] = field(default_factory=dict)
    cases: tuple[EvalCase, ...] = ()


@dataclass(frozen=True, slots=True)
class PlayedScenario:
    """A scenario that was played on the demo servers, and the session it ended in."""

    name: str
    state: SessionState


@dataclass(frozen=True, slots=True)
class Poison:
    """A poisoned description: `text` stands after the description of the tool with the id `tool`.

    `kind` is the way of the attack. The payloads are fictitious and lead nowhere.
    """

    id: str
    kind: str
    tool: str
    text: str


class Source(Protocol):
    """Where catalogs, sessions, vectors and token counts come from. What was made once is made no more."""

    @property
    def clock(self) -> Clock: ...

    @property
    def counter(self) -> TokenCounter:
        """The tokenizer that our own numbers are counted with."""

    @property
    def embedder(self) -> Embedder | None:
        """None goes by words alone."""

    @property
    def vectors(self) -> VectorStore:
        """Vectors of earlier runs."""

    @property
    def versions(self) -> Sequence[str]:
        """What numbers depend on besides our own code, each with its version, in words."""

    def counter_like(self, encoding: str) -> TokenCounter:
        """The tokenizer that a publication counted with, e.g. `cl100k_base`."""

    def semantics(self) -> "Semantics | None":
        """A source of vectors that remembers no query yet."""

    def demo(self) -> NamedCatalog:
        """The demo servers' tools with the requests people make of them. Raises ToolsightError."""

    def searches(self) -> Sequence[EvalCase]:
        """What an agent would type into a search of the demo's tools."""

    def others(self) -> Sequence[NamedCatalog]:
        """Catalogs of other people; none where no folder was given. Raises ConfigError."""

    def poisons(self) -> Sequence[Poison]: ...

    def played(self, steps: Steps) -> Sequence[PlayedScenario]:
        """Every shipped scenario, played. Raises ToolsightError and Stopped."""


def indexed(catalog: NamedCatalog, source: Source, steps: Steps) -> "ToolIndex":
    """The index over a catalog, with its vectors where there is an embedder. Raises ModelError, Stopped."""
    from inspector.engine.measure.prepare import prepare

    what = f"{catalog.name}: index of {len(catalog.tools)} tools"
    steps(what)
    evalset = EvalSet(catalog.name, catalog.tools, ())
    prepared = prepare(
        evalset,
        source.semantics(),
        clock=source.clock,
        progress=lambda done, total: steps.report(what, done, total),
        cancelled=steps.stopped,
    )
    if not prepared.is_complete:
        raise Stopped
    return prepared.index


def told(tokenizer: Tokenizer) -> str:
    """A tokenizer by name, with whether its counts are exact."""
    return f"{tokenizer.name}, {'exact' if tokenizer.exact else 'an estimate'}"
