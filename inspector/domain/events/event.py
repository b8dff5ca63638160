"""The typed events of a session. One ordered stream of them is the record of everything that happened.

The engine decides, emits an event and applies it to the session state; the store keeps it, the screens
draw it, and a replay folds the same stream into the same state.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from inspector.domain.budget import Budget, TokenParts
from inspector.domain.events.base import Event as Event
from inspector.domain.events.binding import (
    CallCounted as CallCounted,
    GateApplied as GateApplied,
    GateScore as GateScore,
    LoopDetected as LoopDetected,
    MilestoneReached as MilestoneReached,
    RedundantSearch as RedundantSearch,
    ToolEvicted as ToolEvicted,
    ToolLoaded as ToolLoaded,
    ToolRefreshed as ToolRefreshed,
)
from inspector.domain.index_state import IndexState
from inspector.domain.jsonvalue import JsonObject
from inspector.domain.message import ToolCall, Usage
from inspector.domain.prompt_cache import UNCACHED, CacheTerms, Charge
from inspector.domain.ranking import SearchReport
from inspector.domain.server import ServerInfo, SkippedTool


@dataclass(frozen=True, slots=True)
class SessionStarted(Event):
    kind: ClassVar[str] = "session"
    config: str
    servers: tuple[str, ...]
    toolset: str
    model: str
    model_label: str
    window: int
    settings: JsonObject = field(default_factory=dict)
    profile: str = ""


@dataclass(frozen=True, slots=True)
class SessionsForgotten(Event):
    """Recorded sessions that were deleted because they were too old or too many."""

    kind: ClassVar[str] = "forgotten"
    sessions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ServerConnecting(Event):
    kind: ClassVar[str] = "connecting"
    server: str
    target: str = ""


@dataclass(frozen=True, slots=True)
class ServerReady(Event):
    """`tokens` is the sum over the server's tool definitions; `milliseconds` from start to tool list."""

    kind: ClassVar[str] = "ready"
    server: str
    tools: int
    tokens: int
    info: ServerInfo = ServerInfo()
    skipped: tuple[SkippedTool, ...] = ()
    milliseconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ServerFailed(Event):
    kind: ClassVar[str] = "failed"
    server: str
    reason: str
    hint: str = ""
    stderr_tail: str = ""


@dataclass(frozen=True, slots=True)
class ServerStopped(Event):
    kind: ClassVar[str] = "stopped"
    server: str


@dataclass(frozen=True, slots=True)
class ToolsChanged(Event):
    """A connected server changed its list (`list_changed`); `tools` and `tokens` are of the new one."""

    kind: ClassVar[str] = "tools"
    server: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    tools: int = 0
    tokens: int = 0
    skipped: tuple[SkippedTool, ...] = ()


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """A permitted tool as the catalog event carries it; `tokens` is its definition's."""

    id: str
    tokens: int
    deferred: bool


@dataclass(frozen=True, slots=True)
class CatalogBuilt(Event):
    """The catalog after the toolset filter: what may be loaded, and the manifest that advertises it.

    `pool` are the summaries of all tools where the gate keeps them in the prompt. `rules` say how the
    manifest was shortened. With `advisory` the search finds tools that are bound already. `decision` says
    whether there is discovery at all, and by which numbers.
    """

    kind: ClassVar[str] = "catalog"
    toolset: str
    entries: tuple[CatalogEntry, ...]
    manifest: str
    meta_tokens: int
    static_tokens: int
    hidden: int = 0
    pool: str = ""
    pool_tokens: int = 0
    advisory: bool = False
    rules: tuple[str, ...] = ()
    decision: str = ""


@dataclass(frozen=True, slots=True)
class IndexChanged(Event):
    """The search index came a step further, or could not."""

    kind: ClassVar[str] = "index"
    index: IndexState


@dataclass(frozen=True, slots=True)
class SettingsChanged(Event):
    """A profile was chosen or a knob was turned: `settings` is the whole tree from the next turn on."""

    kind: ClassVar[str] = "settings"
    profile: str
    settings: JsonObject
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelSwitched(Event):
    kind: ClassVar[str] = "model"
    model: str
    label: str
    window: int


@dataclass(frozen=True, slots=True)
class UserSaid(Event):
    kind: ClassVar[str] = "user"
    text: str


