"""One run in a race, folded from its records: what it has sent, and what the last model call led to."""

from dataclasses import dataclass, replace

from inspector.core.budget import Prices
from inspector.core.events import (
    ApprovalDecided,
    BudgetMeasured,
    CallFinished,
    CallRejected,
    Decision,
    Event,
    Failed,
    LoopDetected,
    ModelRequested,
    ModelResponded,
    ModelSwitched,
    SearchPerformed,
    ServerFailed,
    SessionStarted,
    SettingsChanged,
    TurnEnded,
    UserSaid,
)
from inspector.scenario.totals import ANSWERED, charged
from inspector.search.answer_text import answered
from inspector.tokens.plan import SolvedSteps

_LONGEST = 400


@dataclass(frozen=True, slots=True)
class Racer:
    """One run so far. Tokens are input tokens; all except `present` are sums over its model calls.

    `tool_tokens` are those of definitions, manifest and summaries, `search_tokens` those of searches and
    their results, `input_tokens` everything sent. `billed` is what a prompt cache charges for it, in input
    tokens at full price, and `dollars` its cost; both are None if unknown.
    `present` are tool and search tokens of the last model call, `bound` the tools in it. `last` says in a
    line what came of that call: raw text. `outcome` is
    `answered` while every message of the user was, else that of the first that was not; "" before any ended.
    `refused` names the tools of calls that needed an approval and did not get it, one for each call,
    `failed` the servers that did not start.
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
    refused: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    solved: SolvedSteps = SolvedSteps()

    @property
    def dollars_per_step(self) -> float | None:
        """US dollars of input for each solved step; None without prices or solved steps."""
        return self.dollars / self.solved.count if self.dollars is not None and self.solved.count else None

    @property
    def tokens(self) -> int:
        """Tokens sent because of tools: their definitions and the searches that found them."""
        return self.tool_tokens + self.search_tokens

    @property
    def has_cache(self) -> bool:
        """Whether a prompt cache makes a difference."""
        return self.billed is not None and round(self.billed) != self.input_tokens


def racer_after(racer: Racer, event: Event, prices: Prices | None = None) -> Racer:
    """The racer after one more event; `prices` convert its tokens to dollars."""
    racer = replace(racer, solved=racer.solved.after(event))
    match event:
        case ModelRequested():
            return _requested(racer, event, prices)
        case SessionStarted() | ModelSwitched():
            return replace(
                racer, model=event.model_label if isinstance(event, SessionStarted) else event.label
            )
        case SettingsChanged():
            return replace(racer, profile=event.profile)
        case BudgetMeasured():
            return replace(racer, tokenizer=event.budget.tokenizer.label)
        case UserSaid():
            return replace(racer, message=racer.message + 1)
        case TurnEnded():
            return racer if racer.outcome not in ("", ANSWERED) else replace(racer, outcome=event.outcome)
        case SearchPerformed(by="model"):
            racer = replace(racer, searches=racer.searches + 1)
        case ServerFailed():
            racer = replace(racer, failed=(*racer.failed, event.server))
        case ApprovalDecided(decision=Decision.NO):
            racer = replace(racer, refused=(*racer.refused, event.tool))
    said = _news(event)
    return replace(racer, last=f"{racer.last}, {said}" if racer.last else said) if said else racer


def _requested(racer: Racer, event: ModelRequested, prices: Prices | None) -> Racer:
    parts = event.tokens
    charge = charged(event)
    billed = charge.billed(event.terms) + (racer.billed or 0.0) if event.charge.tokens else None
    dollars = prices.cost(charge, event.terms) + (racer.dollars or 0.0) if prices is not None else None
    return replace(
        racer,
        calls=racer.calls + 1,
        bound=len(event.bound),
        present=parts.discovery_tokens,
        tool_tokens=racer.tool_tokens + parts.tool_tokens,
        search_tokens=racer.search_tokens + parts.searches,
        input_tokens=racer.input_tokens + parts.input,
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
            return f"{answered(event.report)}: {_line(event.report.request.label())}"
        case CallFinished():
            return f"{'calls' if event.ok else f'✕ {event.outcome}:'} {_line(event.tool)}"
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
