"""Carries a step to its end that must not be left half done."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

_T = TypeVar("_T")


async def uncancelled(work: Coroutine[Any, Any, _T]) -> _T:
    """The result of the work. Who is cancelled meanwhile waits for its end, and is cancelled then."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        if not task.cancelled():
            # What went wrong was told where it did; it must not be reported as never looked at.
            task.exception()
        raise cancelled
    return task.result()
