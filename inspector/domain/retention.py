"""Which sessions are given up: too old, or too many, the oldest first (paper, section 6.4)."""

from collections.abc import Sequence
from typing import Protocol

DAY = 24 * 60 * 60.0


class Aged(Protocol):
    """A session; `ended_at` is the time of its last event in seconds since 1970."""

    @property
    def id(self) -> str: ...

    @property
    def ended_at(self) -> float: ...


def overdue(sessions: Sequence[Aged], *, max_count: int, max_days: float, now: float) -> tuple[str, ...]:
    """The ids to give up, the oldest first; a limit of 0 is none."""
    by_age = sorted(sessions, key=lambda session: (session.ended_at, session.id))
    old = [one.id for one in by_age if max_days and now - one.ended_at > max_days * DAY]
    kept = by_age[len(old) :]
    many = [one.id for one in kept[: max(len(kept) - max_count, 0)]] if max_count else []
    return (*old, *many)
