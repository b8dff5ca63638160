"""How fast and how large the index is at 100 to 100,000 tools: `python -m docs.benchmark.speed`.

The tools are made up by a seeded generator, with names, descriptions and parameters of realistic length,
and the vectors are random: neither decides how long arithmetic takes. What counts is a ratio within one run,
so that a busy machine slows both sides: a whole hybrid search, with the reading of the query, its static
vector and the explanation of the hits, but without the model's vector, against `rank_bm25.get_scores` alone
over the same tools. End to end, the model embeds whatever a new query needs.
"""

import gc
import random
import resource
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from zlib import crc32

import numpy as np
from msgspec import Struct

from docs.benchmark import say
from docs.benchmark.data import embedder
from inspector.cli.composition import make_static_embedder
from inspector.core.ports import SystemClock
from inspector.core.ranking import SearchRequest
from inspector.core.settings import DiscoverySettings
from inspector.core.tool import Tool
from inspector.search.answer.retrieval import Retrieval
from inspector.search.index.query import parse
from inspector.search.index.tool_index import ToolIndex
from inspector.search.index.vocabulary import VOCABULARY
from tests.support.memory_vectors import MemoryVectors

SIZES = (100, 1_000, 10_000, 100_000)
QUERIES, STEPS = 40, 8
DIMENSIONS = 384
_BATCH = 256
_WORDS = sorted(VOCABULARY)