@dataclass(frozen=True, slots=True)
class ModelRequested(Event):
    """A model call: the ids of the bound tools and the tokens by part. `turn` counts model calls.

    `same` and `resent` are the tokens of `tools` before and after the first byte that differs from the last
    call; `change` says what differs. `think` is a call whose answer may not call a tool. `charge` is what a
    prompt cache would make of the whole request, `terms` those it was computed for.
    """

    kind: ClassVar[str] = "request"
    turn: int
    bound: tuple[str, ...]
    tokens: TokenParts
    messages: int
    delivery: str = ""
    same: int = 0
    resent: int = 0
    change: str = ""
    think: bool = False
    charge: Charge = Charge()
    terms: CacheTerms = UNCACHED


@dataclass(frozen=True, slots=True)
class ContextReduced(Event):
    """A request came near the window, and its history was made shorter before it was sent.

    `step` is `truncate`, `compress` or `emergency` (semantic tool discovery, section 5.3); `before` and
    `after` are the tokens of the whole request with its reserve, `messages` how many were changed or taken
    out. `text` says what is gone.
    """

    kind: ClassVar[str] = "reduce"
    step: str
    before: int
    after: int
    messages: int
    text: str


@dataclass(frozen=True, slots=True)
class AnswerStreamed(Event):
    kind: ClassVar[str] = "delta"
    text: str


@dataclass(frozen=True, slots=True)
class ModelResponded(Event):
    kind: ClassVar[str] = "response"
    turn: int
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    finish_reason: str = "stop"
    milliseconds: float = 0.0
    thought: bool = False


@dataclass(frozen=True, slots=True)
class SearchPerformed(Event):
    """A search with every score. `text` is what the model reads; `by` is `model` or `user`."""

    kind: ClassVar[str] = "search"
    report: SearchReport
    text: str
    by: str = "model"


@dataclass(frozen=True, slots=True)
class CallStarted(Event):
    kind: ClassVar[str] = "call"
    call_id: str
    tool: str
    arguments: JsonObject
    by: str = "model"


@dataclass(frozen=True, slots=True)
class CallFinished(Event):
    """`ok` is false for a tool error, a timeout or a dead server; `text` is what the model reads."""

    kind: ClassVar[str] = "result"
    call_id: str
    tool: str
    ok: bool
    text: str
    milliseconds: float = 0.0
    structured: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class CallRejected(Event):
    """A call that never reached a server: not loaded, unknown, invalid arguments, or refused."""

    kind: ClassVar[str] = "reject"
    call_id: str
    name: str
    reason: str
    text: str
    arguments: JsonObject = field(default_factory=dict)
    closest: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ApprovalDecided(Event):
    kind: ClassVar[str] = "approval"
    tool: str
    decision: str


@dataclass(frozen=True, slots=True)
class BudgetMeasured(Event):
    kind: ClassVar[str] = "budget"
    budget: Budget


@dataclass(frozen=True, slots=True)
class TurnEnded(Event):
    """A user message is dealt with. `outcome`: answered, capped, cancelled or failed."""

    kind: ClassVar[str] = "end"
    outcome: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Failed(Event):
    """An error that belongs to no other event."""

    kind: ClassVar[str] = "error"
    where: str
    message: str
    hint: str = ""


EVENT_TYPES: Mapping[str, type[Event]] = {
    cls.kind: cls
    for cls in (
        SessionStarted,
        SessionsForgotten,
        ServerConnecting,
        ServerReady,
        ServerFailed,
        ServerStopped,
        ToolsChanged,
        CatalogBuilt,
        IndexChanged,
        SettingsChanged,
        MilestoneReached,
        GateApplied,
        ModelSwitched,
        UserSaid,
        ContextReduced,
        ModelRequested,
        AnswerStreamed,
        ModelResponded,
        SearchPerformed,
        ToolLoaded,
        ToolRefreshed,
        ToolEvicted,
        CallStarted,
        CallFinished,
        CallRejected,
        ApprovalDecided,
        CallCounted,
        LoopDetected,
        RedundantSearch,
        BudgetMeasured,
        TurnEnded,
        Failed,
    )
}


@dataclass(frozen=True, slots=True)
class Record:
    """An event in its stream. `seq` counts from 1 within a session; `at` is seconds since 1970, UTC."""

    session: str
    seq: int
    at: float
    event: Event

    @property
    def kind(self) -> str:
        return self.event.kind
