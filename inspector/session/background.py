"""Work that runs in the background of a session and is awaited at its end."""

import asyncio
from collections.abc import Coroutine
from typing import Any


class Background:
    """Runs tasks and keeps a reference to each until it is done."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Start the work and return at once."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def settled(self) -> None:
        """Wait for all tasks; raises the first error."""
        await asyncio.gather(*self._tasks)
