"""Finds what can answer in place of a tool that is not available."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from msgspec import Struct

from inspector.core.stream import Session
from inspector.core.tool import Tool
from inspector.loop.approval import is_known_to_read
from inspector.loop.binder import Binder
from inspector.loop.session_breakers import Breakers
from inspector.schema.json_value import JsonObject
from inspector.schema.narrowing import argument_mapping, mapped
from inspector.schema.schema import schema_problem
from inspector.search.answer.retrieval import Live

if TYPE_CHECKING:
    from inspector.search.index.tool_index import ToolIndex

# Which tools are most like another one, by the vectors of the search index, or by words without any.


def similar_tools(index: "ToolIndex", tool_id: str, *, least: float) -> Sequence[tuple[str, float]]:
    """The other tools with their similarity to this one (0 to 1), closest first, down to `least`.

    It is the cosine of their summaries, or the weighted Jaccard index of their words where one has no vector.
    """
    from inspector.search.answer.confusable import Closeness

    position = index.position.get(tool_id)
    if position is None:
        return ()
    closeness = Closeness(index)
    cosines = closeness.cosines(slice(position, position + 1), slice(None))[0]
    found: list[tuple[str, float]] = []
    for other, cosine in enumerate(cosines.tolist()):
        if other == position:
            continue
        # NaN equals nothing, not even itself.
        similarity = min(max(cosine, 0.0), 1.0) if cosine == cosine else closeness.jaccard(position, other)
        if similarity >= least:
            found.append((index.tools[other].id, similarity))
    return sorted(found, key=lambda pair: -pair[1])


# How many substitutes are tried for one call, as in the layered stack.
MOST_TRIED = 2
# How many similar tools a refusal names.
_NAMED = 3
# How many healthy tools are looked at for a call, the most similar first.
_CONSIDERED = 20


class Substitution(Struct, frozen=True):
    """A tool that can be called in place of another: with these arguments, each from the one it maps from."""

    tool: Tool
    arguments: JsonObject
    mapping: Mapping[str, str]
    similarity: float


@dataclass(eq=False)
class Fallbacks:
    """The substitutes for a session's tools: similar, callable, permitted, and known to only read.

    Similarity alone proves nothing (lock and unlock are close), so neither the tool that failed nor the one
    in its place may change anything.
    """

    session: Session
    live: Live
    binder: Binder
    breakers: Breakers
    _index: "ToolIndex | None" = field(default=None, init=False)

    @property
    def is_on(self) -> bool:
        return self.live.settings.fallback.enabled

    def remember(self, tool: Tool) -> None:
        """Keep the index that has the tool: once its server goes away it is in no later one."""
        if self.is_on and tool.id in (index := self.live.retrieval.index).position:
            self._index = index

    async def named(self, tool: Tool) -> tuple[str, ...]:
        """The ids of the most similar tools that can be called now, for a model or person to choose from."""
        return tuple(other.id for other, _ in islice(self._callable(await self._similar(tool)), _NAMED))

    async def find(self, tool: Tool, arguments: JsonObject) -> Sequence[Substitution]:
        """The substitutes for a call, the most similar first; none unless they are switched on."""
        if not self.is_on or not is_known_to_read(tool, self.session.state):
            return ()
        # Nearly all that are similar may be of one server, or take other arguments: only so many are tried.
        nearest = islice(self._callable(await self._similar(tool)), _CONSIDERED)
        fitting = [await self._fitted(tool, arguments, *each) for each in nearest]
        return tuple(one for one in fitting if one is not None)

    async def _fitted(
        self, tool: Tool, arguments: JsonObject, other: Tool, similarity: float
    ) -> Substitution | None:
        """The substitute, if it may be one and takes the arguments; its schema is checked in a thread."""
        if not is_known_to_read(other, self.session.state) or self.binder.unmet_of(other.id):
            return None
        mapping = argument_mapping(arguments, tool.input_schema, other.input_schema)
        if mapping is None:
            return None
        given = mapped(arguments, mapping)
        if await asyncio.to_thread(schema_problem, other.input_schema, given):
            return None
        return Substitution(other, given, mapping, similarity)

    async def _similar(self, tool: Tool) -> Sequence[tuple[str, float]]:
        """Asked in a thread: among 10,000 tools without vectors it takes most of a second."""
        index = self._index_with(tool)
        if index is None:
            return ()
        least = self.live.settings.fallback.min_similarity
        return await asyncio.to_thread(similar_tools, index, tool.id, least=least)

    def _callable(self, similar: Sequence[tuple[str, float]]) -> Iterator[tuple[Tool, float]]:
        """Those that are in the catalog and may be called now."""
        for tool_id, similarity in similar:
            other = self.binder.catalog.get(tool_id)
            if other is not None and self.breakers.is_callable(other):
                yield other, similarity

    def _index_with(self, tool: Tool) -> "ToolIndex | None":
        """The index that has the tool: today's, or the one that is remembered."""
        now = self.live.retrieval.index
        return now if tool.id in now.position else self._index
