"""Ratios and shares over clusters of cases."""

import pytest
from hypothesis import given, strategies as st

from inspector.engine.measure.clustered import clustered_ratio, clustered_share

CASES = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.floats(0, 100), st.floats(0.5, 100)), min_size=1, max_size=20
)


@given(CASES)
def test_a_ratio_is_that_of_the_sums_and_lies_in_its_interval(cases: list[tuple[str, float, float]]) -> None:
    ratio = clustered_ratio(cases)
    assert ratio is not None
    assert ratio.mean == pytest.approx(sum(case[1] for case in cases) / sum(case[2] for case in cases))
    assert ratio.low <= ratio.mean <= ratio.high
    assert ratio == clustered_ratio(cases)


def test_repeated_attempts_at_a_task_do_not_narrow_an_interval() -> None:
    once = [(str(task), float(task % 3), 1.0) for task in range(12)]
    ten = [case for case in once for _ in range(10)]
    found = clustered_ratio(once)
    assert clustered_ratio(ten) == found
    assert found is not None
    assert found.clusters == 12


def test_the_same_cases_as_tasks_of_their_own_do_narrow_it() -> None:
    attempts = [(str(task), float(task % 3), 1.0) for task in range(12) for _ in range(10)]
    apart = [(f"{task}-{number}", above, below) for number, (task, above, below) in enumerate(attempts)]
    together, separate = clustered_ratio(attempts), clustered_ratio(apart)
    assert together is not None
    assert separate is not None
    assert separate.half_width < together.half_width / 2


def test_nothing_to_divide_by_has_no_ratio() -> None:
    assert clustered_ratio([]) is None
    assert clustered_ratio([("a", 1.0, 0.0)]) is None
    assert clustered_share([]) is None


def test_a_share_on_which_all_tasks_agree_is_still_uncertain() -> None:
    share = clustered_share((str(task), True) for task in range(10) for _ in range(5))
    assert share is not None
    # Wilson's interval for 10 of 10, as in Brown, Cai & DasGupta 2001, table 4.
    assert (round(share.low, 3), share.mean, share.high) == (0.722, 1.0, 1.0)
