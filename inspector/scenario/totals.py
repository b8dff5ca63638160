"""The totals of a session: the cost of each model call and of each turn, and event counts."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from inspector.core.budget import Prices, TokenParts
from inspector.core.events import ModelRequested, Record, TurnEnded
from inspector.core.fold import fold
from inspector.core.prompt_cache import Charge
from inspector.core.turns import ModelCall, turns
from inspector.tokens.manifest import SEARCH_TOOLS
from inspector.tokens.plan import answer_tokens, estimated, solved_steps

ANSWERED = "answered"


@dataclass(frozen=True, slots=True)
class ModelCallCost:
    """One model call: its input tokens, those of them because of tools, and how many tools were bound.

    `tool_tokens` are definitions, manifest and summaries, `search_tokens` the searches and their results in
    the conversation. `dollars` include the answer; None without prices. `message` counts the user's messages.
    With `only_follows_search` the call before it did nothing but search.
    """

    call: int
    tool_tokens: int
    bound: int
    think: bool = False
    search_tokens: int = 0
    input_tokens: int = 0
    message: int = 0
    dollars: float | None = None
    only_follows_search: bool = False

    @property
    def discovery_tokens(self) -> int:
        """Definitions and searches: all input because of tools."""
        return self.tool_tokens + self.search_tokens


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over all model calls of a session, and counts. `redundant` counts searches that found nothing new.

    `steps` counts the solved steps, see `SolvedSteps`. `outcome` is `answered` if every turn was, else the
    outcome of the first turn that was not; "" before any turn has ended.
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
    steps: int = 0

    @property
    def model_calls(self) -> int:
        return len(self.costs)

    @property
    def tool_tokens(self) -> int:
        """Tokens of definitions, manifest and summaries."""
        return sum(cost.tool_tokens for cost in self.costs)

    @property
    def discovery_tokens(self) -> int:
        """The same with the searches and their results."""
        return sum(cost.discovery_tokens for cost in self.costs)

    @property
    def input_tokens(self) -> int:
        """Everything that was sent."""
        return sum(cost.input_tokens for cost in self.costs)

    @property
    def dollars(self) -> float | None:
        """US dollars, answers included; None without prices or model calls."""
        known = [cost.dollars for cost in self.costs if cost.dollars is not None]
        return sum(known) if known else None

    @property
    def dollars_per_step(self) -> float | None:
        """US dollars for each solved step; None without prices or solved steps."""
        return self.dollars / self.steps if self.dollars is not None and self.steps else None


def totals(
    records: Sequence[Record], prices: Prices | None = None, count: Callable[[str], int] = estimated
) -> Totals:
    """The totals of a session's records, counted as in the session's state.

    `count` counts the answers whose tokens the provider did not report, by default as characters / 4.
    """
    state = fold(records)
    return Totals(
        costs=tuple(_costs(records, prices, count)),
        searches=state.searches,
        loads=state.loads,
        evictions=state.evictions,
        calls=state.calls,
        rejections=state.rejections,
        loops=state.loops,
        redundant=state.redundant,
        outcome=_outcome([record.event.outcome for record in records if isinstance(record.event, TurnEnded)]),
        steps=solved_steps(records),
    )


def _costs(
    records: Sequence[Record], prices: Prices | None, count: Callable[[str], int]
) -> Iterator[ModelCallCost]:
    for message, call, searched in _after_searches(records):
        output = 0 if call.answer is None else answer_tokens(call.answer, count)
        yield _cost(call.request, message, searched, prices, output)


def _after_searches(records: Sequence[Record]) -> Iterator[tuple[int, ModelCall, bool]]:
    """The model calls by message, each with whether the one before it did nothing but search."""
    last, searched = 0, False
    for turn in turns(records):
        searched, last = searched and turn.message == last, turn.message
        for call in turn.calls:
            yield turn.message, call, searched
            if call.answer is not None:
                wanted = call.answer.tool_calls
                searched = bool(wanted) and all(one.name == SEARCH_TOOLS for one in wanted)


def _cost(
    event: ModelRequested,
    message: int,
    searched: bool,
    prices: Prices | None,
    output: int,
) -> ModelCallCost:
    parts = event.tokens
    return ModelCallCost(
        call=event.call,
        tool_tokens=parts.tool_tokens,
        bound=len(event.bound),
        think=event.think,
        search_tokens=parts.searches,
        input_tokens=parts.input,
        message=message,
        dollars=None if prices is None else prices.cost(charged(event), event.terms, output),
        only_follows_search=searched,
    )


def charged(event: ModelRequested) -> Charge:
    """How a request's input is charged; at full price if no prompt cache is known."""
    return event.charge if event.charge.tokens else Charge(plain=event.tokens.input)


def static_parts(records: Sequence[Record]) -> TokenParts:
    """What binding every tool would have sent in this session, by the catalog at each model call.

    A model call that follows nothing but searches is left out: with every tool bound it is not needed. So
    are the searches in the conversation. `tools` are the definitions, and the rest is in its own parts.
    """
    definitions = system = history = 0
    for _, call, searched in _after_searches(records):
        if not searched:
            definitions += call.catalog.static_tokens if call.catalog is not None else 0
            system += call.request.tokens.system
            history += call.request.tokens.history
    return TokenParts(system=system, history=history, tools=definitions)


def _outcome(outcomes: Sequence[str]) -> str:
    return next((outcome for outcome in outcomes if outcome != ANSWERED), outcomes[0] if outcomes else "")
