"""The registry as pages and commands have it: what it tells whom, and what fills it."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field

from inspector.access.restriction import require_whole
from inspector.core.access import EVERYTHING, Sight
from inspector.core.error import ConfigError, StoreError
from inspector.core.server import ServerPhase, is_registered
from inspector.features.registry.acceptance import (
    Neighbour,
    RegisteredTool,
    SyncReport,
    embedded_text,
    name_problem,
)
from inspector.features.registry.facts import Health, HealthOf
from inspector.features.registry.tool_registry import ToolRegistry
from inspector.search.index.embedded_text import MAX_EMBEDDED, key_of
from inspector.session.view import SessionView

if TYPE_CHECKING:
    from inspector.search.index.semantics import Embedder

FILL = "fill the registry"
"""What only the administrator does."""


class Overview(Struct, frozen=True):
    """How many tools there are of each origin, and how many of all are `embedded` by the `model`.

    `model` is "" where nothing embeds.
    """

    origins: dict[str, int] = field(default_factory=dict)
    model: str = ""
    embedded: int = 0

    @property
    def tools(self) -> int:
        return sum(self.origins.values())


class Rows(Struct, frozen=True):
    """Some tools of a list, and how long the whole list is."""

    tools: tuple[RegisteredTool, ...]
    total: int


class RegistryLibrary(Struct, eq=False):
    """Reads the registry for somebody; the administrator fills it. Each method raises ToolsightError.

    `opened` gives the same registry each time; `sight` says what may be seen now.
    """

    opened: Callable[[], ToolRegistry]
    embedder: "Callable[[], Embedder | None]" = lambda: None
    sight: Callable[[], Sight] = lambda: EVERYTHING
    health_of: HealthOf = lambda _sight: None

    def has_tools(self) -> bool:
        """Whether there is any tool to see."""
        return self.opened().count(self.sight()) > 0

    def overview(self) -> Overview:
        """What there is."""
        registry, sight, embedder = self.opened(), self.sight(), self.embedder()
        origins = dict(registry.origins(sight))
        if embedder is None:
            return Overview(origins)
        return Overview(origins, embedder.name, registry.embedded(embedder.name, sight))

    def rows(self, part: str, limit: int) -> Rows:
        """The first tools whose id contains `part`."""
        registry, sight = self.opened(), self.sight()
        tools = tuple(registry.tools(sight, part=part, limit=limit))
        return Rows(tools, registry.count(sight, part=part))

    def health(self) -> Health | None:
        """What is known of the tools' health; None for who may not see everything."""
        return self.health_of(self.sight())

    def versions(self, tool_id: str) -> tuple[RegisteredTool, ...]:
        """Every version of a tool, the newest first."""
        return self.opened().versions(tool_id, self.sight())

    def search(self, query: str, limit: int) -> tuple[Neighbour, ...]:
        """The `limit` tools nearest to the query."""
        embedder = self.required_embedder()
        embedder.prepare(lambda _done, _total: None, lambda: False)
        vector = embedder.embed([query[:MAX_EMBEDDED]])[0]
        return nearest_in(self.opened(), embedder.name, vector, limit, self.sight())

    def embed(self, progress: "Progress", stopped: Callable[[], bool]) -> int:
        """Embed what has no vector yet; what is done stays. Return how many texts that were."""
        require_whole(self.sight(), FILL)
        embedder = self.required_embedder()
        forget_other_dimensions(self.opened(), embedder)
        return embed_missing(self.opened(), embedder, progress, stopped)

    def required_embedder(self) -> "Embedder":
        """What embeds queries."""
        embedder = self.embedder()
        if embedder is None:
            hint = "Choose one: --set discovery.embedding_model=packaged."
            raise ConfigError("discovery.embedding_model is set to none", hint=hint)
        return embedder


