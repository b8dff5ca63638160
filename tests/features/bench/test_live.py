"""Measuring over the tools of a session: its index, its thresholds, and apart from its searches."""

from msgspec.structs import replace

from inspector.access.reach import EvalCase, EvalSet
from inspector.core.ranking import Answer
from inspector.core.settings import DiscoverySettings
from inspector.core.tool import Tool
from inspector.features.bench.ranker_bench import LiveBench, weakest
from inspector.features.bench.run import CaseRun, Run
from inspector.search.answer.retrieval import Retrieval
from tests.support.fakes import ManualClock
from tests.support.memory_vectors import MemoryEmbedder, MemoryVectors
from tests.support.retrieval import CountingEmbedder

TOOLS = tuple(
    Tool("shop", name, f"{name.replace('_', ' ').capitalize()} of a customer.")
    for name in ("list_orders", "refund_order", "send_message", "get_forecast")
)
CASES = (EvalCase("1", "refund it", (frozenset({"shop:refund_order"}),)), EvalCase("2", "mow the lawn"))


def _ignore(_what: str, _done: int, _total: int) -> None:
    """Progress that nobody looks at."""


async def searching(*cases: EvalCase, embedder: MemoryEmbedder | None = None) -> Retrieval:
    retrieval = Retrieval(
        DiscoverySettings(),
        ManualClock(),
        embedder=embedder,
        vectors=MemoryVectors(),
        report=lambda _state: None,
        cases=lambda: cases,
    )
    retrieval.update(TOOLS, {"shop": "Everything about orders."})
    await retrieval.settled()
    return retrieval


async def test_measuring_embeds_queries_and_nothing_that_is_embedded_already() -> None:
    embedder = CountingEmbedder()
    live = LiveBench.of(await searching(*CASES, embedder=embedder))
    embedder.texts.clear()
    list(live.measure(["dense", "hybrid"], _ignore, lambda: False))
    assert embedder.texts == ["warm up", "refund it", "mow the lawn"] * 2


async def test_a_session_that_searches_otherwise_is_not_what_was_measured() -> None:
    retrieval = await searching(*CASES, embedder=MemoryEmbedder())
    live = LiveBench.of(retrieval)
    assert live.is_current(retrieval)
    assert live.is_same(LiveBench.of(retrieval, live))
    retrieval.use_settings(replace(retrieval.settings, min_probability=0.5))
    assert not live.is_current(retrieval)
    again = LiveBench.of(retrieval, live)
    assert again.evalset is live.evalset
    assert not again.is_same(live)
    retrieval.update(TOOLS[:2], {})
    assert LiveBench.of(retrieval, live).evalset.tools == TOOLS[:2]


def test_refusals_and_wrong_answers_come_before_a_right_tool_at_a_low_rank() -> None:
    wanted = (frozenset({"s:a"}),)
    cases = tuple(EvalCase(str(place), "q", wanted if place != 3 else ()) for place in range(5))
    runs = (
        CaseRun("0", ("s:a",), 0.0, Answer.FOUND),
        CaseRun("1", ("s:b", "s:a"), 0.0, Answer.FOUND),
        CaseRun("2", ("s:a",), 0.0, Answer.NOTHING),
        CaseRun("3", ("s:b",), 0.0, Answer.FOUND),
        CaseRun("4", ("s:b",), 0.0, Answer.CLOSEST),
    )
    found = weakest(Run("x", "y", runs, 5), EvalSet("y", (), cases))
    assert [(weak.case.id, weak.is_refused) for weak in found] == [
        ("2", True),
        ("3", False),
        ("4", False),
        ("1", False),
    ]
