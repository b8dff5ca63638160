"""What the discovery loop itself costs a model call, at 1,000 tools: `make bench`.

Whole chats over memory servers, with a model that says what it is told and a record in memory: what is left
is searching, binding, gating, guarding, counting and folding. The processor time inside rankers is measured
on the way and taken out of the sum; the rest is divided by the model calls. The profiles are measured in
turns, ROUNDS times; the quickest counts, since other work on the machine can only add to it.

`python -m docs.benchmark.loop layers` prints the shares of a turn by layer instead: the processor
time of each without what it calls of others. There the model embeds the queries, SQLite keeps the events and
tiktoken counts; tools have random vectors, and servers and the chat model cost nothing.

`python -m docs.benchmark.loop turns` compares the processor time of turns in a full window with the first.
"""

import asyncio
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

from docs.benchmark import say
from docs.benchmark.speed import RandomEmbedder
from inspector.config.profile import PROFILES
from inspector.core.message import ModelReply, ToolResult
from inspector.core.stream import Session
from inspector.core.tool import Annotations, Tool
from inspector.loop.gate import Gate, Preconditions
from inspector.loop.inertia import Inertia
from inspector.loop.iteration_guard import LoopWatch
from inspector.loop.search_tools import RedundancyDetector
from inspector.search.answer.search import ToolSearch
from inspector.search.index.tool_index import ToolIndex
from inspector.search.ranker.bm25 import Bm25Ranker
from inspector.search.ranker.catalog_rankers import CatalogRankers
from inspector.search.ranker.dense import TwoStageRanker
from inspector.search.ranker.hybrid import HybridRanker
from inspector.search.ranker.ranker import Ranker, Ranking
from inspector.store.store import SqliteStore
from inspector.tokens.counter import TiktokenCounter
from inspector.tokens.measure import BudgetMeter
from tests.support.fakes import ToldModel, calls, says, searches
from tests.support.memory_servers import MemoryServer
from tests.support.memory_vectors import MemoryEmbedder
from tests.support.workbench import Rig, connected

SERVERS, TOOLS_EACH, TURNS, ROUNDS = 20, 50, 6, 5
TARGET_MS = 3.0
_SCHEMA = {
    "type": "object",
    "properties": {
        name: {"type": "string", "description": f"The {name} of what is meant, as text."}
        for name in ("owner", "title", "filter", "cursor")
    },
}
_VERBS = ("list", "get", "render", "review", "detect", "search", "export", "count", "merge", "share")
_NOUNS = ("order", "invoice", "ticket", "page", "event")


class Timed:
    """A ranker, and the seconds that were spent in it."""

    spent = 0.0

    def __init__(self, ranker: Ranker) -> None:
        self._ranker = ranker

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ranker, name)

    def rank(self, query: str) -> Ranking:
        started = time.process_time()
        try:
            return self._ranker.rank(query)
        finally:
            Timed.spent += time.process_time() - started


def servers(count: int = SERVERS) -> dict[str, MemoryServer]:
    reads = Annotations(read_only=True)
    return {
        f"s{number}": MemoryServer(
            [
                Tool(
                    f"s{number}",
                    f"{verb}_{noun}_{number}",
                    f"To {verb} an {noun} of {number}.",
                    _SCHEMA,
                    reads,
                )
                for verb in _VERBS
                for noun in _NOUNS
            ]
        )
        for number in range(count)
    }


def conversation(count: int = SERVERS) -> list[ModelReply]:
    """For each turn a search, a call of what it found, and an answer."""
    steps: list[ModelReply] = []
    for turn in range(TURNS):
        verb, noun, server = _VERBS[turn % len(_VERBS)], _NOUNS[turn % len(_NOUNS)], turn % count
        steps += [
            searches(query=f"{verb} an {noun} of {server}"),
            calls((f"s{server}__{verb}_{noun}_{server}", {"owner": f"o{turn}"})),
            says("done"),
        ]
    return steps


async def milliseconds_a_call(profile: str) -> float:
    """Of one whole conversation, rankers left out."""
    async with connected(
        *conversation(), servers=servers(), embedder=MemoryEmbedder(), profile=profile
    ) as rig:
        await _talk(rig, 1)
        calls_before, Timed.spent = rig.bench.state.model_calls, 0.0
        started = time.process_time()
        await _talk(rig, TURNS - 1)
        spent = time.process_time() - started - Timed.spent
        return 1000 * spent / (rig.bench.state.model_calls - calls_before)


async def _talk(rig: Rig, turns: int) -> None:
    for turn in range(turns):
        await rig.bench.chat(f"Please list an order, number {turn}")


async def measure() -> dict[str, float]:
    get = CatalogRankers.get
    found: dict[str, list[float]] = {profile: [] for profile in PROFILES}
    # Characters are its tokens: the window takes all tools of the profile `static`.
    with (
        patch.object(ToldModel, "window", 10**9),
        patch.object(CatalogRankers, "get", lambda self, name: Timed(get(self, name))),
    ):
        for _ in range(ROUNDS):
            for profile, values in found.items():
                values.append(await milliseconds_a_call(profile))
    return {profile: min(values) for profile, values in found.items()}


