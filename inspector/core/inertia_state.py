"""What was predicted in a session, and what came of it."""

from dataclasses import dataclass

from inspector.core.events import NextPredicted


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
