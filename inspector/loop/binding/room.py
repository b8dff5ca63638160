"""How the searches of one reply share the room for loaded tools.

Room is given by rank: to the best match of each search, then to the second best of each, and so on. A listing
of a server's tools comes last and never unloads a tool that was used: nobody asked for its tools one by one.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from inspector.core.events import ToolEvicted, ToolLoaded, ToolRefreshed
from inspector.core.session import ToolState
from inspector.loop.binding.eviction import Eviction, Limits, evictions

Load = ToolLoaded | ToolRefreshed


@dataclass(frozen=True, slots=True)
class Found:
    """What one search found, best first, and its request in words."""

    tools: tuple[str, ...]
    reason: str
    is_listing: bool = False


@dataclass(frozen=True, slots=True)
class Placement:
    """What the searches of one reply bind and unbind.

    `staying` holds the tools that are bound in the next model call, `loads` what each search binds, in order,
    `evictions` what has to make room.
    """

    staying: frozenset[str]
    loads: tuple[tuple[Load, ...], ...]
    evictions: tuple[ToolEvicted, ...] = ()


def by_rank(rankings: Sequence[Sequence[str]]) -> list[str]:
    """Every tool once: rank 1 of each ranking, then rank 2 of each, and so on."""
    rounds = zip_longest(*rankings)
    return list(dict.fromkeys(tool_id for tool_id in chain.from_iterable(rounds) if tool_id is not None))


class Room:
    """The loaded tools, in load order, and how many of them may stay.

    `calling` are the tools that the reply itself calls: they count as used by it. `kept` are the found tools
    that have room.
    """

    def __init__(
        self, loaded: Sequence[ToolState], limits: Limits, now: float, calling: Collection[str]
    ) -> None:
        self._loaded = list(loaded)
        self._limits = limits
        self._now = now
        self._calling = frozenset(calling)
        self.kept: list[str] = []
        self.evictions: list[Eviction] = []

    def keep(self, found: Sequence[ToolState]) -> None:
        """Load the best of these tools, and evict others for them."""
        fitting = self._fitting(found, self._limits, ())
        self._load(fitting, self._calling)

    def fill(self, found: Sequence[ToolState]) -> None:
        """As `keep`, but evict no tool that was used, nor one that was kept before."""
        firm = [tool for tool in self._loaded if tool.uses or tool.id in self._calling.union(self.kept)]
        fitting = self._fitting(found, self._limits, firm)
        self._load(fitting, self._calling.union(tool.id for tool in firm))

    @property
    def staying(self) -> frozenset[str]:
        """The tools that are loaded in the end: those kept, and others that did not have to go."""
        return frozenset(tool.id for tool in self._loaded)

    def _fitting(
        self, found: Sequence[ToolState], limits: Limits, beside: Sequence[ToolState]
    ) -> list[ToolState]:
        """The first of the tools that have room beside others that stay."""
        taken = {tool.id: tool for tool in beside}
        fitting: list[ToolState] = []
        for tool in found:
            taken[tool.id] = tool
            if limits.are_exceeded(list(taken.values())):
                break
            fitting.append(tool)
        return fitting

    def _load(self, fitting: Sequence[ToolState], busy: Collection[str]) -> None:
        held = {tool.id for tool in self._loaded}
        self._loaded += [tool for tool in fitting if tool.id not in held]
        self.kept = list(dict.fromkeys([*self.kept, *(tool.id for tool in fitting)]))
        gone = evictions(self._loaded, self._limits, self._now, self.kept, busy)
        self.evictions += gone
        self._loaded = [tool for tool in self._loaded if tool.id not in {one.tool_id for one in gone}]
