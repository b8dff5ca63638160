"""Reads when an HTTP server wants to be asked again (RFC 9110, section 10.2.3)."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_SECONDS = re.compile(r"[0-9]+")
# A year: nobody waits longer, and a header of a thousand digits is no number of seconds.
_LONGEST = 365 * 24 * 60 * 60.0
_DIGITS = len(str(int(_LONGEST)))


def retry_after(headers: Mapping[str, str], now: Callable[[], datetime] | None = None) -> float | None:
    """The seconds that `Retry-After` names, at most a year; None without a header that can be read.

    A date is compared with the `Date` of the same answer, since the clocks of two machines differ; without
    one, with the time `now`.
    """
    text = headers.get("retry-after", "").strip()
    if _SECONDS.fullmatch(text):
        digits = text.lstrip("0")
        return _LONGEST if len(digits) > _DIGITS else min(float(digits or 0), _LONGEST)
    until = _date(text)
    if until is None:
        return None
    sent = _date(headers.get("date", "")) or (now or _now)()
    return min(max((until - sent).total_seconds(), 0.0), _LONGEST)


def _now() -> datetime:
    return datetime.now(UTC)


def _date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    # `-0000` says that the zone is unknown; HTTP knows UTC only.
    return date if date.tzinfo is not None else date.replace(tzinfo=UTC)
