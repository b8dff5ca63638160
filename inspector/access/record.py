"""Which recorded sessions a restricted user may read: those that were recorded of that user."""

from collections.abc import Sequence

from inspector.core.access import Sight
from inspector.core.error import ToolsightError
from inspector.core.events import Failed, Record, SessionStarted
from inspector.core.store_ports import SessionSummary


def own_sessions(found: Sequence[SessionSummary], sight: Sight, now: str) -> list[SessionSummary]:
    """Those of the same user through the same expert, and the running one, whose id is `now`."""
    return [one for one in found if one.id == now or _is_own(one.user, one.expert, sight)]


def is_of(records: Sequence[Record], sight: Sight) -> bool:
    """Whether a session, by its first events, is one of the user's."""
    first = [record.event for record in records if isinstance(record.event, SessionStarted)]
    return bool(first) and _is_own(first[0].user, first[0].expert, sight)


def unreadable(error: ToolsightError, sight: Sight) -> Failed:
    """That the policy could not be read again; what is wrong in it is for who may see all of it."""
    if sight.is_whole:
        return Failed("access", error.message, error.hint)
    return Failed("access", "the policy cannot be read; the previous one still applies")


def _is_own(user: str, expert: str, sight: Sight) -> bool:
    return bool(sight.user) and (user, expert) == (sight.user, sight.expert)
