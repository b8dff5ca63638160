"""The registry behind a search: the third tier beyond the connected servers (section 4.3).

What it finds is told with the results, apart from them: it can be neither loaded nor called, as its server is
not connected.
"""

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from inspector.core.access import EVERYTHING, Sight
from inspector.core.error import ToolsightError
from inspector.core.ranking import Unconnected
from inspector.core.tool import Tool
from inspector.search.answer_text import unconnected_text

if TYPE_CHECKING:
    from inspector.search.answer_text import SearchAnswer
    from inspector.search.registry_port import ToolRegistry
    from inspector.search.semantics import Semantics


class RegistryTier:
    """Adds to an answer the tools of a registry that no server of the configuration has."""

    def __init__(
        self,
        opened: "Callable[[], ToolRegistry]",
        configured: Callable[[], Collection[str]],
        permits: Callable[[Tool], bool],
        sight: Callable[[], Sight] = lambda: EVERYTHING,
    ) -> None:
        """`configured` names the session's servers as they are: their tools are searched there or not at all.

        `permits` is the toolset: what it leaves out cannot be found here either.
        """
        self._opened = opened
        self._configured = configured
        self._permits = permits
        self._sight = sight

    def added(
        self, answer: "SearchAnswer", semantics: "Semantics", *, limit: int, floor: float
    ) -> "SearchAnswer":
        """The answer with at most `limit` such tools whose cosine reaches `floor`; a failure is a note."""
        from inspector.search.beyond import beyond

        report = answer.report
        # Of tools with the same name those of later tiers are left out (section 4.4).
        names, configured = {hit.tool_id.rpartition(":")[2] for hit in report.results}, self._configured()

        def wanted(tool: Tool) -> bool:
            return tool.server not in configured and tool.name not in names and self._permits(tool)

        try:
            vector = semantics.query(report.request.query).tolist()
            registry, sight = self._opened(), self._sight()
            near = beyond(registry, semantics.model, vector, wanted, limit=limit, floor=floor, sight=sight)
        except ToolsightError as error:
            note = f"the registry was not searched: {error.message}"
            return replace(answer, report=replace(report, note="; ".join(filter(None, (report.note, note)))))
        if not near:
            return answer
        found = tuple(
            Unconnected(one.found.tool.id, one.found.tool.description, one.found.origin, one.similarity)
            for one in near
        )
        told = unconnected_text([one.found.tool for one in near])
        text, missing = ("\n\n".join(filter(None, (part, told))) for part in (answer.text, answer.missing))
        return replace(answer, report=replace(report, unconnected=found), text=text, missing=missing)
