"""What tools were called for is read and embedded behind the searches, and only when it is asked for."""

import asyncio
import threading
from collections.abc import Iterator
from typing import NamedTuple, TypeVar

import pytest

from inspector.core.error import StoreError
from inspector.core.events import CallFinished, CallStarted, Record, SearchPerformed, UserSaid
from inspector.core.ports import PastCall
from inspector.core.ranking import Hit, Outcome, Score, SearchReport, SearchRequest, Signal
from inspector.core.settings import DiscoverySettings
from inspector.core.tool import Tool
from inspector.search.answer.retrieval import Retrieval
from inspector.search.index.embedding import MOST_REQUESTS, NOTHING_ASKED, Embedding, Learning, newest
from inspector.search.index.semantics import Semantics
from inspector.store.memory import MemoryStore
from tests.support.fakes import ManualClock, Recorded, says, searches
from tests.support.memory_vectors import MemoryEmbedder, MemoryVectors
from tests.support.retrieval import CountingEmbedder
from tests.support.workbench import connected

T = TypeVar("T")
CATALOG = [Tool("shop", f"tool_{n}", f"Number {n} of the tools.") for n in range(5)]
ON, OFF = DiscoverySettings(learn=True), DiscoverySettings()
REQUEST = "a very special wish"
CALLS = (PastCall("shop:tool_3", REQUEST, 1.0),)


def made(
    recorded: object,
    settings: DiscoverySettings = ON,
    *,
    embedder: MemoryEmbedder | None = None,
    vectors: MemoryVectors | None = None,
) -> Retrieval:
    assert callable(recorded)
    return Retrieval(
        settings,
        ManualClock(),
        embedder=embedder or MemoryEmbedder(),
        vectors=vectors or MemoryVectors(),
        report=lambda _state: None,
        past_calls=recorded,
    )


def report(retrieval: Retrieval, query: str = REQUEST) -> SearchReport:
    return retrieval.look(SearchRequest(query), bound=()).report


def learned(retrieval: Retrieval, query: str = REQUEST) -> list[str]:
    """The tools that a past request counts for."""
    hits = report(retrieval, query).hits
    return [hit.tool_id for hit in hits if any(part.signal is Signal.HISTORY for part in hit.score.parts)]


def call(request: str, at: float = 0.0, tool: str = "shop:tool_1") -> PastCall:
    return PastCall(tool, request, at)


def test_a_tool_keeps_its_newest_requests() -> None:
    asked = newest(call(f"request {n}", float(n)) for n in range(30))
    assert asked == {"shop:tool_1": tuple(f"request {n}" for n in range(29, 29 - MOST_REQUESTS, -1))}


def test_requests_that_differ_in_case_or_white_space_alone_are_one() -> None:
    asked = newest([call("List  orders", 1), call("list\norders ", 2), call("list mails", 3)])
    assert asked == {"shop:tool_1": ("list mails", "list orders")}


def test_a_request_of_an_endless_message_is_cut_as_every_text_is() -> None:
    (text,) = newest([call("word " * 10_000)])["shop:tool_1"]
    assert len(text) <= 2_000


async def test_only_requests_of_tools_that_are_there_are_embedded_and_after_the_tools() -> None:
    embedder = CountingEmbedder()
    retrieval = made(Recorded(*CALLS, PastCall("gone:tool", "asked of nobody", 2.0)), embedder=embedder)
    retrieval.update(CATALOG, {})
    await retrieval.settled()
    assert embedder.texts[-1] == REQUEST
    assert "asked of nobody" not in embedder.texts


async def test_a_request_that_was_embedded_in_an_earlier_session_is_not_embedded_again() -> None:
    vectors, embedder = MemoryVectors(), CountingEmbedder()
    for each in (MemoryEmbedder(), embedder):
        retrieval = made(Recorded(*CALLS), embedder=each, vectors=vectors)
        retrieval.update(CATALOG, {})
        await retrieval.settled()
    assert REQUEST not in embedder.texts
    assert learned(retrieval) == ["shop:tool_3"]


class LongRecord:
    """A record that is read only when `go_on` is set; `begun` says that somebody reads it."""

    def __init__(self) -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.given = 0

    def __call__(self) -> Iterator[PastCall]:
        self.begun.set()
        self.go_on.wait(10)
        for _ in range(100):
            self.given += 1
            yield from CALLS


class Past(NamedTuple):
    """One of the two things that searches take from earlier sessions."""

    on: DiscoverySettings
    signal: Signal
    ignored: str
    query: str

    def counted(self, retrieval: Retrieval) -> list[str]:
        """The tools whose score it adds to."""
        hits = report(retrieval, self.query).hits
        return [hit.tool_id for hit in hits if any(part.signal is self.signal for part in hit.score.parts)]


