"""Ratios over clusters of cases."""

import pytest
from hypothesis import given, strategies as st

from inspector.measure.bootstrap import ratio_estimate

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


def test_the_same_cases_as_tasks_of_their_own_do_narrow_it() -> None:
    attempts = [(str(task), float(task % 3), 1.0) for task in range(12) for _ in range(10)]
    apart = [(f"{task}-{number}", above, below) for number, (task, above, below) in enumerate(attempts)]
    together, separate = ratio_estimate(attempts), ratio_estimate(apart)
    assert together is not None
    assert separate is not None
    assert separate.half_width < together.half_width / 2


def test_nothing_to_divide_by_has_no_ratio() -> None:
    assert ratio_estimate([]) is None
    assert ratio_estimate([("a", 1.0, 0.0)]) is None


def test_a_single_task_says_as_little_as_its_attempts_differ() -> None:
    found = ratio_estimate([("a", 1.0, 2.0), ("a", 3.0, 2.0), ("a", 9.0, 0.0)])
    assert found is not None
    assert (found.low, found.mean, found.high) == (0.5, 3.25, 3.25)
