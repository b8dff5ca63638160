"""What events of the catalog and of discovery change: what is pinned, loaded, held, evicted."""

from functools import singledispatch

from msgspec.structs import replace, replace as evolve

from inspector.core import events
from inspector.core.session import Binding, SessionState, ToolState

__all__ = ["evolve", "step", "with_tool"]


@singledispatch
def step(_event: events.Event, state: SessionState) -> SessionState:
    """Ignore events that only the conversation or the feed shows."""
    return state


def with_tool(state: SessionState, tool_id: str, **changes: object) -> SessionState:
    tool = state.known(tool_id)
    if tool is None:
        return state
    changed = replace(tool, **changes)
    if tool_id in state.tools:
        return evolve(state, tools={**state.tools, tool_id: changed})
    return evolve(state, held={**state.held, tool_id: changed})


@step.register
def _index_changed(event: events.IndexChanged, state: SessionState) -> SessionState:
    return evolve(state, index=event.index)


@step.register
def _catalog_built(event: events.CatalogBuilt, state: SessionState) -> SessionState:
    tools = {entry.id: _rebound(state, entry) for entry in event.entries}
    known = ((tool_id, state.known(tool_id)) for tool_id in event.held if tool_id not in tools)
    held = {tool_id: _held(tool) for tool_id, tool in known if tool is not None}
    placed = {tool.id for tool in tools.values() if tool.binding is Binding.LOADED}
    placed.update(tool.id for tool in held.values() if tool.returns_loaded)
    return evolve(
        state,
        toolset=event.toolset,
        tools=tools,
        held=held,
        pinned=tuple(tool.id for tool in tools.values() if tool.binding is Binding.PINNED),
        places=tuple(tool_id for tool_id in state.places if tool_id in placed),
        manifest=event.manifest,
        meta_tokens=event.meta_tokens,
        pool=event.pool,
        pool_tokens=event.pool_tokens,
        advisory=event.advisory,
        manifest_rules=event.rules,
        decision=event.decision,
        instructions=event.instructions,
        offer=event.offer,
        uncounted=event.uncounted,
    )


def _rebound(state: SessionState, entry: events.CatalogEntry) -> ToolState:
    """Loaded tools stay loaded and evicted ones evicted when the catalog is rebuilt (PRD section 5).

    So do those that come back with their server.
    """
    known = state.tools.get(entry.id) or state.held.get(entry.id)
    definition = state.listed.get(entry.id, "")
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


@step.register
def _tool_loaded(event: events.ToolLoaded, state: SessionState) -> SessionState:
    tool = state.tools.get(event.tool)
    if tool is None or tool.binding.is_bound:
        return state
    # An agent may learn a tool's definition only by the search that loads it.
    tool = replace(tool, tokens=event.tokens or tool.tokens, cause=event.cause)
    if event.cause == "inertia":
        state = _ahead(state, tool, event.reason)
    else:
        state = with_tool(_found(state, tool, event.reason, Binding.LOADED), event.tool, place=event.place)
    return evolve(state, places=(*state.places, event.tool), loads=state.loads + 1)


@step.register
def _tool_refreshed(event: events.ToolRefreshed, state: SessionState) -> SessionState:
    tool = state.tools.get(event.tool)
    if tool is None:
        return state
    # What was bound ahead and is then searched for was asked for after all.
    tool = replace(tool, cause="search") if tool.is_ahead else tool
    return _found(state, tool, event.reason, tool.binding)


def _ahead(state: SessionState, tool: ToolState, reason: str) -> SessionState:
    """Bind a tool that nobody asked for: no search found it, and it is the first to go for another one."""
    since = state.at if tool.discovered_at is None else tool.discovered_at
    tool = replace(
        tool,
        binding=Binding.LOADED,
        reason=reason,
        discovered_at=since,
        last_call=None,
        last_used_at=state.at,
        place=0,
    )
    ahead = replace(state.inertia, ahead=state.inertia.ahead | {tool.id})
    return evolve(state, tools={**state.tools, tool.id: tool}, inertia=ahead)


def _found(state: SessionState, tool: ToolState, reason: str, binding: Binding) -> SessionState:
    tools = {**state.tools, tool.id: _found_tool(state, tool, reason, binding)}
    return evolve(state, tools=tools, discovered=state.discovered | {tool.id})


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


@step.register
def _tool_evicted(event: events.ToolEvicted, state: SessionState) -> SessionState:
    known = state.known(event.tool)
    if known is None or Binding.LOADED not in (known.binding, known.held_as):
        return state
    which = "held_as" if known.binding is Binding.HELD else "binding"
    state = with_tool(state, event.tool, reason=event.reason, **{which: Binding.EVICTED})
    places = tuple(tool_id for tool_id in state.places if tool_id != event.tool)
    return evolve(state, places=places, evictions=state.evictions + 1)


@step.register
def _gate_applied(event: events.GateApplied, state: SessionState) -> SessionState:
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
    return evolve(
        state,
        tools=tools,
        held=held,
        places=active,
        gate=event,
        loads=state.loads + loads,
        discovered=discovered,
    )


@step.register
def _search_performed(_event: events.SearchPerformed, state: SessionState) -> SessionState:
    return evolve(state, searches=state.searches + 1)


@step.register
def _redundant_search(_event: events.RedundantSearch, state: SessionState) -> SessionState:
    return evolve(state, redundant=state.redundant + 1)
