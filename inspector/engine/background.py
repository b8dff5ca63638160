"""Work that goes on beside the session and is waited for at its end."""

import asyncio
from collections.abc import Coroutine
from typing import Any


class Background:
    """Tasks that nobody holds."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Begin, and return at once."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def settled(self) -> None:
        """Return when everything is done; raises what went wrong first."""
        await asyncio.gather(*self._tasks)
