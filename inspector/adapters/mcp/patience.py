"""The time that a call may take, without the time in which a person is asked."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, contextmanager


class Patience:
    """The time limits of a server's running calls; while its server asks a person, none goes on."""

    def __init__(self) -> None:
        self._limits: dict[asyncio.Timeout, float] = {}
        self._questions = 0

    @asynccontextmanager
    async def limit(self, seconds: float) -> AsyncGenerator[asyncio.Timeout, None]:
        """Like `asyncio.timeout`, in the event loop of the server."""
        async with asyncio.timeout(None if self._questions else seconds) as limit:
            self._limits[limit] = seconds
            try:
                yield limit
            finally:
                del self._limits[limit]

    @contextmanager
    def paused(self) -> Iterator[None]:
        """A person is asked; the limits go on where they were after the last answer."""
        now = asyncio.get_running_loop().time
        if not self._questions:
            for limit in self._running:
                self._limits[limit] = max((limit.when() or now()) - now(), 0)
                limit.reschedule(None)
        self._questions += 1
        try:
            yield
        finally:
            self._questions -= 1
            if not self._questions:
                for limit in self._running:
                    limit.reschedule(now() + self._limits[limit])

    @property
    def _running(self) -> list[asyncio.Timeout]:
        """The limits that can be moved: one that has expired stays until its call has noticed."""
        return [limit for limit in self._limits if not limit.expired()]
