from collections.abc import Callable, Sequence
from random import Random

import numpy as np
import pytest
from hypothesis import given, strategies as st
from pytrec_eval_ext import RelevanceEvaluator

from inspector.core.number import percentile
from inspector.search.answer.metric import Groups, hit_at, ndcg_at, recall_at, reciprocal_rank

ids = st.sampled_from([f"s:t{number}" for number in range(25)])
rankings = st.lists(ids, unique=True, max_size=20)
labels = st.lists(st.frozensets(ids, min_size=1, max_size=4), min_size=1, max_size=6)
cuts = st.integers(1, 15)


def one(*members: str) -> frozenset[str]:
    return frozenset(members)


def every_metric(k: int, ranked: Sequence[str], relevant: Groups) -> list[float]:
    measures = [measure(k, ranked, relevant) for measure in (hit_at, recall_at, ndcg_at)]
    return [*measures, reciprocal_rank(ranked, relevant)]


@given(rankings.filter(bool), st.frozensets(ids, min_size=1, max_size=6), cuts)
def test_for_single_tools_the_metrics_are_those_of_trec_eval(
    ranked: list[str], relevant: frozenset[str], k: int
) -> None:
    measures = {f"success.{k}", f"recall.{k}", f"ndcg_cut.{k}", "recip_rank"}
    evaluator = RelevanceEvaluator({"q": dict.fromkeys(sorted(relevant), 1)}, measures)
    scores = {tool_id: float(-place) for place, tool_id in enumerate(ranked)}
    expected = evaluator.evaluate({"q": scores})["q"]
    groups = [one(tool_id) for tool_id in relevant]
    assert hit_at(k, ranked, groups) == pytest.approx(expected[f"success_{k}"], abs=1e-9)
    assert recall_at(k, ranked, groups) == pytest.approx(expected[f"recall_{k}"], abs=1e-9)
    assert ndcg_at(k, ranked, groups) == pytest.approx(expected[f"ndcg_cut_{k}"], abs=1e-9)
    assert reciprocal_rank(ranked, groups) == pytest.approx(expected["recip_rank"], abs=1e-9)


@given(cuts, rankings, labels, st.randoms(use_true_random=False))
def test_neither_the_order_of_the_groups_nor_a_repeated_group_matters(
    k: int, ranked: list[str], relevant: list[frozenset[str]], random: Random
) -> None:
    shuffled = [*relevant, relevant[0]]
    random.shuffle(shuffled)
    assert every_metric(k, ranked, shuffled) == every_metric(k, ranked, relevant)


@given(st.lists(ids, unique=True, min_size=1, max_size=12), cuts)
def test_a_list_that_starts_with_every_needed_tool_is_perfect(needed: list[str], k: int) -> None:
    assert ndcg_at(k, [*needed, "other"], [one(tool_id) for tool_id in needed]) == pytest.approx(1)


def test_one_tool_that_serves_two_groups_is_no_better_than_perfect() -> None:
    assert ndcg_at(10, ["a"], [one("a"), one("a", "b")]) == 1


@pytest.mark.parametrize("measure", [hit_at, recall_at, ndcg_at])
def test_nothing_is_defined_for_a_request_that_no_tool_fits(
    measure: Callable[[int, Sequence[str], Groups], float],
) -> None:
    with pytest.raises(ValueError, match="no tool fits"):
        measure(10, ["a"], [])
    with pytest.raises(ValueError, match="no tool fits"):
        reciprocal_rank(["a"], [])


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=40), st.floats(0, 1))
def test_percentiles_are_those_of_numpy(values: list[float], share: float) -> None:
    assert percentile(values, share) == pytest.approx(float(np.percentile(values, share * 100)), abs=1e-6)
