"""The totals of a session: the cost of each model call, and event counts."""

from collections.abc import Sequence
from dataclasses import dataclass

from inspector.domain.events import ModelRequested, Record, TurnEnded
from inspector.domain.fold import fold

ANSWERED = "answered"


@dataclass(frozen=True, slots=True)
class ModelCallCost:
    """One model call: its tool tokens, including `search_tools`, and how many tools were bound."""

    turn: int
    tool_tokens: int
    bound: int
    think: bool = False


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts over a whole session. `redundant` counts searches that found nothing new.

    `outcome` is `answered` if every turn was, else the outcome of the first turn that was not; "" before any
    turn has ended.
    """

    costs: tuple[ModelCallCost, ...] = ()
    searches: int = 0
    loads: int = 0
    evictions: int = 0
    calls: int = 0
    rejections: int = 0
    loops: int = 0
    redundant: int = 0
    outcome: str = ""

    @property
    def model_calls(self) -> int:
        return len(self.costs)

    @property
    def tool_tokens(self) -> int:
        """Tool tokens over all model calls."""
        return sum(cost.tool_tokens for cost in self.costs)


def totals(records: Sequence[Record]) -> Totals:
    """The totals of a session's records, counted as in the session's state."""
    state = fold(records)
    return Totals(
        costs=tuple(_cost(record.event) for record in records if isinstance(record.event, ModelRequested)),
        searches=state.searches,
        loads=state.loads,
        evictions=state.evictions,
        calls=state.calls,
        rejections=state.rejections,
        loops=state.loops,
        redundant=state.redundant,
        outcome=_outcome([record.event.outcome for record in records if isinstance(record.event, TurnEnded)]),
    )


def _cost(event: ModelRequested) -> ModelCallCost:
    return ModelCallCost(event.turn, event.tokens.tool_tokens, len(event.bound), event.think)


def _outcome(outcomes: Sequence[str]) -> str:
    return next((outcome for outcome in outcomes if outcome != ANSWERED), outcomes[0] if outcomes else "")
