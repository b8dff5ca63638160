"""Finds what can answer in place of a tool that is not available."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from inspector.domain.approval import is_known_to_read
from inspector.domain.argument_mapping import argument_mapping, mapped
from inspector.domain.jsonvalue import JsonObject
from inspector.domain.tool import Tool
from inspector.engine.composition.breaking import Breakers
from inspector.engine.composition.similarity import similar_tools
from inspector.engine.live import Live
from inspector.engine.loop.binding.binder import Binder
from inspector.engine.reliability_ports import SchemaCheck
from inspector.engine.session import Session

if TYPE_CHECKING:
    from inspector.engine.discovery.index import ToolIndex

# How many similar tools a refusal names.
_NAMED = 3


@dataclass(frozen=True, slots=True)
class Substitute:
    """A tool that can be called in place of another: with these arguments, each from the one it maps from."""

    tool: Tool
    arguments: JsonObject
    mapping: Mapping[str, str]
    similarity: float


class Fallbacks:
    """The substitutes for a session's tools: similar, healthy, permitted, and only such as are known to read.

    Similarity alone proves nothing (lock and unlock are close), so neither the tool that failed nor the one
    in its place may change anything.
    """

    def __init__(
        self, session: Session, live: Live, *, binder: Binder, breakers: Breakers, schemas: SchemaCheck
    ) -> None:
        self._session = session
        self._live = live
        self._binder = binder
        self._breakers = breakers
        self._schemas = schemas
        self._index: ToolIndex | None = None

    @property
    def is_on(self) -> bool:
        return self._live.settings.fallback.enabled

    @property
    def most(self) -> int:
        """How many substitutes are tried for one call."""
        return self._live.settings.fallback.most

    def remember(self) -> None:
        """Keep the index as it is: a tool whose server goes away is in no later one."""
        if self.is_on:
            self._index = self._live.retrieval.index

    def named(self, tool: Tool) -> tuple[str, ...]:
        """The ids of the most similar healthy tools, for a model or person to choose from."""
        return tuple(other.id for other, _ in self._healthy(tool))[:_NAMED]

    def find(self, tool: Tool, arguments: JsonObject) -> Iterator[Substitute]:
        """The substitutes for a call, the most similar first; none unless they are switched on."""
        if not self.is_on or not is_known_to_read(tool, self._session.state):
            return
        for other, similarity in self._healthy(tool):
            if not is_known_to_read(other, self._session.state) or self._binder.unmet_of(other.id):
                continue
            mapping = argument_mapping(arguments, tool.input_schema, other.input_schema)
            if mapping is None:
                continue
            given = mapped(arguments, mapping)
            if not self._schemas.problem(other.input_schema, given):
                yield Substitute(other, given, mapping, similarity)

    def _healthy(self, tool: Tool) -> Iterator[tuple[Tool, float]]:
        """The similar tools of the catalog that may be called now."""
        index = self._index_with(tool)
        if index is None:
            return
        for tool_id, similarity in similar_tools(
            index, tool.id, least=self._live.settings.fallback.min_similarity
        ):
            other = self._binder.catalog.get(tool_id)
            if other is not None and self._breakers.is_healthy(other):
                yield other, similarity

    def _index_with(self, tool: Tool) -> "ToolIndex | None":
        """The index that has the tool: today's, or the one that is remembered."""
        now = self._live.retrieval.index
        return now if tool.id in now.position else self._index
