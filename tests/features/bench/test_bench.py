"""Runs of rankers over labelled requests, their summaries, comparisons and reports."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest
from msgspec.structs import replace

from inspector.access.reach import EvalCase, EvalSet
from inspector.core.number import Share
from inspector.core.ranking import Answer, Score
from inspector.core.tool import Tool
from inspector.features.bench.run import Run, Summary, run_bench, summarise
from inspector.search.answer.metric import Estimate
from inspector.search.answer.search import SearchRules
from inspector.search.index.tool_index import ToolIndex
from inspector.search.ranker.ranker import Ranking
from tests.support.fakes import ManualClock

LETTERS = "abcdefghijkl"
TOOLS = tuple(Tool("s", letter) for letter in LETTERS)
CLOCK = ManualClock()
RULES = SearchRules(threshold=0.5, closest_threshold=0.2)


class TableRanker:
    """Scores each letter of a query's text by a table; what has no score is not kept."""

    name = "table"

    def __init__(
        self,
        tables: Mapping[str, Mapping[str, float]],
        *,
        probability: float | None = None,
        seconds: Sequence[float] = (),
    ) -> None:
        self._tables = tables
        self._probability = probability
        self._seconds = list(seconds)

    def terms(self, query: str) -> tuple[str, ...]:
        return (query,)

    def rank(self, query: str) -> Ranking:
        if self._seconds:
            CLOCK.advance(self._seconds.pop(0))
        table = self._tables.get(query, {})
        values = np.array([table.get(letter, 99.0) for letter in LETTERS])
        kept = np.array([letter in table for letter in LETTERS])
        fit = None if self._probability is None else np.full(len(values), self._probability)
        return Ranking(values, kept, lambda place: Score(TOOLS[place].id, float(values[place])), fit)


def case(query: str, *needed: str) -> EvalCase:
    return EvalCase(f"id-{query}", query, tuple(frozenset({f"s:{letter}"}) for letter in needed))


def bench(
    ranker: TableRanker,
    *cases: EvalCase,
    tools: Sequence[Tool] = TOOLS,
    rules: SearchRules = RULES,
    depth: int = 10,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Run:
    return run_bench(
        ranker,
        EvalSet("letters", tuple(tools), cases),
        ToolIndex(tools),
        rules=rules,
        clock=CLOCK,
        progress=progress,
        cancelled=cancelled,
        depth=depth,
    )


def measured(ranker: TableRanker, *cases: EvalCase, depth: int = 10) -> Run:
    return bench(ranker, *cases, depth=depth)


def summary_of(ranker: TableRanker, *cases: EvalCase) -> Summary:
    return summarise(measured(ranker, *cases), EvalSet("letters", TOOLS, cases))


def mean(value: Estimate | None) -> float:
    assert value is not None
    return value.mean


def test_only_kept_tools_are_ranked_even_where_others_score_higher() -> None:
    (done,) = measured(TableRanker({"q": {"b": 1, "d": 2}}), case("q", "b")).cases
    assert done.ranked == ("s:d", "s:b")


@pytest.mark.parametrize(
    ("probability", "answer", "returned"),
    [(None, "found", 5), (0.19, "nothing", 0), (0.2, "closest", 5), (0.49, "closest", 5), (0.5, "found", 5)],
)
def test_a_bench_returns_what_a_search_returns_whatever_the_ranking(
    probability: float | None, answer: str, returned: int
) -> None:
    table = {letter: 20.0 - number for number, letter in enumerate(LETTERS)}
    (done,) = measured(TableRanker({"q": table}, probability=probability), case("q", "a")).cases
    assert (done.answer, done.probability) == (answer, probability)
    assert done.returned == tuple(tool.id for tool in TOOLS[:returned])
    assert done.ranked == tuple(tool.id for tool in TOOLS[:10])


def test_a_tool_is_delivered_where_it_is_returned_and_not_where_it_only_ranks() -> None:
    table = {letter: 20.0 - number for number, letter in enumerate(LETTERS)}
    ranker = TableRanker({"q": table, "r": table, "t": table})
    cases = (case("q", "a"), case("r", "h"), case("t", "e", "h"))
    summary = summarise(
        bench(ranker, *cases, rules=replace(RULES, limit=8)), EvalSet("letters", TOOLS, cases)
    )
    assert (mean(summary.delivered_5), mean(summary.delivered), mean(summary.returned)) == (0.5, 1, 8)
    summary = summary_of(ranker, *cases)
    assert (mean(summary.delivered), mean(summary.recall_10), mean(summary.returned)) == (0.5, 1, 5)


def test_a_cancelled_run_keeps_what_it_has_and_says_that_it_is_not_complete() -> None:
    evalset = EvalSet("letters", TOOLS, (case("q", "a"), case("r", "b"), case("t", "c")))
    told: list[int] = []
    run = bench(
        TableRanker({"q": {"a": 1}}),
        *evalset.cases,
        progress=lambda done, _: told.append(done),
        cancelled=lambda: len(told) == 1,
    )
    assert [done.id for done in run.cases] == ["id-q"]
    assert not run.is_complete
    assert summarise(run, evalset).cases == 1


def test_the_answers_to_possible_and_impossible_requests_are_counted_apart() -> None:
    ranker = TableRanker({"q": {"a": 1}, "x": {"b": 1}})
    summary = summary_of(ranker, case("q", "a"), case("r", "a"), case("x"), case("y"), case("z"))
    assert summary.answers["impossible"] == {
        Answer.FOUND: Share(1, 3, 3.0),
        Answer.CLOSEST: Share(0, 3, 3.0),
        Answer.NOTHING: Share(2, 3, 3.0),
    }
    refused = summary.share("possible", Answer.NOTHING)
    assert refused is not None
    assert (refused.count, refused.total) == (1, 2)
    assert refused.value == 0.5
