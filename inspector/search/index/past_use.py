"""Past use: how often a persona's calls of each tool succeeded in the sessions recorded on this machine.

It is read in the background, once for a persona, and goes nowhere else. What it adds to a score is in
`inspector.search.ranker.catalog_rankers`.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from itertools import takewhile

from msgspec import Struct, field

from inspector.core.error import ToolsightError
from inspector.core.inertia import Aging, InertiaGraph, seen
from inspector.core.ports import OWN_PERSONA, Clock, PastCall

# Of uses that are older than that, nothing worth a line is left.
_LEAST_USE = 0.01


class Whose(Struct, frozen=True):
    """Whose past use counts, and after how many days a call counts half, 0 for no end."""

    persona: str = OWN_PERSONA
    half_life_days: float = 0.0


class Use(Struct, frozen=True):
    """How many calls of a tool succeeded, and how much they count by their age; never more than that."""

    count: int
    weight: float


class PastUse(Struct, frozen=True):
    """What a persona used, by tool id. `problem` says why nothing is known, "" if there is no problem."""

    persona: str = OWN_PERSONA
    uses: Mapping[str, Use] = field(default_factory=dict)
    problem: str = ""


NOTHING_USED = PastUse()


def used(calls: Iterable[PastCall], whose: Whose, now: float) -> PastUse:
    """What the persona used up to `now`, in seconds since 1970; the calls' order does not matter."""
    graph = InertiaGraph()
    for call in calls:
        if call.persona == whose.persona:
            graph.used(call.tool, seen(call.at))
    aging = Aging(now, whose.half_life_days)
    uses = {tool: Use(tally.count, tally.weight(aging)) for tool, tally in graph.calls.items()}
    return PastUse(whose.persona, {tool: use for tool, use in uses.items() if use.weight >= _LEAST_USE})


class UseReader(Struct, eq=False):
    """Keeps the past use of the session's persona read. Whatever fails, searches go on without it.

    `_read` is called in a thread, once for each persona; `_refresh` when `past` is another.
    """

    _read: Callable[[], Iterable[PastCall]]
    _whose: Callable[[], Whose]
    _refresh: Callable[[], None]
    _clock: Clock
    past: PastUse = NOTHING_USED
    _wanted: Whose | None = None
    _is_closed: bool = False
    _task: asyncio.Task[None] | None = None

    def follow(self) -> None:
        """Read what the session's persona used, unless it is read."""
        wanted = self._whose()
        if not self._is_closed and wanted != self._wanted:
            self._wanted = wanted
            self._task = asyncio.create_task(self._run(wanted, self._task))

    async def settled(self) -> None:
        """Wait until there is nothing more to read, or reading failed."""
        while self._task is not None and not self._task.done():
            await asyncio.wait([self._task])

    def close(self) -> None:
        """Read nothing more; what is read stays."""
        self._is_closed = True
        if self._task is not None:
            self._task.cancel()

    async def _run(self, whose: Whose, before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await asyncio.wait([before])
        try:
            self.past = await asyncio.to_thread(self._used, whose)
        except ToolsightError as error:
            self._wanted, self.past = None, PastUse(whose.persona, problem=error.message)
        # Whoever builds an index meanwhile holds what this waits for.
        await asyncio.to_thread(self._refresh)

    def _used(self, whose: Whose) -> PastUse:
        return used(takewhile(lambda _: not self._is_closed, self._read()), whose, self._clock.now())
