"""The state of a session, as a fold over its events: `state = apply(state, record)`."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import singledispatch

from inspector.domain import event as ev
from inspector.domain.budget import Budget
from inspector.domain.conversation import Conversation
from inspector.domain.index_state import IndexState
from inspector.domain.server import ServerInfo, ServerPhase, SkippedTool


class Binding(StrEnum):
    """Whether a model sees a tool. Pinned tools are bound from the start and are never evicted."""

    PINNED = "pinned"
    LOADED = "loaded"
    DEFERRED = "deferred"
    EVICTED = "evicted"

    @property
    def is_bound(self) -> bool:
        return self in (Binding.PINNED, Binding.LOADED)


@dataclass(frozen=True, slots=True)
class ToolState:
    """One permitted tool in the session. `last_turn` is the model call in which it was last used."""

    id: str
    tokens: int
    binding: Binding
    uses: int = 0
    last_turn: int | None = None
    reason: str = ""

    @property
    def server(self) -> str:
        return self.id.partition(":")[0]


@dataclass(frozen=True, slots=True)
class ServerState:
    """One server's connection as the session knows it."""

    name: str
    phase: ServerPhase = ServerPhase.STOPPED
    target: str = ""
    tools: int = 0
    tokens: int = 0
    info: ServerInfo = ServerInfo()
    skipped: tuple[SkippedTool, ...] = ()
    reason: str = ""
    hint: str = ""
    stderr_tail: str = ""
    milliseconds: float = 0.0


@dataclass(frozen=True, slots=True)
class SessionState:
    """Everything a screen shows of a session."""

    config: str = ""
    model: str = ""
    model_label: str = ""
    window: int = 0
    toolset: str = ""
    servers: Mapping[str, ServerState] = field(default_factory=dict)
    tools: Mapping[str, ToolState] = field(default_factory=dict)
    load_order: tuple[str, ...] = ()
    hidden_tools: int = 0
    manifest: str = ""
    meta_tokens: int = 0
    budget: Budget | None = None
    index: IndexState = IndexState()
    tool_token_history: tuple[int, ...] = ()
    conversation: Conversation = Conversation()
    turn: int = 0
    searches: int = 0
    calls: int = 0
    evictions: int = 0
    busy: bool = False

    def with_binding(self, *bindings: Binding) -> tuple[ToolState, ...]:
        """The tools in any of the given states, in catalog order."""
        return tuple(tool for tool in self.tools.values() if tool.binding in bindings)

    @property
    def bound_ids(self) -> tuple[str, ...]:
        """What the next model call gets: pinned tools in catalog order, then loaded ones in load order."""
        pinned = tuple(tool.id for tool in self.with_binding(Binding.PINNED))
        return pinned + self.load_order

    @property
    def ready_servers(self) -> int:
        return sum(server.phase is ServerPhase.READY for server in self.servers.values())


def fold(records: Iterable[ev.Record], state: SessionState | None = None) -> SessionState:
    """Replay a stream from the start, or on from `state`."""
    current = state or SessionState()
    for record in records:
        current = apply(current, record)
    return current


def apply(state: SessionState, record: ev.Record) -> SessionState:
    """The state after one more event."""
    state = replace(state, conversation=state.conversation.after(record))
    return _step(record.event, state)


@singledispatch
def _step(_event: ev.Event, state: SessionState) -> SessionState:
    """Events that only the conversation or the feed shows change nothing here."""
    return state


@_step.register
def _(event: ev.SessionStarted, state: SessionState) -> SessionState:
    return replace(
        state,
        config=event.config,
        model=event.model,
        model_label=event.model_label,
        window=event.window,
        toolset=event.toolset,
        servers={name: ServerState(name) for name in event.servers},
    )


@_step.register
def _(event: ev.ModelSwitched, state: SessionState) -> SessionState:
    return replace(state, model=event.model, model_label=event.label, window=event.window)


def _with_server(state: SessionState, server: ServerState) -> SessionState:
    return replace(state, servers={**state.servers, server.name: server})


@_step.register
def _(event: ev.ServerConnecting, state: SessionState) -> SessionState:
    server = ServerState(event.server, phase=ServerPhase.CONNECTING, target=event.target)
    return _with_server(state, server)


@_step.register
def _(event: ev.ServerReady, state: SessionState) -> SessionState:
    known = state.servers.get(event.server, ServerState(event.server))
    server = ServerState(
        event.server,
        phase=ServerPhase.READY,
        target=known.target,
        tools=event.tools,
        tokens=event.tokens,
        info=event.info,
        skipped=event.skipped,
        milliseconds=event.milliseconds,
    )
    return _with_server(state, server)


