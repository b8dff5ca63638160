"""Calls of earlier sessions, and what was predicted of the next one."""

from dataclasses import dataclass

from inspector.core.events import NextPredicted

OWN_PERSONA = "toolsight"
"""The persona of Toolsight's own sessions without a toolset or a name of its own."""


@dataclass(frozen=True, slots=True)
class TaskCalls:
    """The tools called for one message of the user in order, each with its time in seconds since 1970."""

    persona: str
    calls: tuple[tuple[str, float], ...]


def server_of(tool: str) -> str:
    """The server of a tool's id."""
    return tool.partition(":")[0]


@dataclass(frozen=True, slots=True)
class PastCall:
    """A call of a tool that succeeded, after a request. `at` is in seconds since 1970, UTC.

    `request` is "" where nobody tells it; `persona` is whose habits the session showed then.
    """

    tool: str
    request: str
    at: float
    persona: str = OWN_PERSONA


@dataclass(frozen=True, slots=True)
class Viewer:
    """Whose past calls count: the user's, through the same expert or through none; never an empty user's."""

    user: str
    expert: str = ""

    def has(self, user: str, expert: str) -> bool:
        """Whether a session that was recorded so is one of the viewer's."""
        return bool(self.user) and user == self.user and expert in ("", self.expert)


@dataclass(frozen=True, slots=True)
class Hits:
    """Of the first uses of a tool that were predicted, how many each rule named first, and among its first 3.

    `order_1` says what follows the last call, the others are what it has to beat.
    """

    first_uses: int = 0
    order_1: tuple[int, int] = (0, 0)
    most_used: tuple[int, int] = (0, 0)
    same_server: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class InertiaState:
    """Predictions and what came of them. `called` is the model's last call for the current message.

    `predicted` is the newest prediction; `ahead` are the tools that were bound ahead, `used` those of them
    that were then called.
    """

    called: str = ""
    predicted: NextPredicted | None = None
    hits: Hits = Hits()
    ahead: frozenset[str] = frozenset()
    used: frozenset[str] = frozenset()
