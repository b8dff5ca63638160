"""Explains why a tool is not in the search index."""

from dataclasses import dataclass

from inspector.core.access import Toolset
from inspector.core.closest import closest
from inspector.core.number import count
from inspector.core.server import ServerPhase
from inspector.core.session import ServerState, SessionState
from inspector.tokens.manifest import Catalog
from widgets import visible

_NAME = 80


@dataclass(frozen=True, slots=True)
class MissingTool:
    """The reason, and what to do about it."""

    reason: str
    hint: str


def missing_tool(
    tool_id: str, catalog: Catalog, session: SessionState, toolset: Toolset | None
) -> MissingTool:
    """Return why no search can find the tool."""
    server, _, name = tool_id.partition(":")
    state = session.servers.get(server)
    if catalog.get(tool_id) is not None:
        return MissingTool(
            "It existed at that moment, but searches use the current tools.",
            "Go back to now on the timeline to search it.",
        )
    if state is None:
        return _unknown(tool_id, catalog, session)
    if state.phase is not ServerPhase.READY:
        return _unconnected(state)
    skipped = next((tool for tool in state.skipped if tool.name == name), None)
    if skipped is not None:
        return MissingTool(
            f"Its definition is invalid: {visible(skipped.reason, limit=300, newlines=False)}",
            "The server must fix it; Tools lists every skipped tool.",
        )
    return _hidden(server, name, toolset) or _unknown(tool_id, catalog, session)


def _unconnected(state: ServerState) -> MissingTool:
    server, reason = _shown(state.name), visible(state.reason, limit=300, newlines=False)
    if state.phase is ServerPhase.FAILED:
        ending = f": {reason}" if reason else "."
        return MissingTool(
            f"Its server '{server}' failed{ending}", "See its stderr in Tools; press r there to reconnect."
        )
    if state.phase is ServerPhase.CONNECTING:
        return MissingTool(
            f"Its server '{server}' is still connecting.", "Its tools are indexed once it is ready."
        )
    return MissingTool(f"Its server '{server}' is not connected.", "Press r on it in Tools to connect it.")


def _hidden(server: str, name: str, toolset: Toolset | None) -> MissingTool | None:
    if toolset is None:
        return None
    rule = toolset.servers.get(server)
    if rule is not None and rule.permits(name):
        return None
    which = "this tool" if rule is not None else f"every tool on the server '{_shown(server)}'"
    return MissingTool(
        f"The toolset '{_shown(toolset.name)}' hides {which}.", "Choose another toolset to search it."
    )


def _unknown(tool_id: str, catalog: Catalog, session: SessionState) -> MissingTool:
    near = ", ".join(map(_shown, closest(tool_id, list(catalog.by_id))))
    reason = "No connected server has a tool with this name."
    if session.toolset and session.hidden_tools:
        hidden = f"the toolset '{_shown(session.toolset)}' hides {count(session.hidden_tools, 'tool')}."
        reason = f"No permitted tool has this name; {hidden}"
    return MissingTool(
        reason, f"Closest: {near}. Press p to pick another tool." if near else "Press p to pick another tool."
    )


def _shown(name: str) -> str:
    return visible(name, limit=_NAME, newlines=False)