# The methods that are a layer; what they call of another layer counts there.
LAYERS: dict[str, tuple[tuple[type, str], ...]] = {
    "embedding the query": ((RandomEmbedder, "embed"),),
    "comparing vectors": ((ToolIndex, "similarities_of"), (ToolIndex, "static_similarities_of")),
    "words (BM25)": ((Bm25Ranker, "asked"), (Bm25Ranker, "ranking"), (Bm25Ranker, "parts")),
    "fusion, explanations": ((HybridRanker, "rank"), (TwoStageRanker, "rank"), (ToolSearch, "_hits")),
    "filters, result text": ((ToolSearch, "run"),),
    "permissions, preconditions": ((Preconditions, "unmet"), (Preconditions, "closed")),
    "gate": ((Gate, "apply"),),
    "guards": ((LoopWatch, "note"), (RedundancyDetector, "after_search")),
    "next tools": ((Inertia, "before_call"), (Inertia, "with_search")),
    "events": ((Session, "emit"),),
    "counting tokens": tuple(
        (BudgetMeter, name) for name in ("measure", "tool", "cost", "static", "message")
    ),
}
_LAYERED = ("toolsight", "stack")
_SHARED_BY = (100, 1_000, 10_000)


class Shares:
    """The processor time of each layer in the thread of the loop; the rest of a turn is `the loop itself`."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = defaultdict(float)
        self._open: list[str] = []
        self._since = 0.0

    @contextmanager
    def within(self, layer: str) -> Iterator[None]:
        self._note()
        self._open.append(layer)
        yield
        self._note()
        self._open.pop()

    def _note(self) -> None:
        now = time.process_time()
        if self._open:
            self.spent[self._open[-1]] += now - self._since
        self._since = now

    def timed(self, layer: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            if not self._open or threading.current_thread() is not threading.main_thread():
                return function(*given, **named)
            with self.within(layer):
                return function(*given, **named)

        return call


async def shares(profile: str, count: int) -> Shares:
    """Of the turns of a conversation but for its first, over so many tools."""
    found, model = Shares(), RandomEmbedder()
    number = count // (len(_VERBS) * len(_NOUNS))
    with ExitStack() as stack:
        stack.enter_context(patch.object(ToldModel, "window", 10**9))
        stack.enter_context(patch("inspector.search.index.embedding.BATCH", 4_096))
        for layer, methods in LAYERS.items():
            for kind, name in methods:
                stack.enter_context(patch.object(kind, name, found.timed(layer, getattr(kind, name))))
        store = SqliteStore(Path(stack.enter_context(tempfile.TemporaryDirectory())) / "events.db")
        async with connected(
            *conversation(number),
            servers=servers(number),
            embedder=model,
            profile=profile,
            store=stack.enter_context(store),
            counter_for=lambda _model: TiktokenCounter("gpt-5"),
        ) as rig:
            model.is_real = True
            await _talk(rig, 1)
            with found.within("the loop itself"):
                await _talk(rig, TURNS - 1)
    return found


def layers() -> None:
    """Markdown: the share of each layer, a row a profile and number of tools."""
    names = (*LAYERS, "the loop itself")
    say(f"| profile, tools | {' | '.join(names)} |\n|---|{'--:|' * len(names)}")
    for profile in _LAYERED:
        for count in _SHARED_BY:
            spent = asyncio.run(shares(profile, count)).spent
            cells = (f"{spent[name] / sum(spent.values()):.1%}" for name in names)
            say(f"| {profile}, {count:,} | {' | '.join(cells)} |")


LONG, FULL, FIRST = 100, 32_000, slice(2, 17)


async def turns() -> tuple[float, float]:
    """Median milliseconds, rankers left out, of the first turns and of as many at the end of LONG ones."""
    given, took = servers(), []
    said = " ".join(f"{verb} the {noun}" for verb in _VERBS for noun in _NOUNS)

    async def answer(_tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        return ToolResult(f"{arguments} {said} {said}")

    for server in given.values():
        server.answer = answer
    get, counter = CatalogRankers.get, TiktokenCounter("gpt-5")
    steps = conversation() * (LONG // TURNS + 1)
    with (
        patch.object(ToldModel, "window", FULL),
        patch.object(CatalogRankers, "get", lambda self, name: Timed(get(self, name))),
    ):
        async with connected(
            *steps, servers=given, embedder=MemoryEmbedder(), counter_for=lambda _model: counter
        ) as rig:
            for turn in range(LONG):
                started, Timed.spent = time.process_time(), 0.0
                await rig.bench.chat(f"Please list an order, number {turn}: {said[:500]}")
                took.append(1000 * (time.process_time() - started - Timed.spent))
    return median(took[FIRST]), median(took[FIRST.start - FIRST.stop :])


def main() -> None:
    if "turns" in sys.argv[1:]:
        first, full = asyncio.run(turns())
        say(f"a turn, ms: the first {first:.1f}, in a full window {full:.1f}, ratio {full / first:.2f}")
        return
    if "layers" in sys.argv[1:]:
        layers()
        return
    found = asyncio.run(measure())
    say(f"the loop without rankers, {SERVERS * TOOLS_EACH:,} tools, ms a model call (quickest of {ROUNDS}):")
    for profile, value in found.items():
        say(f"  {profile:<12}{value:6.2f}  {'' if value < TARGET_MS else 'over the target'}")
    sys.exit(0 if max(found.values()) < TARGET_MS else 1)


if __name__ == "__main__":
    main()
