"""Short pieces of work on several processors."""

import threading

import numpy as np
import pytest
from hypothesis import given, strategies as st

from inspector.search import vector_table
from inspector.search.metric import side_by_side
from inspector.search.vector_table import similarities


@given(st.lists(st.integers()))
def test_results_come_in_the_order_of_the_items(items: list[int]) -> None:
    assert side_by_side(str, items) == [str(item) for item in items]


def test_an_error_is_raised_where_the_work_was_asked_for() -> None:
    with pytest.raises(ZeroDivisionError):
        side_by_side(lambda item: 1 // item, [1, 0, 1])


def test_a_single_item_stays_in_this_thread() -> None:
    assert side_by_side(lambda _item: threading.current_thread(), [1]) == [threading.current_thread()]


def test_a_table_compared_by_several_threads_has_the_same_cosines(monkeypatch: pytest.MonkeyPatch) -> None:
    source = np.random.default_rng(3)
    matrices = [source.standard_normal((rows, 16), np.float32) for rows in (5, 1, 7, 3)]
    vectors = source.standard_normal((2, 16), np.float32)
    alone = similarities(matrices, vectors)
    monkeypatch.setattr(vector_table, "_WORTH_SHARING", 0)
    assert similarities(matrices, vectors).tolist() == alone.tolist()
    assert alone == pytest.approx(vectors @ np.concatenate(matrices).T, abs=1e-5)
