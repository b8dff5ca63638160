"""What is embedded in the background, batch by batch, while searches continue."""

import asyncio
import os
import sys
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TypeVar

from msgspec import Struct, field

from inspector.core.error import ToolsightError
from inspector.core.ranking import IndexPhase, IndexState
from inspector.core.tool import Tool
from inspector.search.index.document import SUMMARY, passage_texts
from inspector.search.index.embedded_text import Key, key_of
from inspector.search.index.semantics import Semantics
from inspector.search.index.tool_index import ToolIndex

T = TypeVar("T")
BATCH = 16
_NICENESS = 10
# Seconds in which listings are gathered: pages show them first, and a burst of them is one index.
_GATHERING = 0.2
# The share of the work between two progress reports; each report is an event in the stream.
_REPORT_EVERY = 0.05


class Embedding(Struct, eq=False):
    """Keeps the vectors of one index complete.

    `_refresh` is called when searches can use new vectors, in a thread; `_calm` waits until there is time for
    what takes long.

    The summaries of all tools are embedded first, so that every tool can be compared.
    """

    _semantics: Semantics
    _refresh: Callable[[], None]
    _report: Callable[[IndexState], None]
    _calm: Callable[[], Awaitable[None]]
    _calming: asyncio.Future[None] | None = None
    _is_awaited: asyncio.Event = field(default_factory=asyncio.Event)
    _current: Callable[[], ToolIndex] | None = None
    _queue: dict[Key, Callable[[], str]] = {}
    _recalled: set[Key] = set()
    _total: int = 0
    _reported: int = 0
    _summaries: int = 0
    _is_prepared: bool = False
    _is_cancelled: bool = False
    _is_closed: bool = False
    _task: asyncio.Task[None] | None = None
    _thread: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(1, "embedding", initializer=_give_way)
    )

    def follow(self, current: Callable[[], ToolIndex]) -> None:
        """Embed what the current index lacks, instead of what an earlier one did; it is read in a thread."""
        if self._is_closed:
            return
        self._current = current
        self._is_cancelled = False
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())

    async def settled(self) -> None:
        """Wait until nothing is missing, or embedding failed or was canceled."""
        self._is_awaited.set()
        while self._task is not None and not self._task.done():
            await asyncio.wait([self._task])

    def close(self) -> None:
        """Cancel, and follow nothing more."""
        self._is_closed = True
        self.cancel()
        self._thread.shutdown(wait=False)

    def cancel(self) -> None:
        """Stop waiting or a download, or stop after the current batch; embedded texts stay."""
        self._is_cancelled = True
        if self._calming is not None:
            self._calming.cancel()

    async def _run(self) -> None:
        if not self._is_cancelled:
            self._calming = asyncio.ensure_future(self._gathered())
            await asyncio.wait({self._calming})
        try:
            # During any of these steps the catalog may change and there may be more to do again.
            while self._is_due:
                await self._step()
                if not self._is_due:
                    await self._in_thread(self._refresh)
        except ToolsightError as error:
            phase = IndexPhase.STOPPED if self._is_cancelled else IndexPhase.FAILED
            if phase is IndexPhase.FAILED:
                self._semantics.failed(error)
            self._report_phase(phase, error.message, error.hint)
        else:
            left = self._queue or self._current
            self._report_phase(IndexPhase.STOPPED if left else IndexPhase.READY)

    async def _gathered(self) -> None:
        """Wait for a calm moment; where somebody waits for the vectors, no longer than servers start."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._is_awaited.wait(), _GATHERING)
        self._is_awaited.clear()
        await self._calm()

    @property
    def _is_due(self) -> bool:
        missing = self._current is not None or self._queue or not self._is_prepared
        return bool(missing) and not self._is_cancelled

    async def _step(self) -> None:
        if self._current is not None:
            await self._look(self._current)
        elif not self._is_prepared:
            await self._prepare()
        elif not await self._recall():
            await self._embed()

    async def _look(self, current: Callable[[], ToolIndex]) -> None:
        """Find what the index lacks."""
        self._current = None
        index, queue = await self._in_thread(lambda: (found := current(), _missing(found)))
        self._queue = queue
        self._total = len(set(index.keys()))
        self._summaries = len({d.passages[SUMMARY] for d in index.documents} & queue.keys())
        self._reported = -1

    async def _prepare(self) -> None:
        """Load the model even if every vector is known; otherwise the first query would wait for it."""
        self._report_phase(IndexPhase.LOADING)
        loop = asyncio.get_running_loop()

        def progress(done: int, total: int) -> None:
            loop.call_soon_threadsafe(self._report_download, done, total)

        await self._in_thread(partial(self._semantics.prepare, progress, lambda: self._is_cancelled))
        self._is_prepared = True
        self._reported = -1

    async def _recall(self) -> bool:
        """Look up new keys in the store; return False if there were none."""
        new = [key for key in self._queue if key not in self._recalled]
        if not new:
            return False
        self._recalled.update(new)
        stored = await self._in_thread(partial(self._semantics.recall, new))
        for key in stored:
            self._queue.pop(key, None)
        if stored:
            await self._in_thread(self._refresh)
        return True

    async def _embed(self) -> None:
        batch = {key: text() for key, text in list(self._queue.items())[:BATCH]}
        await self._in_thread(partial(self._semantics.embed, batch))
        before = self._summaries
        for key in batch:
            self._queue.pop(key, None)
        self._summaries = max(before - len(batch), 0)
        if before and not self._summaries:
            await self._in_thread(self._refresh)
        self._report_phase(IndexPhase.EMBEDDING)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        if self._is_closed:
            # Closed between two steps: there is no thread to go on in.
            raise asyncio.CancelledError
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _report_download(self, done: int, total: int) -> None:
        if not self._is_prepared:
            self._report(IndexState(IndexPhase.DOWNLOADING, self._semantics.model, done, total))

    def _report_phase(self, phase: IndexPhase, reason: str = "", hint: str = "") -> None:
        embedded = self._total - len(self._queue)
        due = self._reported < 0 or embedded - self._reported >= self._total * _REPORT_EVERY
        if phase is not IndexPhase.EMBEDDING or due:
            self._reported = embedded
            self._report(
                IndexState(
                    phase=phase,
                    model=self._semantics.model,
                    embedded=embedded,
                    total=self._total,
                    reason=reason,
                    hint=hint,
                )
            )


def _give_way() -> None:
    """Let everything else go first, on Linux: elsewhere priorities belong to whole processes."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)


def _missing(index: ToolIndex) -> dict[Key, Callable[[], str]]:
    """The keys without a vector, each with a function for its text; passages of one kind are together.

    Summary lines come first: a gate that needs them compares nothing else.
    """
    missing: dict[Key, Callable[[], str]] = {
        key_of(line): partial(str, line) for line in index.line_texts if key_of(line) not in index.vectors
    }
    for number, document in index.unembedded():
        missing.setdefault(document.passages[number], partial(_passage, document.tool, number))
    missing |= {
        key_of(text): partial(str, text) for text in index.further_texts if key_of(text) not in index.vectors
    }
    return missing


def _passage(tool: Tool, number: int) -> str:
    return passage_texts(tool)[number]
