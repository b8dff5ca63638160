"""Events of a session as a whole and of its model: start, settings, messages, requests, answers, errors."""

from typing import Literal

from msgspec import Struct, field

from inspector.core.access import viewer
from inspector.core.budget import Budget, TokenParts
from inspector.core.error import SettingProblem
from inspector.core.events.base import Actor, Event, Group
from inspector.core.message import ToolCall, Usage
from inspector.core.number import count, plural
from inspector.core.prompt_cache import UNCACHED, Breakpoints, CacheTerms, Charge
from inspector.core.settings import SentDelivery
from inspector.schema.json_value import JsonObject

# `compaction` is what a real agent did: it went on with a summary of the conversation.
ReductionStep = Literal["truncate", "compress", "emergency", "compaction"]


def model_at(label: str, api_base: str) -> str:
    """A model, and where it is if that is not its provider's own address."""
    return f"{label} at {api_base}" if api_base else label


class ModelSwitched(Event, frozen=True, kind="model", groups={Group.MODEL}):
    """Another model from the next call on. `api_base` is its address, "" for the one of its provider."""

    model: str
    label: str
    window: int
    api_base: str = ""

    def summary(self) -> str:
        return model_at(self.label, self.api_base)


class ModelRequested(Event, frozen=True, kind="request", groups={Group.MODEL}, tone="muted"):
    """A model call: the ids of the bound tools and the tokens by part. `call` counts model calls.

    `same` and `resent` are the tokens of `tools` before and after the first byte that differs from the
    previous call; `change` says what differs. With `think`, the answer may not call a tool. `charge` is how a
    prompt cache on `terms` would charge the request: computed, not reported. `breakpoints` are the marks sent
    for the cache, None if the model takes none or they are off.
    """

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


class ContextReduced(Event, frozen=True, kind="reduce", groups={Group.MODEL, Group.GUARDS}, tone="warning"):
    """A request nearly filled the window, so its history was shortened before it was sent.

    `step` is one of semantic tool discovery, section 5.3; `before` and `after` are the tokens of the whole
    request with its reserve, `messages` how many were changed or removed. `text` says what was removed. Of a
    compaction, `text` is the summary, and the tokens are the agent's own, 0 if it does not say them.
    """

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


class AnswerStreamed(Event, frozen=True, kind="delta", groups={Group.MODEL}, routine=True):
    """A piece of an answer as it arrives; the response that follows has the whole text."""

    text: str

    def summary(self) -> str:
        return self.text


class ModelResponded(Event, frozen=True, kind="response", groups={Group.MODEL}):
    """A model's answer. `written` is the text that was understood as its calls, if it wrote them as text.

    `message` is the answer's id in an imported transcript: it is the same in every copy of it. `counted` are
    the answer's tokens as counted here, for providers that report none, `tool_tokens` those of the tools'
    definitions as an agent counted them, `dollars` what an agent reckons that it cost.
    """

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
    tool_tokens: int | None = None
    dollars: float | None = None

    def summary(self) -> str:
        calls = "thinks" if self.thought else ", ".join(call.name for call in self.tool_calls)
        note = f" ({self.written_note})" if self.written else ""
        nothing = "nothing" if self.finish_reason == "stop" else self.finish_reason
        return f"call {self.call}: {calls or self.text or f'({nothing})'}{note}"

    @property
    def written_note(self) -> str:
        """Says that the calls were made as text."""
        return f"written as text, understood as {'a call' if len(self.tool_calls) == 1 else 'calls'}"


class BudgetMeasured(Event, frozen=True, kind="budget", groups={Group.MODEL}, tone="muted", routine=True):
    budget: Budget

    def summary(self) -> str:
        budget = self.budget
        return f"{budget.parts.used:,} of {count(budget.window, 'token')}, {budget.saved:,} saved"


TurnOutcome = Literal["answered", "capped", "cancelled", "failed", "refused"]


class Origin(Struct, frozen=True):
    """The agent whose transcript a session was imported from.

    `session` is the agent's own name of it, `parent` that of the session that started it as a sub-agent.
    `file` is the transcript's name without its folder. `reading` is the version of the rules by which entries
    became events: what was imported by other rules is imported anew.
    """

    agent: str
    version: str = ""
    session: str = ""
    parent: str = ""
    file: str = ""
    reading: int = 0

    @property
    def label(self) -> str:
        """The agent and its version."""
        return f"{self.agent} {self.version}".strip()


