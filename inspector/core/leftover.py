"""Processes that an earlier run left: what is known of each, and the question what becomes of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from inspector.core.number import count
from inspector.core.question import Option, Question
from inspector.core.report import Fact, Facts


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

    @property
    def facts(self) -> Facts:
        """Its command, when its server was started, and the processes that would be ended."""
        pids = ", ".join(map(str, self.pids)) + "  (detached from its server)" * self.detached
        facts = (
            Fact("command", self.command),
            Fact("started", f"{datetime.fromtimestamp(self.since, UTC):%Y-%m-%d %H:%M} UTC"),
            Fact("pids" if len(self.pids) > 1 else "pid", pids),
        )
        return Facts(facts, self.server)


LEFT = "Left running by an earlier session"
END, KEEP = "end", "keep"
_HEAD = (
    "Toolsight was killed, or these processes outlived their server. “end them” sends SIGTERM, then SIGKILL."
)
_OPTIONS = Option(END, "end them"), Option(KEEP, "leave them running"), Option("no", "not now")


def leftover_question(found: Sequence[Leftover]) -> Question:
    """What becomes of what was found."""
    return Question(LEFT, (_HEAD, *(one.facts for one in found)), _OPTIONS)


def ended_text(left: Sequence[Leftover], asked: Sequence[Leftover]) -> str:
    """What came of ending them, as a sentence."""
    if left:
        pids = ", ".join(str(pid) for one in left for pid in one.pids)
        return f"Still running after being killed: {pids}."
    return f"Ended processes left behind by {count(len(asked), 'server')}."
