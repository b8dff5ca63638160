"""The ranks of tools in a ranking."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inspector.core.error import ToolsightError
from inspector.search.index import ToolIndex
from inspector.search.rankers.ranker import Mask, Ranking


@dataclass(frozen=True, slots=True)
class Standing:
    """A tool's rank from 1 among all tools, its score, and whether it can be returned."""

    rank: int
    value: float
    kept: bool


class Standings:
    """The rank of every tool in an index, by position, and the tools from best to worst."""

    def __init__(self, ranking: Ranking, returned: Mask | None = None) -> None:
        """`returned` marks the tools that a search can return; by default those that the ranker keeps."""
        self.ranking = ranking
        self._returned = ranking.kept if returned is None else returned
        self.order: NDArray[np.intp] = np.array(ranking.order(), np.intp)
        self._ranks = np.zeros(len(self.order), np.intp)
        self._ranks[self.order] = np.arange(1, len(self.order) + 1)

    def __getitem__(self, position: int) -> Standing:
        value, kept = self.ranking.values[position], self._returned[position]
        return Standing(int(self._ranks[position]), float(value), bool(kept))

    def kept(self, count: int | None = None) -> list[int]:
        """The positions of the first `count` tools that can be returned, best first."""
        positions = self.order[self._returned[self.order]]
        return [int(position) for position in positions[: None if count is None else max(count, 0)]]


def position_of(index: ToolIndex, tool_id: str) -> int:
    """A tool's position in the index. Raises ToolsightError for an unknown id."""
    position = index.position.get(tool_id)
    if position is None:
        raise ToolsightError(
            f"there is no tool '{tool_id}' in the search index",
            hint="The index contains only tools that a search can find.",
        )
    return position
