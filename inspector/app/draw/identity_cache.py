"""A cache by identity: what was made of an object is made again only for another object."""

from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class IdentityCache(Generic[K, V]):
    """Calls `make` once an object, for immutable objects that are dear to compare or have no hash.

    The newest results are kept, at most `most`, which is 2 or more, and at least half as many.
    """

    def __init__(self, make: Callable[[K], V], most: int) -> None:
        self._make = make
        self._half = max(most // 2, 1)
        # Objects are kept with their results, so that no other object can take over an identity.
        self._new: dict[int, tuple[K, V]] = {}
        self._old: dict[int, tuple[K, V]] = {}

    def __call__(self, item: K) -> V:
        """What was made of the object."""
        found = self._new.get(id(item))
        if found is None:
            found = self._old.get(id(item)) or (item, self._make(item))
            if len(self._new) >= self._half:
                self._old, self._new = self._new, {}
            self._new[id(item)] = found
        return found[1]
