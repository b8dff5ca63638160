"""Embedding goes on behind the searches, and whatever happens to it, searches go on."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence

import pytest
from msgspec.structs import replace

from inspector.core.error import ModelError
from inspector.core.ranking import IndexPhase, IndexState, SearchRequest
from inspector.core.settings import DiscoverySettings
from inspector.core.tool import Tool, summary_pool
from inspector.search.answer.retrieval import Retrieval
from inspector.search.index.semantics import Embedder
from inspector.search.index.tool_index import ToolIndex
from tests.support.fakes import ManualClock
from tests.support.memory_vectors import MemoryEmbedder, MemoryVectors
from tests.support.retrieval import CountingEmbedder

CATALOG = [Tool("shop", f"tool_{n}", f"Number {n} of the tools.") for n in range(40)]


class BrokenEmbedder(MemoryEmbedder):
    def embed(self, texts: Sequence[str]) -> list[list[float]]:  # noqa: ARG002
        raise ModelError("the model is damaged", hint="Install it again.")


async def calm() -> None:
    """There is nothing to wait for."""


def made(
    embedder: Embedder, vectors: MemoryVectors | None = None, calm: Callable[[], Awaitable[None]] = calm
) -> tuple[Retrieval, list[IndexState]]:
    states: list[IndexState] = []
    retrieval = Retrieval(
        DiscoverySettings(),
        ManualClock(),
        embedder=embedder,
        vectors=vectors or MemoryVectors(),
        report=states.append,
        calm=calm,
    )
    return retrieval, states


async def test_searches_go_by_words_first_and_by_meaning_when_all_is_embedded() -> None:
    retrieval, states = made(MemoryEmbedder())
    retrieval.update(CATALOG, {})
    first = retrieval.search(SearchRequest("number 7"), bound=()).report
    assert first.note == "ranks by words alone: 0 of 40 tools embedded"
    await retrieval.settled()
    assert retrieval.search(SearchRequest("number 7"), bound=()).report.note == ""
    assert [state.phase for state in states][:1] == [IndexPhase.LOADING]
    assert states[-1].phase is IndexPhase.READY
    assert states[-1].embedded == states[-1].total


async def test_progress_only_ever_rises_and_is_not_reported_for_every_batch_of_a_large_catalog() -> None:
    retrieval, states = made(MemoryEmbedder())
    retrieval.update([Tool("s", f"t{n}", f"Text {n}.") for n in range(600)], {})
    await retrieval.settled()
    embedded = [state.embedded for state in states]
    assert embedded == sorted(embedded)
    assert len(states) < 30


async def test_a_catalog_that_changes_at_any_moment_is_embedded_whole_in_the_end() -> None:
    for turns in range(25):
        retrieval, _ = made(MemoryEmbedder())
        retrieval.update(CATALOG[:2], {})
        for _ in range(turns):
            await asyncio.sleep(0)
        retrieval.update(CATALOG, {})
        await retrieval.settled()
        assert retrieval.index.coverage == 1.0, turns


async def test_a_model_that_fails_is_told_and_searches_go_on_by_words() -> None:
    retrieval, states = made(BrokenEmbedder())
    retrieval.update(CATALOG, {})
    await retrieval.settled()
    assert states[-1] == IndexState(
        IndexPhase.FAILED,
        "memory",
        states[-1].embedded,
        states[-1].total,
        "the model is damaged",
        "Install it again.",
    )
    report = retrieval.search(SearchRequest("number 7"), bound=()).report
    assert report.results
    assert report.note == "ranks by words alone: the model is damaged. Install it again."


class DownloadedEmbedder(MemoryEmbedder):
    """A model that is downloaded for as long as nobody cancels."""

    def __init__(self) -> None:
        self.has_begun = threading.Event()

    def prepare(self, progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> None:
        done = 0
        while not cancelled():
            done += 10
            progress(min(done, 100), 100)
            self.has_begun.set()
        raise ModelError("cancelled")


async def test_a_download_is_told_and_can_be_cancelled() -> None:
    embedder = DownloadedEmbedder()
    retrieval, states = made(embedder)
    retrieval.update(CATALOG, {})
    await asyncio.to_thread(embedder.has_begun.wait)
    retrieval.cancel_embedding()
    await retrieval.settled()
    assert [state.phase for state in states if state.total == 100][:1] == [IndexPhase.DOWNLOADING]
    assert states[-1].phase is IndexPhase.STOPPED
    assert retrieval.search(SearchRequest("number 7"), bound=()).report.results


async def test_a_gate_compares_with_the_lines_that_the_summary_pool_has() -> None:
    embedder = CountingEmbedder()
    retrieval, _ = made(embedder)
    catalog = [replace(tool, description=f"{tool.description} And much besides.") for tool in CATALOG]
    retrieval.update(catalog, {}, gate_ranker="iso")
    await retrieval.settled()
    _, *lines = summary_pool(catalog, 60, len).splitlines()
    assert set(lines) <= set(embedder.texts)
    assert retrieval.rankers.get("iso").rank(lines[7]).values[7] == pytest.approx(1.0)
    assert retrieval.rankers.get("iso").rank(lines[7]).note == ""


async def test_embedding_waits_until_there_is_calm_and_does_not_hold_up_who_leaves_before() -> None:
    is_calm = asyncio.Event()

    async def wait() -> None:
        await is_calm.wait()

    retrieval, states = made(MemoryEmbedder(), calm=wait)
    retrieval.update(CATALOG, {})
    await asyncio.sleep(0)
    assert not states
    retrieval.cancel_embedding()
    await retrieval.settled()
    retrieval.update(CATALOG, {})
    is_calm.set()
    await retrieval.settled()
    assert retrieval.index.coverage == 1.0


async def test_a_catalog_that_changes_while_vectors_are_taken_up_is_searched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    retrieval, _ = made(MemoryEmbedder())
    retrieval.update(CATALOG[:3], {})
    await retrieval.settled()
    renew = ToolIndex.with_new_vectors

    def slowly(index: ToolIndex) -> ToolIndex:
        renewed = renew(index)
        retrieval.update(CATALOG, {})
        assert len(retrieval.index.tools) == len(CATALOG)
        monkeypatch.setattr(ToolIndex, "with_new_vectors", renew)
        return renewed

    monkeypatch.setattr(ToolIndex, "with_new_vectors", slowly)
    retrieval.update(CATALOG[:2], {})
    await retrieval.settled()
    assert len(retrieval.index.tools) == len(CATALOG)
    assert retrieval.index.coverage == 1.0