class SessionStarted(Event, frozen=True, kind="session"):
    """The session's setup. `api_base` is the model's address, "" for the one of its provider.

    `trusted` names the servers whose claims about what their tools do are believed. `origin` is set if the
    session was imported: then `config` is the agent's folder or the tapped server. With `restricted` there is
    only what `user` may see, through `expert` if there is one; without a user that is nothing.
    """

    config: str
    servers: tuple[str, ...]
    toolset: str
    model: str
    model_label: str
    window: int
    settings: JsonObject = field(default_factory=dict)
    profile: str = ""
    api_base: str = ""
    trusted: tuple[str, ...] = ()
    origin: Origin | None = None
    user: str = ""
    expert: str = ""
    restricted: bool = False

    def summary(self) -> str:
        if self.origin is not None:
            return "  ".join(filter(None, (self.origin.label, self.config, self.model_label)))
        model = model_at(self.model_label, self.api_base)
        seen_by = f"  as {viewer(self.user, self.expert)}" if self.restricted else ""
        return f"{self.config}  {model}  {count(len(self.servers), 'server')}{seen_by}"


class AccessChanged(Event, frozen=True, kind="access", groups={Group.SERVERS}):
    """What the session's user may see may be something else from now on: the policy was read again."""

    user: str = ""
    expert: str = ""

    def summary(self) -> str:
        whose = f" of {viewer(self.user, self.expert)}" if self.user else ""
        return f"the grants{whose} were reloaded"


class SessionsForgotten(Event, frozen=True, kind="forgotten"):
    """Recorded sessions were deleted because they were too old or too many."""

    sessions: tuple[str, ...]

    def summary(self) -> str:
        return f"deleted {count(len(self.sessions), 'recorded session')}: too old or too many"


class SettingsChanged(Event, frozen=True, kind="settings", groups={Group.MODEL}):
    """A profile was chosen or a setting changed; `settings` is the whole tree from the next model call on."""

    profile: str
    settings: JsonObject
    changed: tuple[str, ...] = ()

    def summary(self) -> str:
        changed = f": {', '.join(self.changed)}" if self.changed else ", nothing changed"
        return f"profile {self.profile}{changed}"


class SettingsChecked(Event, frozen=True, kind="problems", groups={Group.ERRORS}, tone="warning"):
    """The problems of the settings changed: all there are now, worst first."""

    problems: tuple[SettingProblem, ...] = ()

    def summary(self) -> str:
        if not self.problems:
            return "the settings no longer have any problems"
        more = f"  (and {len(self.problems) - 1} more)" if len(self.problems) > 1 else ""
        worst = self.problems[0]
        return f"{worst.severity}: {worst.full}{more}"


class MilestoneReached(Event, frozen=True, kind="milestone", groups={Group.GUARDS}):
    """The session reached a milestone that preconditions may require."""

    name: str
    by: Actor = "user"

    def summary(self) -> str:
        return f"{self.name}  by {self.by}"


class UserSaid(Event, frozen=True, kind="user", groups={Group.MODEL}):
    text: str

    def summary(self) -> str:
        return self.text


class TurnWaited(Event, frozen=True, kind="wait", groups={Group.MODEL, Group.SERVERS}):
    """A message came while servers were connecting, so the turn waits until each is ready or has failed."""

    servers: tuple[str, ...]

    def summary(self) -> str:
        return f"until {count(len(self.servers), 'server')} connected: {', '.join(self.servers)}"


class TurnEnded(Event, frozen=True, kind="end", groups={Group.MODEL}):
    """A user message has been handled, with all the model calls it caused."""

    outcome: TurnOutcome
    text: str = ""

    def summary(self) -> str:
        return self.outcome


class Failed(Event, frozen=True, kind="error", groups={Group.ERRORS}, tone="error"):
    """An error that belongs to no other event. `raw` is what a model's provider said, as it came."""

    where: str
    message: str
    hint: str = ""
    raw: str = ""

    def summary(self) -> str:
        return f"{self.where}: {self.message}"
