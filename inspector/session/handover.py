"""The moment in which a session makes way for another one, while nothing of it runs."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from inspector.core.error import ToolsightError


class Handover:
    """What takes its time runs before or after another session begins, and never across it.

    Everything of a session works on one configuration and one sight: what began under one must not go on
    under another.
    """

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._running: Counter[str] = Counter()
        self._is_under_way = False

    @contextmanager
    def running(self, what: str) -> Iterator[None]:
        """Something runs for the session; `what` says it in words, for who has to wait for its end.

        Raises ToolsightError while another session begins: what was meant for one is not done in another.
        """
        if self._is_under_way:
            raise ToolsightError("another session is starting", hint="Try again once it has started.")
        self._running[what] += 1
        try:
            yield
        finally:
            self._running[what] -= 1

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Change what sessions run on; nothing else changes it meanwhile, and no session begins."""
        async with self._lock:
            yield

    @asynccontextmanager
    async def under_way(self) -> AsyncIterator[None]:
        """Begin another session. Raises ToolsightError if something runs for this one."""
        async with self._lock:
            for what in +self._running:
                raise ToolsightError(what, hint="Wait until it ends, or stop it with esc.")
            self._is_under_way = True
            try:
                yield
            finally:
                self._is_under_way = False

    async def over(self) -> None:
        """Wait until no other session begins, and nothing is changed that sessions run on."""
        async with self._lock:
            pass