class RandomEmbedder:
    """Unit vectors of MiniLM's length, each text its own; of MiniLM itself once `is_real`."""

    name = "random"
    is_real = False

    def prepare(self, progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> None: ...

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        if self.is_real:
            return embedder().embed(texts)
        rows = [np.random.default_rng(crc32(text.encode())).standard_normal(DIMENSIONS) for text in texts]
        return [(row / np.linalg.norm(row)).tolist() for row in rows]

    def words(self) -> Sequence[str]:
        return embedder().words()


class Speed(Struct, frozen=True):
    """Medians in milliseconds; `build_s` in seconds. Memory in megabytes, beyond the tools themselves.

    `end_to_end_ms` and `steps_ms` are of new queries, of a few words and of STEPS sentences. `live_mb` is
    what the index holds, `resident_mb` how much the process grew while making it.
    """

    tools: int
    build_s: float
    get_scores_ms: float
    hybrid_ms: float
    end_to_end_ms: float
    steps_ms: float
    change_ms: float
    live_mb: float
    resident_mb: float

    @property
    def ratio(self) -> float:
        return self.hybrid_ms / self.get_scores_ms


def made_up(count: int) -> list[Tool]:
    """Tools of 30 a server; some 25 words of description, three parameters."""
    source = random.Random(7)
    return [_tool(source, number) for number in range(count)]


def _tool(source: random.Random, number: int) -> Tool:
    words = source.choices(_WORDS, k=25)
    properties = {
        f"{source.choice(_WORDS)}_{source.choice(_WORDS)}": {"type": "string", "description": " ".join(w)}
        for w in (source.choices(_WORDS, k=8) for _ in range(3))
    }
    name = f"{words[0]}_{words[1]}_{number}"
    return Tool(f"server{number // 30}", name, " ".join(words), {"type": "object", "properties": properties})


def queries(seed: int, steps: int = 1) -> list[str]:
    """Words as they are typed into a search; several steps are a sentence each."""
    source = random.Random(seed)
    searched = ([" ".join(_words(source)) for _ in range(steps)] for _ in range(QUERIES))
    return [parts[0] if steps == 1 else " ".join(f"Find {part}." for part in parts) for parts in searched]


def _words(source: random.Random) -> list[str]:
    return source.choices(_WORDS, k=source.randint(3, 9))


def retrieval_over(tools: Sequence[Tool], model: RandomEmbedder) -> Retrieval:
    """A retrieval whose index has every vector."""
    found = Retrieval(
        DiscoverySettings(min_probability=0.0, min_closest=0.0),
        SystemClock(),
        embedder=model,
        static=make_static_embedder(),
        vectors=_NoVectors(),
        report=lambda _state: None,
    )
    semantics = found.index.semantics
    assert semantics is not None
    index = ToolIndex(tools, semantics=semantics)
    texts = index.texts()
    keys = list(texts)
    for start in range(0, len(keys), _BATCH):
        semantics.embed({key: texts[key] for key in keys[start : start + _BATCH]}, keep=False)
    found.use_index(index.with_new_vectors())
    semantics.settle(found.index.vectors)
    return found


class _NoVectors(MemoryVectors):
    """Keeps nothing: the store is a file, not memory of the process."""

    def keep_vectors(self, model: str, vectors: object) -> None: ...


def measure(count: int) -> Speed:
    """Everything about one size, in this process: run it in a fresh one."""
    tools, asked, model = made_up(count), queries(11), RandomEmbedder()
    _warm_up()
    gc.collect()
    before = _resident()
    started = time.perf_counter()
    retrieval = retrieval_over(tools, model)

    def search(query: str) -> None:
        parse.cache_clear()
        retrieval.search(SearchRequest(query), bound=())

    for query in asked:
        search(query)
    build = time.perf_counter() - started
    gc.collect()
    resident = _resident() - before
    hybrid = _median(search, asked)
    get_scores = _median(_get_scores(tools), asked)
    model.is_real = True
    end_to_end, steps = (_median(search, new) for new in (queries(12), queries(13, STEPS)))
    model.is_real = False
    change = _change(retrieval, tools)
    return Speed(count, build, get_scores, hybrid, end_to_end, steps, change, _live(tools), resident)


def _warm_up() -> None:
    """Load the model and the static vectors, which are not part of an index."""
    embedder().embed(["warm up"])
    static = make_static_embedder()
    if static is not None:
        static.embed(["warm up"])


def _get_scores(tools: Sequence[Tool]) -> Callable[[str], object]:
    from rank_bm25 import BM25Okapi

    model = BM25Okapi([f"{t.name} {t.description}".lower().split() for t in tools])
    return lambda query: model.get_scores(query.lower().split())


def _live(tools: Sequence[Tool]) -> float:
    """Megabytes of everything that is allocated while an index is made and still there afterwards."""
    gc.collect()
    tracemalloc.start()
    retrieval = retrieval_over(tools, RandomEmbedder())
    retrieval.search(SearchRequest("list orders"), bound=())
    gc.collect()
    live, _peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return live / 1e6


def _change(retrieval: Retrieval, tools: Sequence[Tool]) -> float:
    """Processor time from a changed list of tools to a search that finds the new one."""
    times = []
    for round_ in range(5):
        new = Tool("server0", f"xylophone_tuner_{round_}", "Tunes a xylophone.")
        started = time.process_time()
        retrieval.use_index(retrieval.index.updated([*tools[:-1], new]))
        report = retrieval.search(SearchRequest("tune the xylophone"), bound=()).report
        times.append(time.process_time() - started)
        assert report.results[0].tool_id == new.id
    return statistics.median(times) * 1000


def _median(ask: Callable[[str], object], asked: Sequence[str]) -> float:
    times = []
    for query in asked:
        started = time.perf_counter()
        ask(query)
        times.append(time.perf_counter() - started)
    return statistics.median(times) * 1000


def _resident() -> float:
    """Megabytes of this process in memory now."""
    with open("/proc/self/statm") as file:  # noqa: PTH123 - a file of the kernel
        pages = int(file.read().split()[1])
    return pages * resource.getpagesize() / 1e6


def in_fresh_process(count: int) -> Speed:
    """`measure` where nothing else is in memory."""
    code = f"from docs.benchmark.speed import measure; print(repr(measure({count})))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found = eval(done.stdout.strip().splitlines()[-1], {"Speed": Speed})
    assert isinstance(found, Speed)
    return found


def table(found: Sequence[Speed]) -> str:
    """Markdown."""
    rows = "\n".join(
        f"| {s.tools:,} | {s.build_s:.2f} | {s.get_scores_ms:.2f} | {s.hybrid_ms:.2f} | {s.ratio:.2f} | "
        f"{s.end_to_end_ms:.1f} | {s.steps_ms:.1f} | {s.change_ms:.0f} | {s.live_mb:.0f} | "
        f"{s.resident_mb:.0f} |"
        for s in found
    )
    return (
        "| tools | build s | get_scores ms | hybrid ms | ratio | end to end ms | "
        f"{STEPS} steps ms | change ms | live MB | resident MB |\n{'|--:' * 10}|\n{rows}"
    )


def main() -> None:
    say(table([in_fresh_process(count) for count in SIZES]))


if __name__ == "__main__":
    main()
