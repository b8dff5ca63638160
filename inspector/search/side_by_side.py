"""Runs short pieces of work at once, on several processors, as far as they leave the interpreter free."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

# More gain little: what is computed waits for memory.
_MOST = 4


def processors() -> int:
    """How many pieces of work run at once."""
    return min(_MOST, os.cpu_count() or 1)


def side_by_side(work: Callable[[_Item], _Result], items: Sequence[_Item]) -> list[_Result]:
    """The result for each item, in order; the first error is raised. `work` must not come here itself."""
    if len(items) < 2:
        return [work(item) for item in items]
    return list(_threads().map(work, items))


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(processors(), "search")