either = pytest.mark.parametrize(
    "past",
    [
        Past(ON, Signal.HISTORY, "past requests ignored: ", REQUEST),
        Past(DiscoverySettings(affinity=0.5), Signal.AFFINITY, "past use ignored: ", "number 3 of the tools"),
    ],
    ids=["past requests", "past use"],
)


@either
async def test_the_record_is_read_once_and_in_another_thread(past: Past) -> None:
    recorded = Recorded(*CALLS)
    retrieval = made(recorded, past.on)
    for count in (2, 4, 5):
        retrieval.update(CATALOG[:count], {})
        await retrieval.settled()
    assert recorded.reads == 1
    assert recorded.thread != threading.current_thread().name
    assert past.counted(retrieval) == ["shop:tool_3"]


async def test_nothing_is_read_while_neither_is_on() -> None:
    recorded = Recorded(*CALLS)
    retrieval = made(recorded, OFF)
    retrieval.update(CATALOG, {})
    await retrieval.settled()
    assert recorded.reads == 0


@either
async def test_a_record_that_can_be_read_again_is_no_problem_any_more(past: Past) -> None:
    left = [StoreError("another program has locked the database")]

    def locked_at_first() -> Iterator[PastCall]:
        if left:
            raise left.pop()
        yield from CALLS

    retrieval = made(locked_at_first, past.on)
    for note in (f"{past.ignored}another program has locked the database", ""):
        retrieval.update(CATALOG, {})
        await retrieval.settled()
        assert report(retrieval).note == note
    assert past.counted(retrieval)


@either
async def test_a_session_that_ends_does_not_wait_for_a_long_record(past: Past) -> None:
    record = LongRecord()
    retrieval = made(record, past.on)
    retrieval.update(CATALOG, {})
    await asyncio.to_thread(record.begun.wait, 10)
    retrieval.close()
    async with asyncio.timeout(5):
        await retrieval.settled()
    record.go_on.set()
    assert past.counted(retrieval) == []


async def test_after_its_end_a_session_reads_no_further() -> None:
    record = LongRecord()
    semantics = Semantics(MemoryEmbedder(), MemoryVectors())
    aside = Embedding(semantics, lambda: None, lambda _state: None, lambda: asyncio.sleep(0))
    learning = Learning(semantics, record, lambda: ["shop:tool_3"], refresh=lambda: None, aside=aside)
    learning.follow()
    await asyncio.to_thread(record.begun.wait, 10)
    learning.close()
    record.go_on.set()
    learning.follow()
    await learning.settled()
    # Its thread has nothing left to read.
    await aside.run(lambda: None)
    aside.close()
    assert record.given == 1
    assert learning.past is NOTHING_ASKED


WISH = "parcels that wait at customs"
SHOPPED = (
    UserSaid("Is anything held up?"),
    SearchPerformed(
        SearchReport(
            SearchRequest(WISH), "hybrid", (Hit(1, Score("shop:list_orders", 1.0), Outcome.LOADED),)
        ),
        "",
    ),
    CallStarted("c1", "shop:list_orders", {}),
    CallFinished("c1", "shop:list_orders", True, "two"),
)


def earlier() -> MemoryStore:
    """A store with a session in which orders were listed after a search for what they are not called."""
    store = MemoryStore()
    for seq, event in enumerate(SHOPPED, start=1):
        store.append(Record("earlier", seq, float(seq), event))
    return store


async def test_a_session_learns_from_earlier_ones_when_the_setting_is_on() -> None:
    async with connected(store=earlier(), embedder=MemoryEmbedder()) as rig:
        assert learned(rig.bench.retrieval, WISH) == []
        rig.bench.change_setting("discovery.learn", True)
        await rig.bench.retrieval.settled()
        assert learned(rig.bench.retrieval, WISH) == ["shop:list_orders"]
        rig.bench.change_setting("discovery.learn", False)
        assert learned(rig.bench.retrieval, WISH) == []


async def test_a_model_is_never_sent_a_past_request() -> None:
    values = {"discovery.learn": True, "discovery.results": "ranked", "discovery.min_probability": 0.0}
    asked = "list parcels that wait at customs"
    steps = (searches(query=asked), says("Two."))
    async with connected(*steps, store=earlier(), embedder=MemoryEmbedder(), values=values) as rig:
        await rig.bench.chat("And now?")
        (search,) = rig.events("search")
        assert f"asked before: “{WISH}”" in [p.term for hit in search.report.hits for p in hit.score.parts]
        assert not any(WISH in result.replace(asked, "") for result in rig.results)
