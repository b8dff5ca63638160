"""One run in a race, folded from its records: what was sent so far, and what the last model call led to."""

from dataclasses import dataclass, replace

from inspector.domain.events import (
    BudgetMeasured,
    CallFinished,
    CallRejected,
    Event,
    Failed,
    LoopDetected,
    ModelRequested,
    ModelResponded,
    ModelSwitched,
    SearchPerformed,
    SessionStarted,
    SettingsChanged,
    TurnEnded,
    UserSaid,
)
from inspector.domain.price import Prices
from inspector.domain.prompt_cache import Charge
from inspector.engine.scenario.totals import ANSWERED

_LONGEST = 400


@dataclass(frozen=True, slots=True)
class Lane:
    """One run so far. All tokens are input tokens, and all but `present` are totals over its model calls.

    `tool_tokens` counts definitions, manifest and summaries, `search_tokens` searches and their results,
    `input_tokens` everything sent. `billed` is the latter in input tokens at full price, as a prompt cache
    charges it, and `dollars` its cost; both are None if unknown. `present` counts the tool and search tokens
    of the last model call, `bound` the tools in it. `last` says on one line what that call led to, as raw
    text. `outcome` is `answered` while every user message was answered, else the outcome of the first that
    was not; "" before the first has ended.
    """

    profile: str = ""
    model: str = ""
    tokenizer: str = ""
    message: int = 0
    calls: int = 0
    searches: int = 0
    bound: int = 0
    present: int = 0
    tool_tokens: int = 0
    search_tokens: int = 0
    input_tokens: int = 0
    billed: float | None = None
    dollars: float | None = None
    last: str = ""
    outcome: str = ""
    is_over: bool = False

    @property
    def tokens(self) -> int:
        """Tokens sent because of tools: their definitions and the searches that found them."""
        return self.tool_tokens + self.search_tokens

    @property
    def has_cache(self) -> bool:
        """Whether a prompt cache makes a difference."""
        return self.billed is not None and round(self.billed) != self.input_tokens


def lane_after(lane: Lane, event: Event, prices: Prices | None = None) -> Lane:
    """The lane after one more event; `prices` convert its tokens to dollars."""
    match event:
        case ModelRequested():
            return _requested(lane, event, prices)
        case SessionStarted() | ModelSwitched():
            return replace(
                lane, model=event.model_label if isinstance(event, SessionStarted) else event.label
            )
        case SettingsChanged():
            return replace(lane, profile=event.profile)
        case BudgetMeasured():
            return replace(lane, tokenizer=event.budget.tokenizer.label)
        case UserSaid():
            return replace(lane, message=lane.message + 1)
        case TurnEnded():
            return lane if lane.outcome not in ("", ANSWERED) else replace(lane, outcome=event.outcome)
        case SearchPerformed(by="model"):
            lane = replace(lane, searches=lane.searches + 1)
    news = _news(event)
    return replace(lane, last=f"{lane.last}, {news}" if lane.last else news) if news else lane


def _requested(lane: Lane, event: ModelRequested, prices: Prices | None) -> Lane:
    parts = event.tokens
    charge = event.charge if event.charge.tokens else Charge(plain=parts.input)
    billed = charge.billed(event.terms) + (lane.billed or 0.0) if event.charge.tokens else None
    dollars = prices.cost(charge, event.terms) + (lane.dollars or 0.0) if prices is not None else None
    return replace(
        lane,
        calls=lane.calls + 1,
        bound=len(event.bound),
        present=parts.discovery_tokens,
        tool_tokens=lane.tool_tokens + parts.tool_tokens,
        search_tokens=lane.search_tokens + parts.searches,
        input_tokens=lane.input_tokens + parts.input,
        billed=billed,
        dollars=dollars,
        last="",
    )


def _news(event: Event) -> str:
    """What a model call led to, in a few words; "" for events not worth showing."""
    match event:
        case ModelResponded(tool_calls=()):
            return f"{'thinks' if event.thought else 'answers'}: {_line(event.text)}"
        case SearchPerformed(by="model"):
            return f"{len(event.report.results)} found: {_line(event.report.request.label())}"
        case CallFinished():
            return f"{'calls' if event.ok else '✕ failed:'} {_line(event.tool)}"
        case CallRejected():
            return f"✕ rejected, {_line(event.reason)}: {_line(event.name)}"
        case LoopDetected():
            return f"⚠ loop broken: {_line(event.tool)}"
        case Failed():
            return f"✕ failed: {_line(event.message)}"
    return ""


def _line(text: str) -> str:
    cut = " ".join(text[:_LONGEST].split())
    return f"{cut}…" if len(text) > _LONGEST else cut
