"""Numbers are written in one way, short, and never with more digits than they say."""

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, strategies as st

from docs.papers.report import percent_down
from inspector.core.number import (
    LAST,
    bar,
    count,
    duration,
    large_saving,
    milliseconds,
    money,
    money_decimals,
    ordinal,
    percent,
    saving,
    shown_moment,
    signed,
    signed_percent,
    tokens,
)

amounts = st.floats(1e-7, 1e6)

SHOWN: dict[Callable[..., str], dict[Any, str]] = {
    lambda number: count(number, "tool"): {0: "0 tools", 1: "1 tool", 1200: "1,200 tools"},
    lambda number: count(number, "search", "searches"): {1: "1 search", 2: "2 searches"},
    ordinal: {1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 21: "21st", 113: "113th"},
    saving: {
        0.78: "78 % less",
        0.0: "0 % less",
        -0.12: "12 % more",
        -6.03: "7 times as much",
        -1.5: "2.5 times as much",
    },
    large_saving: {0.78: "78%", -0.12: "12%", -6.03: "7×", -40: "41×"},
    # Two digits that say something.
    tokens: {
        212: "212",
        4096: "4.1k",
        4000: "4.0k",
        99_960: "100k",
        128_000: "128k",
        999_960: "1.0M",
        1_240_000: "1.2M",
        -2500: "-2.5k",
    },
    # Cents, and below a dollar two digits.
    money: {
        0: "$0.00",
        12.5: "$12.50",
        1234.5: "$1,234.50",
        0.012: "$0.012",
        0.0999: "$0.10",
        0.000045: "$0.000045",
        -0.25: "-$0.25",
    },
    percent: {0.784: "78 %", 0: "0 %", -0.05: "-5 %", 1: "100 %"},
    percent_down: {0.95: "95.0 %", 0.9499: "94.9 %", 1.0: "100.0 %", 0.97: "97.0 %"},
    # A sign, unless it is nothing.
    signed: {1204: "+1,204", 0: "0"},
    lambda value: signed(value, 3): {-0.042: "-0.042", -0.0004: "0.000"},
    signed_percent: {0.12: "+12 %", -0.04: "-4 %", 0.001: "0 %"},
    milliseconds: {0: "0 ms", 0.04: "0.04 ms", 6.4: "6 ms", 999.7: "1.0 s", 1240: "1.2 s"},
    duration: {0.4: "0 s", 9.6: "10 s", 59.7: "1 min", 600: "10 min", 9000: "2.5 h"},
    lambda share: bar(share, 10): {0: "", 0.05: "▌", 0.5: "█████", 1: "█" * 10, 2: "█" * 10, -1: ""},
    # A time that no calendar has is a question mark.
    shown_moment: {0.0: "1970-01-01 00:00", LAST: "9999-12-31 23:59", 9e15: "?", math.nan: "?"},
}


@pytest.mark.parametrize(
    ("shows", "number", "shown"),
    [(shows, number, shown) for shows, all_shown in SHOWN.items() for number, shown in all_shown.items()],
)
def test_a_number_is_shown_as_people_write_it(shows: Callable[..., str], number: float, shown: str) -> None:
    assert shows(number) == shown


@given(st.lists(amounts, min_size=1, max_size=5))
def test_a_column_of_money_has_as_many_decimals_as_its_least_amount(dollars: list[float]) -> None:
    decimals = money_decimals(dollars)
    assert decimals == money_decimals([min(dollars)])
    assert {len(money(amount, decimals).partition(".")[2]) for amount in dollars} == {decimals}


@given(st.floats(0, 2))
def test_a_share_that_is_cut_never_looks_like_more_than_it_is(share: float) -> None:
    assert float(percent_down(share).removesuffix(" %")) <= share * 100 + 1e-6
