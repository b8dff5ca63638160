"""Labelled requests: which tools a search should find, and when it should find none."""

from collections.abc import Sequence
from dataclasses import dataclass

from inspector.core.tool import Tool

EXACT, PARAPHRASE, IMPOSSIBLE, LOGGED = "exact", "paraphrase", "impossible", "logged"


@dataclass(frozen=True, slots=True)
class EvalCase:
    """A labelled request: a query and the ids of the tools it needs.

    `relevant` has a group for each tool needed; a group is found when any of its members is. No groups mean
    that no tool fits, so any result is a mistake.
    """

    id: str
    query: str
    relevant: tuple[frozenset[str], ...] = ()
    kind: str = ""

    @property
    def is_possible(self) -> bool:
        return bool(self.relevant)


@dataclass(frozen=True, slots=True)
class EvalSet:
    """Tools and the labelled requests for them."""

    name: str
    tools: tuple[Tool, ...]
    cases: tuple[EvalCase, ...]

    def with_distractors(self, name: str, tools: Sequence[Tool]) -> "EvalSet":
        """The same requests over more tools; tools whose id is taken are left out."""
        taken = {tool.id for tool in self.tools}
        return EvalSet(name, (*self.tools, *(tool for tool in tools if tool.id not in taken)), self.cases)

    def unknown(self) -> tuple[str, ...]:
        """Relevant ids that no tool in the set has."""
        known = {tool.id for tool in self.tools}
        wanted = (tool_id for case in self.cases for group in case.relevant for tool_id in sorted(group))
        return tuple(dict.fromkeys(tool_id for tool_id in wanted if tool_id not in known))
