"""The header Retry-After, as seconds or as a date (RFC 9110, section 10.2.3)."""

from datetime import UTC, datetime

import pytest

from inspector.mcp.client.http import retry_after

YEAR = 365 * 24 * 60 * 60.0
DATE = "Fri, 31 Dec 1999 23:59:59 GMT"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("120", 120.0), (" 0 ", 0.0), ("007", 7.0), ("9" * 400, YEAR), ("99999999999", YEAR)],
)
def test_seconds_are_read_and_a_year_is_enough(text: str, seconds: float) -> None:
    assert retry_after({"retry-after": text}) == seconds


def test_a_date_is_compared_with_the_clock_of_the_server_that_sent_it() -> None:
    sent = "Fri, 31 Dec 1999 23:59:29 GMT"
    assert retry_after({"retry-after": DATE, "date": sent}) == 30.0
    assert retry_after({"retry-after": sent, "date": DATE}) == 0.0


def test_without_such_a_clock_it_is_compared_with_ours() -> None:
    now = datetime(1999, 12, 31, 23, 59, 49, tzinfo=UTC)
    assert retry_after({"retry-after": DATE}, lambda: now) == 10.0
    assert retry_after({"retry-after": "Friday, 31-Dec-99 23:59:59 GMT"}, lambda: now) == 10.0


def test_no_header_is_no_time() -> None:
    assert retry_after({}) is None
