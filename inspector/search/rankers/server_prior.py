"""How well a tool's server fits a request, judged by the server's best tools."""

from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from inspector.search.index import ToolIndex
from inspector.search.rankers.ranker import Scores

_BEST = 3


class ServerPrior:
    """The servers of one index as groups of tools; what each group has in common is computed per query.

    `server_of` is the position of each tool's server in the index's `servers`.
    """

    def __init__(self, index: ToolIndex) -> None:
        number = {server: i for i, server in enumerate(index.servers)}
        count = len(index.tools)
        servers = map(attrgetter("server"), index.tools)
        self.server_of: NDArray[np.intp] = np.fromiter(map(number.__getitem__, servers), np.intp, count)
        # The tools of a server lie next to each other in this order, the servers in that of the index.
        self._order = np.argsort(self.server_of, kind="stable")
        self._sizes = np.bincount(self.server_of, minlength=len(number))
        self._starts = np.cumsum(self._sizes) - self._sizes

    @property
    def is_informative(self) -> bool:
        """Whether there is more than one server, so that servers can distinguish tools."""
        return len(self._sizes) > 1

    def best_three(self, values: Scores) -> Scores:
        """For each tool the mean of the three best values of its server, or of all if it has fewer tools.

        The values have to be finite. Only values count, not their order: equal ones are interchangeable.
        """
        if not len(values):
            return np.zeros(0)
        left = values[self._order]
        total = np.zeros(len(self._sizes))
        for taken in range(_BEST):
            best = np.maximum.reduceat(left, self._starts)
            total += np.where(self._sizes > taken, best, 0.0)
            left[self._first(left == np.repeat(best, self._sizes))] = -np.inf
        mean: Scores = total / np.minimum(self._sizes, _BEST)
        return mean[self.server_of]

    def _first(self, is_best: NDArray[np.bool_]) -> NDArray[np.intp]:
        """The first marked place of each server; every server has one."""
        marked = np.flatnonzero(is_best)
        first: NDArray[np.intp] = marked[np.searchsorted(marked, self._starts)]
        return first
