"""Folds events into session state: `state = apply(state, record)`."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import singledispatch

from inspector.domain.definition import ToolDefinition
from inspector.domain.events import (
    ApprovalDecided,
    BudgetMeasured,
    CallCounted,
    CallFinished,
    CallRejected,
    CallStarted,
    CatalogBuilt,
    CatalogEntry,
    ContextReduced,
    Decision,
    Event,
    GateApplied,
    IndexChanged,
    LoopDetected,
    MilestoneReached,
    ModelRequested,
    ModelResponded,
    ModelSwitched,
    Record,
    RedundantSearch,
    SearchPerformed,
    ServerConnecting,
    ServerFailed,
    ServerReady,
    ServerStopped,
    SessionStarted,
    SettingsChanged,
    SettingsChecked,
    ToolEvicted,
    ToolLoaded,
    ToolRefreshed,
    ToolsChanged,
    TurnEnded,
    UserSaid,
)
from inspector.domain.server import ServerPhase
from inspector.domain.session import Binding, CallCost, ServerState, SessionState, ToolState

# A question mark that ends a sentence, and not one inside an address.
_QUESTION = re.compile(r"[?？؟](?=$|[\s\"'”’»)*_])")

# Long because every event that changes the state has its step here.


def fold(records: Iterable[Record], state: SessionState | None = None) -> SessionState:
    """Fold a stream from the start, or from `state` on."""
    current = state or SessionState()
    for record in records:
        current = apply(current, record)
    return current


def apply(state: SessionState, record: Record) -> SessionState:
    """The state after one more event."""
    state = replace(state, at=record.at, conversation=state.conversation.after(record))
    return _step(record.event, state)


@singledispatch
def _step(_event: Event, state: SessionState) -> SessionState:
    """Ignore events that only the conversation or the feed shows."""
    return state


@_step.register
def _session_started(event: SessionStarted, state: SessionState) -> SessionState:
    return replace(
        state,
        config=event.config,
        model=event.model,
        model_label=event.model_label,
        window=event.window,
        toolset=event.toolset,
        profile=event.profile,
        settings=event.settings,
        servers={name: ServerState(name) for name in event.servers},
    )


@_step.register
def _settings_changed(event: SettingsChanged, state: SessionState) -> SessionState:
    return replace(state, profile=event.profile, settings=event.settings)


@_step.register
def _settings_checked(event: SettingsChecked, state: SessionState) -> SessionState:
    return replace(state, problems=event.problems)


@_step.register
def _milestone_reached(event: MilestoneReached, state: SessionState) -> SessionState:
    return replace(state, milestones=tuple(dict.fromkeys((*state.milestones, event.name))))


@_step.register
def _model_switched(event: ModelSwitched, state: SessionState) -> SessionState:
    return replace(state, model=event.model, model_label=event.label, window=event.window)


def _with_server(state: SessionState, server: ServerState) -> SessionState:
    return replace(state, servers={**state.servers, server.name: server})


@_step.register
def _server_connecting(event: ServerConnecting, state: SessionState) -> SessionState:
    server = ServerState(event.server, phase=ServerPhase.CONNECTING, target=event.target)
    return _with_server(state, server)


@_step.register
def _server_ready(event: ServerReady, state: SessionState) -> SessionState:
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
    return _with_definitions(_with_server(state, server), event.server, event.definitions)


def _with_definitions(
    state: SessionState, server: str, definitions: tuple[ToolDefinition, ...]
) -> SessionState:
    if not definitions:
        return state
    listed = {f"{server}:{one.name}": one.hash for one in definitions}
    new = {one.hash: one.tool for one in definitions if one.tool is not None}
    return replace(state, definitions={**state.definitions, **new}, listed={**state.listed, **listed})


@_step.register
def _tools_changed(event: ToolsChanged, state: SessionState) -> SessionState:
    known = state.servers.get(event.server, ServerState(event.server))
    changed = replace(known, tools=event.tools, tokens=event.tokens, skipped=event.skipped)
    ids = {f"{event.server}:{name}" for name in event.changed}
    call = state.model_calls
    state = replace(
        state,
        tools=_with_change(state.tools, ids, call),
        held=_with_change(state.held, ids, call),
    )
    return _with_definitions(_with_server(state, changed), event.server, event.definitions)


def _with_change(
    tools: Mapping[str, ToolState], changed: Collection[str], call: int
) -> Mapping[str, ToolState]:
    """The tools, where those that their server changed know the model call before which it did."""
    if tools.keys().isdisjoint(changed):
        return tools
    return {id_: replace(tool, changed_call=call) if id_ in changed else tool for id_, tool in tools.items()}


@_step.register
def _server_failed(event: ServerFailed, state: SessionState) -> SessionState:
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
def _server_stopped(event: ServerStopped, state: SessionState) -> SessionState:
    known = state.servers.get(event.server, ServerState(event.server))
    return _with_server(state, replace(known, phase=ServerPhase.STOPPED, tools=0, tokens=0))


@_step.register
def _index_changed(event: IndexChanged, state: SessionState) -> SessionState:
    return replace(state, index=event.index)


@_step.register
def _catalog_built(event: CatalogBuilt, state: SessionState) -> SessionState:
    tools = {entry.id: _rebound(state, entry) for entry in event.entries}
    known = ((tool_id, state.known(tool_id)) for tool_id in event.held if tool_id not in tools)
    held = {tool_id: _held(tool) for tool_id, tool in known if tool is not None}
    placed = {tool.id for tool in tools.values() if tool.binding is Binding.LOADED}
    placed.update(tool.id for tool in held.values() if tool.returns_loaded)
    return replace(
        state,
        toolset=event.toolset,
        tools=tools,
        held=held,
        pinned=tuple(tool.id for tool in tools.values() if tool.binding is Binding.PINNED),
        places=tuple(tool_id for tool_id in state.places if tool_id in placed),
        manifest=event.manifest,
        meta_tokens=event.meta_tokens,
        hidden_tools=event.hidden,
        pool=event.pool,
        pool_tokens=event.pool_tokens,
        advisory=event.advisory,
        manifest_rules=event.rules,
        decision=event.decision,
        instructions=event.instructions,
        offer=event.offer,
    )


def _rebound(state: SessionState, entry: CatalogEntry) -> ToolState:
    """Loaded tools stay loaded and evicted ones evicted when the catalog is rebuilt (PRD section 5).

    So do those that come back with their server.
    """
    known, definition = state.known(entry.id), state.listed.get(entry.id, "")
    fresh = Binding.DEFERRED if entry.deferred else Binding.PINNED
    if known is None:
        return ToolState(entry.id, entry.tokens, fresh, definition=definition)
    before = known.held_as or known.binding
    moved = before in (Binding.LOADED, Binding.EVICTED)
    binding = before if moved and entry.deferred else fresh
    if (known.tokens, known.binding, known.definition) == (entry.tokens, binding, definition):
        return known
    changed_call = state.model_calls if known.definition not in ("", definition) else known.changed_call
    return replace(
        known,
        tokens=entry.tokens,
        binding=binding,
        held_as=None,
        definition=definition,
        changed_call=changed_call,
    )


def _held(tool: ToolState) -> ToolState:
    if tool.binding is Binding.HELD:
        return tool
    return replace(tool, binding=Binding.HELD, held_as=tool.binding)


def _with_tool(state: SessionState, tool_id: str, **changes: object) -> SessionState:
    tool = state.known(tool_id)
    if tool is None:
        return state
    changed = replace(tool, **changes)  # type: ignore[arg-type]
    if tool_id in state.tools:
        return replace(state, tools={**state.tools, tool_id: changed})
    return replace(state, held={**state.held, tool_id: changed})


@_step.register
def _tool_loaded(event: ToolLoaded, state: SessionState) -> SessionState:
    tool = state.tools.get(event.tool)
    if tool is None or tool.binding.is_bound:
        return state
    state = _with_tool(_found(state, tool, event.reason, Binding.LOADED), event.tool, place=event.place)
    return replace(state, places=(*state.places, event.tool), loads=state.loads + 1)


@_step.register
def _tool_refreshed(event: ToolRefreshed, state: SessionState) -> SessionState:
    tool = state.tools.get(event.tool)
    return state if tool is None else _found(state, tool, event.reason, tool.binding)


def _found(state: SessionState, tool: ToolState, reason: str, binding: Binding) -> SessionState:
    tools = {**state.tools, tool.id: _found_tool(state, tool, reason, binding)}
    return replace(state, tools=tools, discovered=state.discovered | {tool.id})


def _found_tool(state: SessionState, tool: ToolState, reason: str, binding: Binding) -> ToolState:
    return replace(
        tool,
        binding=binding,
        reason=reason,
        last_call=state.model_calls,
        found=tool.found + 1,
        discovered_at=state.at if tool.discovered_at is None else tool.discovered_at,
        last_used_at=state.at,
    )


@_step.register
def _tool_evicted(event: ToolEvicted, state: SessionState) -> SessionState:
    known = state.known(event.tool)
    if known is None or Binding.LOADED not in (known.binding, known.held_as):
        return state
    which = "held_as" if known.binding is Binding.HELD else "binding"
    state = _with_tool(state, event.tool, reason=event.reason, **{which: Binding.EVICTED})
    places = tuple(tool_id for tool_id in state.places if tool_id != event.tool)
    return replace(state, places=places, evictions=state.evictions + 1)


@_step.register
def _gate_applied(event: GateApplied, state: SessionState) -> SessionState:
    """Bind the tools the gate selected for this call; those it selected before are deferred again."""
    before, tools = frozenset(state.load_order), dict(state.tools)
    scores = {one.tool: one.score for one in event.candidates}
    for tool_id in before.difference(event.active) & tools.keys():
        reason = "not selected by the gate this turn"
        tools[tool_id] = replace(tools[tool_id], binding=Binding.DEFERRED, reason=reason)
    known = (tool_id for tool_id in dict.fromkeys(event.active) if tool_id in tools)
    active = tuple(id_ for id_ in known if tools[id_].binding is not Binding.PINNED)
    for rank, tool_id in enumerate(active, start=1):
        reason = f"gate {scores.get(tool_id, 0.0):.2f}"
        loaded = _found_tool(state, tools[tool_id], reason, Binding.LOADED)
        tools[tool_id] = replace(loaded, place=rank)
    loads = sum(tool_id not in before for tool_id in active)
    discovered = state.discovered.union(active)
    # The gate chooses anew for each call, so a held tool that it chose before does not come back loaded.
    held = {
        tool_id: replace(tool, held_as=Binding.DEFERRED) if tool.returns_loaded else tool
        for tool_id, tool in state.held.items()
    }
    return replace(
        state,
        tools=tools,
        held=held,
        places=active,
        gate=event,
        loads=state.loads + loads,
        discovered=discovered,
    )


@_step.register
def _model_requested(event: ModelRequested, state: SessionState) -> SessionState:
    return replace(
        state,
        model_calls=event.call,
        # A held tool keeps its place until a request goes without it; from then on the end costs least.
        places=(*state.load_order, *(tool_id for tool_id in state.places if tool_id in state.held)),
        costs=(*state.costs, _cost(event, state)),
    )


def _cost(event: ModelRequested, state: SessionState) -> CallCost:
    static = state.budget.static_tools if state.budget is not None else 0
    return CallCost(
        call=event.call,
        parts=event.tokens,
        static_tools=static,
        charge=event.charge,
        terms=event.terms,
        at=state.at,
        breakpoints=event.breakpoints,
    )


@_step.register
def _model_responded(event: ModelResponded, state: SessionState) -> SessionState:
    usage, costs = event.usage, state.costs
    if costs and costs[-1].call == event.call:
        reported = replace(
            costs[-1],
            reported_input=usage.input_tokens,
            reported_output=usage.output_tokens,
            reported_read=usage.cached_tokens,
            reported_written=usage.written_tokens,
            reported_written_hour=usage.written_hour_tokens,
            reported_reasoning=usage.reasoning_tokens,
        )
        costs = (*costs[:-1], reported)
    return replace(state, costs=costs)


@_step.register
def _context_reduced(_event: ContextReduced, state: SessionState) -> SessionState:
    return replace(state, reductions=state.reductions + 1)


@_step.register
def _call_started(event: CallStarted, state: SessionState) -> SessionState:
    if not state.recovering or event.by != "model":
        return state
    return replace(state, recovering=False, recoveries=state.recoveries + 1)


@_step.register
def _call_rejected(_event: CallRejected, state: SessionState) -> SessionState:
    return replace(state, rejections=state.rejections + 1, recovering=True)


@_step.register
def _call_finished(event: CallFinished, state: SessionState) -> SessionState:
    known = state.known(event.tool)
    uses = known.uses + 1 if known else 0
    state = _with_tool(state, event.tool, uses=uses, last_call=state.model_calls, last_used_at=state.at)
    outputs = state.outputs | {event.tool} if event.ok else state.outputs
    return replace(state, calls=state.calls + 1, used=state.used | {event.tool}, outputs=outputs)


@_step.register
def _approval_decided(event: ApprovalDecided, state: SessionState) -> SessionState:
    approved = state.approved
    if event.decision is Decision.SESSION and event.definition:
        approved |= {event.definition}
    return replace(state, approvals={**state.approvals, event.tool: event}, approved=approved)


@_step.register
def _call_counted(event: CallCounted, state: SessionState) -> SessionState:
    return replace(state, counts={**state.counts, event.tool: event})


@_step.register
def _loop_detected(_event: LoopDetected, state: SessionState) -> SessionState:
    return replace(state, loops=state.loops + 1)


@_step.register
def _redundant_search(_event: RedundantSearch, state: SessionState) -> SessionState:
    return replace(state, redundant=state.redundant + 1)


@_step.register
def _search_performed(_event: SearchPerformed, state: SessionState) -> SessionState:
    return replace(state, searches=state.searches + 1)


@_step.register
def _budget_measured(event: BudgetMeasured, state: SessionState) -> SessionState:
    return replace(state, budget=event.budget)


@_step.register
def _user_said(_event: UserSaid, state: SessionState) -> SessionState:
    return replace(state, busy=True)


@_step.register
def _turn_ended(event: TurnEnded, state: SessionState) -> SessionState:
    """A turn that ends after a rejection ends without recovery: with a question to the user, or without."""
    asks = state.recovering and event.outcome == "answered" and bool(_QUESTION.search(event.text))
    return replace(state, busy=False, recovering=False, asked=state.asked + asks)
