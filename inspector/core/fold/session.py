"""What events of the session, its servers and the marketplace change: settings, turns, connections."""

from collections.abc import Collection, Mapping

from msgspec.structs import replace

from inspector.core import events
from inspector.core.definition import ToolDefinition
from inspector.core.fold.call import with_message
from inspector.core.fold.tool import evolve, step
from inspector.core.server import ServerPhase
from inspector.core.session import ServerState, SessionState, ToolState


@step.register
def _session_started(event: events.SessionStarted, state: SessionState) -> SessionState:
    return evolve(
        state,
        config=event.config,
        model=event.model,
        model_label=event.model_label,
        api_base=event.api_base,
        window=event.window,
        toolset=event.toolset,
        profile=event.profile,
        settings=event.settings,
        trusted_servers=frozenset(event.trusted),
        user=event.user,
        expert=event.expert,
        is_restricted=event.restricted,
        servers={name: ServerState(name) for name in event.servers},
    )


@step.register
def _settings_changed(event: events.SettingsChanged, state: SessionState) -> SessionState:
    return evolve(state, profile=event.profile, settings=event.settings)


@step.register
def _settings_checked(event: events.SettingsChecked, state: SessionState) -> SessionState:
    return evolve(state, problems=event.problems)


@step.register
def _milestone_reached(event: events.MilestoneReached, state: SessionState) -> SessionState:
    return evolve(state, milestones=tuple(dict.fromkeys((*state.milestones, event.name))))


@step.register
def _model_switched(event: events.ModelSwitched, state: SessionState) -> SessionState:
    return evolve(
        state, model=event.model, model_label=event.label, api_base=event.api_base, window=event.window
    )


@step.register
def _user_said(_event: events.UserSaid, state: SessionState) -> SessionState:
    return evolve(state, busy=True, turn_retries=0, turn_dollars=0.0, inertia=with_message(state.inertia))


@step.register
def _turn_ended(_event: events.TurnEnded, state: SessionState) -> SessionState:
    return evolve(state, busy=False, recovering=False)


def _with_server(state: SessionState, server: ServerState) -> SessionState:
    return evolve(state, servers={**state.servers, server.name: server})


@step.register
def _server_connecting(event: events.ServerConnecting, state: SessionState) -> SessionState:
    server = ServerState(
        event.server,
        phase=ServerPhase.CONNECTING,
        target=event.target,
        declared=event.declared,
        changed=event.changed_files,
    )
    return _with_server(state, server)


@step.register
def _server_listing(event: events.ServerListing, state: SessionState) -> SessionState:
    known = state.servers.get(event.server, ServerState(event.server))
    return _with_server(state, replace(known, tools=event.tools))


@step.register
def _server_ready(event: events.ServerReady, state: SessionState) -> SessionState:
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
def _tools_changed(event: events.ToolsChanged, state: SessionState) -> SessionState:
    known = state.servers.get(event.server, ServerState(event.server))
    changed = replace(known, tools=event.tools, tokens=event.tokens, skipped=event.skipped)
    ids = {f"{event.server}:{name}" for name in event.changed}
    call = state.model_calls
    state = evolve(
        state, tools=_with_change(state.tools, ids, call), held=_with_change(state.held, ids, call)
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
def _server_failed(event: events.ServerFailed, state: SessionState) -> SessionState:
    known = state.servers.get(event.server, ServerState(event.server))
    server = replace(
        known,
        phase=ServerPhase.FAILED,
        reason=event.reason,
        hint=event.hint,
        stderr_tail=event.stderr_tail,
        needs_login=event.needs_login,
        tools=0,
        tokens=0,
    )
    return _with_server(state, server)


@step.register
def _server_stopped(event: events.ServerStopped, state: SessionState) -> SessionState:
    known = state.servers.get(event.server, ServerState(event.server))
    return _with_server(state, replace(known, phase=ServerPhase.STOPPED, tools=0, tokens=0))


@step.register
def _trust_changed(event: events.TrustChanged, state: SessionState) -> SessionState:
    others = state.trusted_servers - {event.server}
    return evolve(state, trusted_servers=others | {event.server} if event.trusted else others)


@step.register
def _marketplace_searched(event: events.MarketplaceSearched, state: SessionState) -> SessionState:
    return evolve(state, marketplace=event.report)


@step.register
def _server_removed(event: events.ServerRemoved, state: SessionState) -> SessionState:
    """Leave nothing of the server but the definitions that its calls were made with."""
    start = f"{event.server}:"
    return evolve(
        state,
        servers={name: one for name, one in state.servers.items() if name != event.server},
        listed={tool: hash_ for tool, hash_ in state.listed.items() if not tool.startswith(start)},
        not_read_only=frozenset(tool for tool in state.not_read_only if not tool.startswith(start)),
        trusted_servers=state.trusted_servers - {event.server},
    )