def nearest_in(
    registry: ToolRegistry,
    model: str,
    vector: Sequence[float],
    limit: int,
    sight: Sight = EVERYTHING,
    *,
    floor: float = -1.0,
) -> tuple[Neighbour, ...]:
    """See `ToolRegistry.nearest`. Raises StoreError, also if no vector has as many dimensions."""
    near = registry.nearest(model, vector, limit, sight, floor=floor)
    if near or not registry.embedded(model, sight):
        return near
    # Rounding may take the cosine of opposite vectors below -1.
    if not registry.nearest(model, vector, 1, sight, floor=-2.0):
        raise StoreError(
            f"the query has {len(vector)} dimensions, but none of the registry's {model} vectors do",
            hint="Run `toolsight registry --embed` to embed its tools again. Until then, searches miss them.",
        )
    return near


Progress = Callable[[str, int, int], None]
"""Receives what is done, how much of it, and how much there is."""
_BATCH, _READ = 32, 2000


def embed_missing(
    registry: ToolRegistry, embedder: "Embedder", progress: Progress, cancelled: Callable[[], bool]
) -> int:
    """Embed every text without a vector of the embedder's model; return how many were embedded.

    Tools with equal texts are told as one. Raises ModelError or StoreError.
    """
    model, done = embedder.name, 0
    # A registry that lacks nothing is asked, too: it may have an index to build, which an earlier run left.
    texts = [] if cancelled() else list(registry.unembedded(model, _READ).items())
    if not texts:
        return 0
    total = registry.count() - registry.embedded(model)
    embedder.prepare(lambda had, size: progress("loading the model", had, size), cancelled)
    while texts:
        for start in range(0, len(texts), _BATCH):
            if cancelled():
                return done
            batch = dict(texts[start : start + _BATCH])
            vectors = _as_stored(embedder.embed(list(batch.values())))
            registry.keep_vectors(model, dict(zip(batch, vectors, strict=True)))
            done += len(batch)
            progress("embedding", done, max(total, done))
        texts = [] if cancelled() else list(registry.unembedded(model, _READ).items())
    return done


def forget_other_dimensions(registry: ToolRegistry, embedder: "Embedder") -> None:
    """Forget vectors that an embedder of the same name made with another number of dimensions.

    One vector of now, of any tool, is enough to know: see `ToolRegistry.keep_vectors`.
    """
    one = next(iter(registry.tools(limit=1)), None)
    if one is not None and registry.embedded(embedder.name):
        text = embedded_text(one.tool)
        registry.keep_vectors(embedder.name, {key_of(text): _as_stored(embedder.embed([text]))[0]})


def _as_stored(vectors: Sequence[Sequence[float]]) -> list[bytes]:
    import numpy as np

    return [row.tobytes() for row in np.asarray(vectors, "<f4")]


class Synchronised(Struct, frozen=True):
    """What came of one server: the report, or `why` there is none."""

    server: str
    report: SyncReport | None = None
    why: str = ""


def synchronise(registry: ToolRegistry, session: SessionView, *, at: float) -> tuple[Synchronised, ...]:
    """Keep the tools of all servers; each is an origin of its own name.

    Of a server of which the session may not use every tool, nothing counts as gone. Raises StoreError, and
    ToolsightError unless the session sees everything.
    """
    require_whole(session.sight, FILL)
    return tuple(
        Synchronised(spec.name, why="its tools come from the registry itself")
        if is_registered(spec)
        else _one(registry, session, spec.name, at)
        for spec in session.configuration.servers
    )


def _one(registry: ToolRegistry, session: SessionView, name: str, at: float) -> Synchronised:
    state = session.state.servers.get(name)
    if state is None or state.phase is not ServerPhase.READY:
        return Synchronised(name, why=(state.reason if state else "") or "it is not connected")
    tools = tuple(tool for tool in session.catalog.tools if tool.server == name)
    if problem := next(filter(None, (name_problem(tool, name) for tool in tools)), ""):
        return Synchronised(name, why=problem)
    report = registry.sync(name, tools, at=at, whole=len(tools) == state.tools)
    return Synchronised(name, report)
