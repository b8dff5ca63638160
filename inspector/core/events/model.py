"""Events of the model: its requests, its answers and its window."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from inspector.core.breakpoint import Breakpoints
from inspector.core.budget import Budget, TokenParts
from inspector.core.events.base import Event, Group, Tone
from inspector.core.message import ToolCall, Usage
from inspector.core.number import count, plural
from inspector.core.prompt_cache import UNCACHED, CacheTerms, Charge
from inspector.core.settings import SentDelivery

__all__ = [
    "AnswerStreamed",
    "BudgetMeasured",
    "ContextReduced",
    "ModelRequested",
    "ModelResponded",
    "ModelSwitched",
    "ReductionStep",
]

# `compaction` is what a real agent did: it went on with a summary of the conversation.
ReductionStep = Literal["truncate", "compress", "emergency", "compaction"]


def model_at(label: str, api_base: str) -> str:
    """A model, and where it is if that is not its provider's own address."""
    return f"{label} at {api_base}" if api_base else label


@dataclass(frozen=True, slots=True)
class ModelSwitched(Event):
    """Another model from the next call on. `api_base` is its address, "" for the one of its provider."""

    kind: ClassVar[str] = "model"
    groups: ClassVar[frozenset[Group]] = frozenset({Group.MODEL})
    model: str
    label: str
    window: int
    api_base: str = ""

    def summary(self) -> str:
        return model_at(self.label, self.api_base)


@dataclass(frozen=True, slots=True)
class ModelRequested(Event):
    """A model call: the ids of the bound tools and the tokens by part. `call` counts model calls.

    `same` and `resent` are the tokens of `tools` before and after the first byte that differs from the
    previous call; `change` says what differs. With `think`, the answer may not call a tool. `charge` is how a
    prompt cache on `terms` would charge the request: computed, not reported. `breakpoints` are the marks sent
    for the cache, None if the model takes none or they are off.
    """

    kind: ClassVar[str] = "request"
    groups: ClassVar[frozenset[Group]] = frozenset({Group.MODEL})
    tone: ClassVar[Tone] = "muted"
    call: int
    bound: tuple[str, ...]
    tokens: TokenParts
    messages: int
    delivery: SentDelivery | Literal[""] = ""
    same: int = 0
    resent: int = 0
    change: str = ""
    think: bool = False
    charge: Charge = Charge()
    terms: CacheTerms = UNCACHED
    breakpoints: Breakpoints | None = None

    def summary(self) -> str:
        thinks = ", must think" if self.think else ""
        resent = f", {count(self.resent, 'token')} resent: {self.change}" if self.resent and self.same else ""
        tools, sent = count(len(self.bound), "tool"), count(self.tokens.input, "token")
        return f"call {self.call}: {tools}, {sent}{resent}{thinks}"


@dataclass(frozen=True, slots=True)
class ContextReduced(Event):
    """A request nearly filled the window, so its history was shortened before it was sent.

    `step` is one of semantic tool discovery, section 5.3; `before` and `after` are the tokens of the whole
    request with its reserve, `messages` how many were changed or removed. `text` says what was removed. Of a
    compaction, `text` is the summary, and the tokens are the agent's own, 0 if it does not say them.
    """

    kind: ClassVar[str] = "reduce"
    groups: ClassVar[frozenset[Group]] = frozenset({Group.MODEL, Group.GUARDS})
    tone: ClassVar[Tone] = "warning"
    step: ReductionStep
    before: int
    after: int
    messages: int
    text: str

    @property
    def sizes(self) -> str:
        """The tokens before and after, as far as they are known."""
        before, after = (f"{number:,}" if number else "?" for number in (self.before, self.after))
        return f"{before} -> {after} {plural(self.after, 'token')}"

    def summary(self) -> str:
        return f"{self.step}: {self.sizes}, {self.text}"


@dataclass(frozen=True, slots=True)
class AnswerStreamed(Event):
    """A piece of an answer as it arrives; the response that follows has the whole text."""

    kind: ClassVar[str] = "delta"
    groups: ClassVar[frozenset[Group]] = frozenset({Group.MODEL})
    text: str

    @property
    def is_routine(self) -> bool:
        return True

    def summary(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class ModelResponded(Event):
    """A model's answer. `written` is the text that was understood as its calls, if it wrote them as text.

    `message` is the answer's id in an imported transcript: it is the same in every copy of it. `counted` are
    the answer's tokens as counted here, for providers that report none.
    """

    kind: ClassVar[str] = "response"
    groups: ClassVar[frozenset[Group]] = frozenset({Group.MODEL})
    call: int
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    finish_reason: str = "stop"
    milliseconds: float = 0.0
    thought: bool = False
    written: str = ""
    message: str = ""
    counted: int = 0

    def summary(self) -> str:
        calls = "thinks" if self.thought else ", ".join(call.name for call in self.tool_calls)
        note = f" ({self.written_note})" if self.written else ""
        return f"call {self.call}: {calls or self.text or '(nothing)'}{note}"

    @property
    def written_note(self) -> str:
        """Says that the calls were made as text."""
        return f"written as text, understood as {'a call' if len(self.tool_calls) == 1 else 'calls'}"


@dataclass(frozen=True, slots=True)
class BudgetMeasured(Event):
    kind: ClassVar[str] = "budget"
    groups: ClassVar[frozenset[Group]] = frozenset({Group.MODEL})
    tone: ClassVar[Tone] = "muted"
    budget: Budget

    @property
    def is_routine(self) -> bool:
        return True

    def summary(self) -> str:
        budget = self.budget
        return f"{budget.parts.used:,} of {count(budget.window, 'token')}, {budget.saved:,} saved"
