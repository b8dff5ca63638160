"""Which patterns of a policy match a tool of the registry: those are no mistake, whatever is connected."""

from collections.abc import Callable, Collection, Sequence

from inspector.core.access import Grant, Scope, Sight, matches_any
from inspector.core.error import StoreError
from inspector.search.registry_port import ToolRegistry

_ANYBODY = "anybody"


class StoredGrants:
    """Asks the registry about each pattern until a tool matches it."""

    def __init__(self, opened: Callable[[], ToolRegistry]) -> None:
        self._opened = opened
        self._matched: set[str] = set()

    def unmatched(self, patterns: Sequence[str], tools: Collection[str]) -> tuple[str, ...]:
        """The patterns without those that match only tools of the registry, and none of these.

        While the registry cannot be read, nothing is known of any: then none of them is left.
        """
        try:
            return tuple(
                one
                for one in patterns
                if any(matches_any(tool, (one,)) for tool in tools) or not self._matches(one)
            )
        except StoreError:
            return ()

    def _matches(self, pattern: str) -> bool:
        if pattern not in self._matched:
            sight = Sight(_ANYBODY, grants=(Grant(Scope.USER, _ANYBODY, "", (pattern,)),))
            if next(iter(self._opened().tools(sight, limit=1)), None) is None:
                return False
            self._matched.add(pattern)
        return True
