"""Times are shown whatever number is stored."""

import math

import pytest
from hypothesis import given, strategies as st

from inspector.core.number import LAST, shown_moment


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.0, "1970-01-01 00:00"), (LAST, "9999-12-31 23:59"), (9e15, "?"), (math.nan, "?")],
)
def test_a_time_that_no_calendar_has_is_a_question_mark(seconds: float, shown: str) -> None:
    assert shown_moment(seconds) == shown


@given(st.floats() | st.integers(-(2**70), 2**70).map(float))
def test_every_stored_number_can_be_shown(seconds: float) -> None:
    assert shown_moment(seconds, "%H:%M:%S")
