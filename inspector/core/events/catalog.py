"""Events of the catalog and its search index."""

from dataclasses import dataclass
from typing import ClassVar

from inspector.core.events.base import Event, Group
from inspector.core.index_state import IndexPhase, IndexState
from inspector.core.number import count
from inspector.core.search_offer import SearchOffer

__all__ = ["CatalogBuilt", "CatalogEntry", "IndexChanged"]


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """A permitted tool in the catalog event; `tokens` counts its definition."""

    id: str
    tokens: int
    deferred: bool


@dataclass(frozen=True, slots=True)
class CatalogBuilt(Event):
    """The catalog after the toolset filter, and the manifest that advertises it.

    `pool` holds the summaries of all tools if the gate keeps them in the prompt. `rules` say how the manifest
    was shortened. With `advisory` the search finds tools that are already bound. `decision` says whether
    discovery is on, and by which numbers. `held` are permitted tools that are not in the catalog because
    their server is away, but whose binding, uses and times are kept until it is back. `instructions` are
    those of the servers, if the model gets them, and `offer` is what `search_tools` says of itself.
    Nobody knows the definitions, and so the tokens, of `uncounted` tools: a transcript may hold names alone.
    """

    kind: ClassVar[str] = "catalog"
    groups: ClassVar[frozenset[Group]] = frozenset({Group.SERVERS})
    toolset: str
    entries: tuple[CatalogEntry, ...]
    manifest: str
    meta_tokens: int
    static_tokens: int
    hidden: int = 0
    pool: str = ""
    pool_tokens: int = 0
    advisory: bool = False
    rules: tuple[str, ...] = ()
    decision: str = ""
    held: tuple[str, ...] = ()
    instructions: str = ""
    offer: SearchOffer = SearchOffer()
    uncounted: int = 0

    def summary(self) -> str:
        deferred = sum(entry.deferred for entry in self.entries)
        toolset = f"toolset {self.toolset}: " if self.toolset else ""
        tools, static = count(len(self.entries), "tool"), count(self.static_tokens, "token")
        held = f", {len(self.held):,} held" if self.held else ""
        unknown = f", excluding {self.uncounted:,} of unknown size" if self.uncounted else ""
        return f"{toolset}{tools}, {deferred:,} deferred, {static} if static{unknown}{held}"


@dataclass(frozen=True, slots=True)
class IndexChanged(Event):
    """The search index made progress or failed."""

    kind: ClassVar[str] = "index"
    groups: ClassVar[frozenset[Group]] = frozenset({Group.SERVERS})
    index: IndexState

    @property
    def is_routine(self) -> bool:
        """Progress is; an end is not."""
        return self.index.phase in (IndexPhase.DOWNLOADING, IndexPhase.LOADING, IndexPhase.EMBEDDING)

    def summary(self) -> str:
        index = self.index
        texts = f"{index.embedded:,} of {count(index.total, 'text')}"
        return f"{index.phase}  {texts}  {index.reason or index.model}"
