"""Times as people read them, in UTC: of any number that is stored, also of one that no calendar has."""

from datetime import UTC, datetime

LAST = 253_402_300_799.0
"""The last second of the year 9999, in seconds since 1970: no time that a calendar has is later."""

_UNKNOWN = "?"


def shown_moment(seconds: float, form: str = "%Y-%m-%d %H:%M") -> str:
    """A time in seconds since 1970; `?` for a number that is no time."""
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):{form}}"
    except (ValueError, OverflowError, OSError):
        return _UNKNOWN
