"""Decides which recorded sessions to delete: too old or too many, oldest first (paper, section 6.4)."""

from collections.abc import Sequence
from dataclasses import dataclass

DAY = 24 * 60 * 60.0


@dataclass(frozen=True, slots=True)
class SessionAge:
    """A recorded session; `ended_at` is the time of its last event, in seconds since 1970, UTC."""

    id: str
    ended_at: float


def overdue(
    sessions: Sequence[SessionAge], *, max_count: int, max_days: float, now: float
) -> tuple[str, ...]:
    """The ids of the sessions to delete, oldest first; a limit of 0 means no limit."""
    by_age = sorted(sessions, key=lambda session: (session.ended_at, session.id))
    too_old = [session.id for session in by_age if max_days and now - session.ended_at > max_days * DAY]
    kept = by_age[len(too_old) :]
    too_many = [session.id for session in kept[: max(len(kept) - max_count, 0)]] if max_count else []
    return (*too_old, *too_many)
