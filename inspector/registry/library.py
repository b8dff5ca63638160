"""The registry as the app has it: each method may take long, and is for a thread."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from inspector.access.control import require_whole
from inspector.core.access import EVERYTHING, Sight
from inspector.core.error import ConfigError
from inspector.core.federation import Federated
from inspector.core.registered_tool import Neighbour, RegisteredTool
from inspector.search.ports import Embedder
from inspector.search.registry_port import ToolRegistry

if TYPE_CHECKING:
    from inspector.registry.federation import Federation

FILL = "fill the registry"
"""What only the administrator does."""


@dataclass(frozen=True, slots=True)
class Overview:
    """How many tools there are of each origin, and how many of all are `embedded` by the `model`.

    `model` is "" where nothing embeds.
    """

    origins: dict[str, int] = field(default_factory=dict)
    model: str = ""
    embedded: int = 0

    @property
    def tools(self) -> int:
        return sum(self.origins.values())


@dataclass(frozen=True, slots=True)
class Rows:
    """Some tools of a list, and how long the whole list is."""

    tools: tuple[RegisteredTool, ...]
    total: int


class RegistryLibrary:
    """Reads the registry for somebody; the administrator fills it. Each method raises ToolsightError."""

    def __init__(
        self,
        opened: Callable[[], ToolRegistry],
        embedder: Callable[[], Embedder | None] = lambda: None,
        sight: Callable[[], Sight] = lambda: EVERYTHING,
        federation: "Callable[[], Federation | None]" = lambda: None,
    ) -> None:
        """`opened` gives the same registry each time; `sight` says what may be seen now.

        `federation` are the peers that somebody who sees everything may search, too.
        """
        self.opened = opened
        self._embedder = embedder
        self._sight = sight
        self._federation = federation

    def has_tools(self) -> bool:
        """Whether there is any tool to see."""
        return self.opened().count(self._sight()) > 0

    def overview(self) -> Overview:
        """What there is."""
        registry, sight, embedder = self.opened(), self._sight(), self._embedder()
        origins = dict(registry.origins(sight))
        if embedder is None:
            return Overview(origins)
        return Overview(origins, embedder.name, registry.embedded(embedder.name, sight))

    def rows(self, part: str, after: str, limit: int) -> Rows:
        """The next tools whose id contains `part`, from behind `after`."""
        registry, sight = self.opened(), self._sight()
        tools = tuple(registry.tools(sight, part=part, after=after, limit=limit))
        return Rows(tools, registry.count(sight, part=part))

    def versions(self, tool_id: str) -> tuple[RegisteredTool, ...]:
        """Every version of a tool, the newest first."""
        return self.opened().versions(tool_id, self._sight())

    def search(self, query: str, limit: int) -> tuple[Neighbour, ...]:
        """The tools nearest to the query."""
        from inspector.search.beyond import search_registry

        embedder = self._required()
        embedder.prepare(lambda _done, _total: None, lambda: False)
        return search_registry(self.opened(), embedder, query, limit=limit, sight=self._sight())

    def federated(self, query: str, limit: int) -> Federated:
        """The tools nearest to the query here and in the registries of peers."""
        from inspector.search.beyond import nearest_in

        federation = self._federation()
        if federation is None or not federation.members:
            hint = "List them in a file, and set federation.peers to that file."
            raise ConfigError("this session has no peers to search", hint=hint)
        registry, sight, embedder = self.opened(), self._sight(), self._required()
        embedder.prepare(lambda _done, _total: None, lambda: False)
        return federation.search(
            lambda model, vector: nearest_in(registry, model, vector, limit, sight),
            embedder,
            query,
            limit=limit,
        )

    def embed(self, report: Callable[[int, int], None], stopped: Callable[[], bool]) -> int:
        """Embed what has no vector yet; what is done stays. Return how many texts that were."""
        from inspector.registry.embedding import embed_missing

        require_whole(self._sight(), FILL)
        return embed_missing(
            self.opened(), self._required(), lambda _what, done, total: report(done, total), stopped
        )

    def _required(self) -> Embedder:
        embedder = self._embedder()
        if embedder is None:
            hint = "Set discovery.embedding_model, for example to packaged."
            raise ConfigError("this session has no embedding model", hint=hint)
        return embedder