@_step.register
def _(event: ev.ToolsChanged, state: SessionState) -> SessionState:
    known = state.servers.get(event.server, ServerState(event.server))
    changed = replace(known, tools=event.tools, tokens=event.tokens, skipped=event.skipped)
    return _with_server(state, changed)


@_step.register
def _(event: ev.ServerFailed, state: SessionState) -> SessionState:
    known = state.servers.get(event.server, ServerState(event.server))
    server = replace(
        known,
        phase=ServerPhase.FAILED,
        reason=event.reason,
        hint=event.hint,
        stderr_tail=event.stderr_tail,
        tools=0,
        tokens=0,
    )
    return _with_server(state, server)


@_step.register
def _(event: ev.ServerStopped, state: SessionState) -> SessionState:
    known = state.servers.get(event.server, ServerState(event.server))
    return _with_server(state, replace(known, phase=ServerPhase.STOPPED, tools=0, tokens=0))


@_step.register
def _(event: ev.IndexChanged, state: SessionState) -> SessionState:
    return replace(state, index=event.index)


@_step.register
def _(event: ev.CatalogBuilt, state: SessionState) -> SessionState:
    tools = {entry.id: _rebound(state.tools.get(entry.id), entry) for entry in event.entries}
    return replace(
        state,
        toolset=event.toolset,
        tools=tools,
        load_order=tuple(
            id_ for id_ in state.load_order if id_ in tools and tools[id_].binding is Binding.LOADED
        ),
        manifest=event.manifest,
        meta_tokens=event.meta_tokens,
        hidden_tools=event.hidden,
    )


def _rebound(known: ToolState | None, entry: ev.CatalogEntry) -> ToolState:
    """Loaded tools stay loaded and evicted ones evicted when the catalog is built again (PRD section 5)."""
    fresh = Binding.DEFERRED if entry.deferred else Binding.PINNED
    if known is None:
        return ToolState(entry.id, entry.tokens, fresh)
    moved = known.binding in (Binding.LOADED, Binding.EVICTED)
    keeps = moved and (entry.deferred or known.binding is Binding.EVICTED)
    return replace(known, tokens=entry.tokens, binding=known.binding if keeps else fresh)


def _with_tool(state: SessionState, tool_id: str, **changes: object) -> SessionState:
    tool = state.tools.get(tool_id)
    if tool is None:
        return state
    return replace(state, tools={**state.tools, tool_id: replace(tool, **changes)})  # type: ignore[arg-type]


@_step.register
def _(event: ev.ToolLoaded, state: SessionState) -> SessionState:
    tool = state.tools.get(event.tool)
    if tool is None or tool.binding.is_bound:
        return state
    state = _with_tool(state, event.tool, binding=Binding.LOADED, reason=event.reason, last_turn=state.turn)
    return replace(state, load_order=(*state.load_order, event.tool))


@_step.register
def _(event: ev.ToolEvicted, state: SessionState) -> SessionState:
    known = state.tools.get(event.tool)
    if known is None or known.binding is not Binding.LOADED:
        return state
    state = _with_tool(state, event.tool, binding=Binding.EVICTED, reason=event.reason)
    order = tuple(tool_id for tool_id in state.load_order if tool_id != event.tool)
    return replace(state, load_order=order, evictions=state.evictions + 1)


@_step.register
def _(event: ev.ModelRequested, state: SessionState) -> SessionState:
    return replace(
        state,
        turn=event.turn,
        tool_token_history=(*state.tool_token_history, event.tokens.tool_tokens),
    )


@_step.register
def _(event: ev.CallFinished, state: SessionState) -> SessionState:
    known = state.tools.get(event.tool)
    uses = known.uses + 1 if known else 0
    state = _with_tool(state, event.tool, uses=uses, last_turn=state.turn)
    return replace(state, calls=state.calls + 1)


@_step.register
def _(_event: ev.SearchPerformed, state: SessionState) -> SessionState:
    return replace(state, searches=state.searches + 1)


@_step.register
def _(event: ev.BudgetMeasured, state: SessionState) -> SessionState:
    return replace(state, budget=event.budget)


@_step.register
def _(_event: ev.UserSaid, state: SessionState) -> SessionState:
    return replace(state, busy=True)


@_step.register
def _(_event: ev.TurnEnded, state: SessionState) -> SessionState:
    return replace(state, busy=False)
