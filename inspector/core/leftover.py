"""What a server of an earlier run left running."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from inspector.core.number import count


@dataclass(frozen=True, slots=True)
class Leftover:
    """The processes of one start of a server, by `pids`.

    `id` names it among leftovers; `command` is its first process's, without secrets; `since` is when the
    server was started, in seconds since 1970, UTC. A `detached` one is only what left the server's process
    group, as a daemon does, perhaps to stay.
    """

    id: str
    server: str
    command: str
    since: float
    pids: tuple[int, ...]
    detached: bool = False


def since_text(leftover: Leftover) -> str:
    """When its server was started."""
    return f"{datetime.fromtimestamp(leftover.since, UTC):%Y-%m-%d %H:%M} UTC"


def ended_text(left: Sequence[Leftover], asked: Sequence[Leftover]) -> str:
    """What came of ending them, as a sentence."""
    if left:
        pids = ", ".join(str(pid) for one in left for pid in one.pids)
        return f"Still running after being killed: {pids}."
    return f"Ended processes left behind by {count(len(asked), 'server')}."
