"""The tiers above the catalog (semantic tool retrieval, section 4): expert tools and system servers."""

from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from inspector.search.index import ToolIndex
from inspector.search.rankers.ranker import Mask

# Above any score within a tier: a keyword score is at most 190, and a standardized value over N tools at most
# sqrt(N - 1).
TIER_STEP = 1000.0
# The share of a query that words must cover to count as a match on their own.
COVERED = 0.5


@dataclass(frozen=True, slots=True)
class Tiers:
    """The tools above the catalog: ids of expert tools (`*` and `?` match) and names of system servers."""

    expert: tuple[str, ...] = ()
    system: tuple[str, ...] = ()

    def expert_mask(self, index: ToolIndex) -> Mask:
        return np.array([any(fnmatchcase(t.id, p) for p in self.expert) for t in index.tools], bool)

    def system_mask(self, index: ToolIndex) -> Mask:
        return np.array([tool.server in self.system for tool in index.tools], bool)
