"""What events of servers change: their phases, tools and definitions."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from inspector.core.definition import ToolDefinition
from inspector.core.events import (
    ServerConnecting,
    ServerFailed,
    ServerListing,
    ServerReady,
    ServerStopped,
    ToolsChanged,
    TrustChanged,
)
from inspector.core.fold.step import evolve, step
from inspector.core.server import ServerPhase
from inspector.core.session import ServerState, SessionState, ToolState


def _with_server(state: SessionState, server: ServerState) -> SessionState:
    return evolve(state, servers={**state.servers, server.name: server})


@step.register
def _server_connecting(event: ServerConnecting, state: SessionState) -> SessionState:
    server = ServerState(
        event.server,
        phase=ServerPhase.CONNECTING,
        target=event.target,
        declared=event.declared,
        changed=event.changed_files,
    )
    return _with_server(state, server)


@step.register
def _server_listing(event: ServerListing, state: SessionState) -> SessionState:
    known = state.servers.get(event.server, ServerState(event.server))
    return _with_server(state, replace(known, tools=event.tools))


@step.register
def _server_ready(event: ServerReady, state: SessionState) -> SessionState:
    known = state.servers.get(event.server, ServerState(event.server))
    server = ServerState(
        event.server,
        phase=ServerPhase.READY,
        target=known.target,
        declared=known.declared,
        tools=event.tools,
        tokens=event.tokens,
        info=event.info,
        skipped=event.skipped,
        milliseconds=event.milliseconds,
        added=event.added,
        removed=event.removed,
        since=event.since,
        changed=known.changed,
        approved_version=event.approved_version,
    )
    return _with_definitions(_with_server(state, server), event.server, event.definitions)


def _with_definitions(
    state: SessionState, server: str, definitions: tuple[ToolDefinition, ...]
) -> SessionState:
    if not definitions:
        return state
    listed = {f"{server}:{one.name}": one.hash for one in definitions}
    new = {one.hash: one.tool for one in definitions if one.tool is not None}
    changing = (tool.id for tool in new.values() if not tool.annotations.read_only)
    return evolve(
        state,
        definitions={**state.definitions, **new},
        listed={**state.listed, **listed},
        not_read_only=state.not_read_only.union(changing),
    )


@step.register
def _tools_changed(event: ToolsChanged, state: SessionState) -> SessionState:
    known = state.servers.get(event.server, ServerState(event.server))
    changed = replace(known, tools=event.tools, tokens=event.tokens, skipped=event.skipped)
    ids = {f"{event.server}:{name}" for name in event.changed}
    call = state.model_calls
    state = evolve(
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


@step.register
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


@step.register
def _server_stopped(event: ServerStopped, state: SessionState) -> SessionState:
    known = state.servers.get(event.server, ServerState(event.server))
    return _with_server(state, replace(known, phase=ServerPhase.STOPPED, tools=0, tokens=0))


@step.register
def _trust_changed(event: TrustChanged, state: SessionState) -> SessionState:
    others = state.trusted_servers - {event.server}
    return evolve(state, trusted_servers=others | {event.server} if event.trusted else others)
