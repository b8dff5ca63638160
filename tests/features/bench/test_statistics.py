"""Intervals, tests and claims."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from inspector.access.reach import EvalCase, EvalSet
from inspector.core.number import Share, wilson
from inspector.core.ranking import Answer
from inspector.features.bench.ranker_bench import Measured, Row, difference, standings
from inspector.features.bench.run import CaseRun, Run, summarise
from inspector.features.lab.runs.recorded_agent import OtherRuns, session_of
from inspector.mcp.recorded_link import RecordedCall, RecordedMessage, RecordedRun, RecordedStep
from inspector.search.answer.metric import (
    clusters,
    estimate,
    holm,
    p_value,
    ratio_estimate,
)


def case(number: int, *tools: str) -> EvalCase:
    return EvalCase(f"{number}", f"q{number}", tuple(frozenset({tool}) for tool in tools))


def _done(case_id: str, tools: tuple[str, ...]) -> CaseRun:
    return CaseRun(case_id, tools, 0.0, Answer.FOUND if tools else Answer.NOTHING, tools)


def run_of(name: str, cases: list[EvalCase], hits: list[bool]) -> Run:
    """A run whose first tool is right where `hits` says so, and that finds nothing elsewhere."""
    ranked = [(min(one.relevant[0]),) if hit else () for one, hit in zip(cases, hits, strict=True)]
    done = tuple(_done(one.id, tools) for one, tools in zip(cases, ranked, strict=True))
    return Run(name, "set", done, len(cases))


def measured(name: str, cases: list[EvalCase], hits: list[bool]) -> Measured:
    run, evalset = run_of(name, cases, hits), EvalSet("set", (), tuple(cases))
    return Measured(Row("set", name, summarise(run, evalset), 0), run, evalset)


# Shares


def test_wilson_by_hand() -> None:
    """8 of 10: Newcombe 1998, table I, has 0.4902 to 0.9433."""
    assert wilson(0.8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert (Share(8, 10).low, Share(8, 10).high) == wilson(0.8, 10)


# Clusters


def test_cases_that_need_the_same_tool_are_one_cluster() -> None:
    found = clusters([case(1, "a"), case(2, "b"), case(3, "b", "c"), case(4, "c", "d"), case(5), case(6)])
    assert found[1] == found[2] == "tool b"
    assert len(set(found)) == 5
    # b links 2 to 3 and c links 3 to 4: a chain is no cluster.
    assert found[3] == "tool c"


@given(st.lists(st.floats(0, 1), min_size=8, max_size=12, unique=True))
def test_an_interval_clustered_by_tool_is_wider_where_cases_repeat_each_other(numbers: list[float]) -> None:
    """Every case four times tells no more than once."""
    four = [number for number in numbers for _ in range(4)]
    names = [place for place, _ in enumerate(numbers) for _ in range(4)]
    clustered, once = estimate(four, names), estimate(numbers)
    assert clustered.half_width == pytest.approx(once.half_width)
    assert clustered.half_width >= estimate(four).half_width
    assert clustered.clusters == len(numbers)


def test_a_summary_clusters_its_means_and_shares_by_tool() -> None:
    """Ten requests for each of four tools: two tools are always found, two never."""
    cases = [case(number, "abcd"[number % 4]) for number in range(40)]
    found = summarise(
        run_of("r", cases, [number % 4 < 2 for number in range(40)]), EvalSet("s", (), tuple(cases))
    )
    assert found.hit_1 is not None
    assert found.ndcg_10 is not None
    assert (found.hit_1.clusters, found.ndcg_10.clusters) == (4, 4)
    nothing = found.answers["possible"][Answer.NOTHING]
    alone = Share(nothing.count, nothing.total)
    assert nothing.high - nothing.low > 2 * (alone.high - alone.low)


# Paired tests


def test_a_paired_test_by_hand() -> None:
    """Of 2^5 signs of five equal differences, two give as large a sum."""
    assert p_value([1.0] * 5) == pytest.approx(2 / 32)
    assert p_value([0.0] * 5) == 1.0
    assert p_value([0.5, -0.5]) == 1.0


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=8))
def test_a_small_paired_test_tries_every_sign(numbers: list[int]) -> None:
    sums = [
        abs(sum(s * n for s, n in zip(signs, numbers, strict=True)))
        for signs in product((1, -1), repeat=len(numbers))
    ]
    assert p_value([float(n) for n in numbers]) == pytest.approx(
        np.mean([one >= abs(sum(numbers)) for one in sums])
    )


def test_requests_for_one_tool_count_once_in_a_paired_test() -> None:
    assert p_value([1.0] * 20) < 0.001
    assert p_value([1.0] * 20, ["a"] * 10 + ["b"] * 10) == pytest.approx(0.5)


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx((0.03, 0.06, 0.06))
    assert holm([]) == ()


def test_a_ranking_claim_names_who_is_worse_and_who_cannot_be_told() -> None:
    cases = [case(number, f"t{number}") for number in range(40)]
    best, close, bad = [True] * 40, [True] * 38 + [False] * 2, [False] * 40
    tests = [measured("bad", cases, bad), measured("best", cases, best), measured("close", cases, close)]
    (found,) = standings(tests)
    assert (found.best, found.tied) == ("best", ("close",))
    (worse,) = [other for other in found.others if other.is_worse]
    assert worse.ranker == "bad"
    assert worse.difference.mean.mean == -1.0


def test_a_claim_that_rests_on_one_tool_is_none() -> None:
    """Forty requests, but all for the same tool: one success says nothing about others."""
    cases = [case(number, "only") for number in range(40)]
    found = difference(
        run_of("a", cases, [False] * 40), run_of("b", cases, [True] * 40), EvalSet("s", (), tuple(cases))
    )
    assert found is not None
    assert not found.is_significant


def test_a_lone_or_cancelled_ranker_has_no_standing() -> None:
    cases = [case(1, "a"), case(2, "b")]
    assert standings([measured("a", cases, [True, True])]) == ()
    part = measured("b", cases, [True, True])
    stopped = Measured(part.row, Run("b", "set", part.run.cases, 3), part.evalset)
    assert standings([measured("a", cases, [True, True]), stopped]) == ()


CASES = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.floats(0, 100), st.floats(0.5, 100)), min_size=1, max_size=20
)


@given(CASES)
def test_a_ratio_is_that_of_the_sums_and_lies_in_its_interval(cases: list[tuple[str, float, float]]) -> None:
    ratio = ratio_estimate(cases)
    assert ratio is not None
    assert ratio.mean == pytest.approx(sum(case[1] for case in cases) / sum(case[2] for case in cases))
    assert ratio.low <= ratio.mean <= ratio.high
    assert ratio == ratio_estimate(cases)


def test_repeated_attempts_at_a_task_do_not_narrow_an_interval() -> None:
    once = [(str(task), float(task % 3), 1.0) for task in range(12)]
    ten = [case for case in once for _ in range(10)]
    found = ratio_estimate(once)
    assert ratio_estimate(ten) == found
    assert found is not None
    assert found.clusters == 12


def run(name: str, task: str, *tools: str, model: str = "") -> RecordedRun:
    steps = tuple(RecordedStep(calls=(RecordedCall(tool, server="s"),)) for tool in tools)
    return RecordedRun(name, task, (RecordedMessage("go", steps),), model=model)


def test_played_runs_learn_from_every_task_but_their_own() -> None:
    runs = [run("1", "t", "a"), run("2", "t", "b"), run("3", "u", "c", "a")]
    (task,) = OtherRuns(runs).tasks(but=session_of(runs[0]))
    assert [tool for tool, _ in task.calls] == ["s:c", "s:a"]
    calls = list(OtherRuns(runs).successful_calls(but=session_of(runs[0])))
    assert [call.tool for call in calls] == ["s:c", "s:a"]
