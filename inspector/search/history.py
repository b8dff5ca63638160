"""What was searched for in earlier sessions, and which tools were called then.

They come from the sessions recorded on this machine, are embedded like the tools' own texts, after those and
in the background, and go nowhere else. What they add to a score is in `rankers/asked_before.py`.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import takewhile
from typing import Protocol, TypeVar

from inspector.core.error import ToolsightError
from inspector.core.inertia import PastCall
from inspector.search.document import MAX_EMBEDDED, key_of
from inspector.search.embedding import BATCH
from inspector.search.semantics import Semantics
from inspector.search.vector_table import VectorTable

T = TypeVar("T")
# What a tool was called for last tells best what it is called for here.
MOST_REQUESTS = 10

Requests = Mapping[str, Sequence[str]]
"""By tool id, what was asked for before it was called, newest first."""


class PastRequests:
    """The past requests of tools and the vectors of those that are embedded; immutable.

    Their vectors are in a table of their own, so that the products with the tools' own stay the same to the
    last bit. `problem` says why there are none, "" if there is no problem.
    """

    def __init__(self, texts: Requests | None = None, vectors: VectorTable | None = None, problem: str = ""):
        self.texts: Requests = texts or {}
        self.vectors = vectors or VectorTable()
        self.problem = problem

    def of(self, tools: Collection[str]) -> list[tuple[str, str]]:
        """Each of these tools with each of its past requests."""
        return [(tool, text) for tool, texts in self.texts.items() if tool in tools for text in texts]


NOTHING_ASKED = PastRequests()


def newest(calls: Iterable[PastCall]) -> Requests:
    """The newest requests of each tool that differ in more than case and white space."""
    found: dict[str, dict[str, str]] = {}
    for call in sorted(calls, key=lambda call: -call.at):
        request = " ".join(call.request[:MAX_EMBEDDED].split())
        texts = found.setdefault(call.tool, {})
        if request and len(texts) < MOST_REQUESTS:
            texts.setdefault(request.casefold(), request)
    return {tool: tuple(texts.values()) for tool, texts in found.items()}


class Aside(Protocol):
    """Does what takes long where it is in nobody's way."""

    async def settled(self) -> None:
        """Wait until the tools' own texts are embedded."""

    async def run(self, work: Callable[[], T]) -> T:
        """The result of `work`, done in a thread."""


class Learning:
    """Keeps the past requests of the current tools read and embedded, in the background.

    `read` is called once. Whatever fails, searches go on without past requests.
    """

    def __init__(
        self,
        semantics: Semantics,
        read: Callable[[], Iterable[PastCall]],
        tools: Callable[[], Collection[str]],
        refresh: Callable[[], None],
        aside: Aside,
    ) -> None:
        """`tools` gives the ids of the current tools; `refresh` is called when `past` is another."""
        self.past = NOTHING_ASKED
        self._semantics = semantics
        self._read = read
        self._tools = tools
        self._refresh = refresh
        self._aside = aside
        self._known: Requests | None = None
        self._is_due = self._is_stopped = self._is_closed = False
        self._task: asyncio.Task[None] | None = None

    def follow(self) -> None:
        """Learn what the tools as they are now were called for."""
        if self._is_closed:
            return
        self._is_due, self._is_stopped = True, False
        if self._task is None or self._task.done() or self._task.cancelling():
            self._task = asyncio.create_task(self._run())

    async def settled(self) -> None:
        """Wait until there is nothing more to learn, or learning failed or was stopped."""
        while self._task is not None and not self._task.done():
            await asyncio.wait([self._task])

    def stop(self) -> None:
        """Learn nothing more; what is learned stays."""
        self._is_stopped = True
        if self._task is not None:
            self._task.cancel()

    def close(self) -> None:
        """Stop, and follow nothing more."""
        self._is_closed = True
        self.stop()

    async def _run(self) -> None:
        try:
            while self._is_due:
                await self._aside.settled()
                await self._step()
        except ToolsightError as error:
            await self._use(PastRequests(problem=error.message))

    async def _step(self) -> None:
        if self._known is None:
            self._known = await self._aside.run(self._newest)
        self._is_due = False
        texts = {tool: self._known[tool] for tool in self._tools() if tool in self._known}
        wanted = {key_of(text): text for asked in texts.values() for text in asked}
        missing = {key: text for key, text in wanted.items() if key not in self.past.vectors}
        if texts == self.past.texts and not (missing or self.past.problem):
            return
        stored = await self._aside.run(partial(self._semantics.recall, list(missing)))
        left = [key for key in missing if key not in stored]
        for start in range(0, len(left), BATCH):
            batch = {key: missing[key] for key in left[start : start + BATCH]}
            await self._aside.run(partial(self._semantics.embed, batch))
        vectors = await self._aside.run(partial(self._semantics.table, wanted, self.past.vectors))
        self._semantics.settle(vectors)
        await self._use(PastRequests(texts, vectors))

    def _newest(self) -> Requests:
        return newest(takewhile(lambda _: not self._is_stopped, self._read()))

    async def _use(self, past: PastRequests) -> None:
        self.past = past
        await self._aside.run(self._refresh)
