"""What events of the marketplace change: the last suggestions, and servers that are gone."""

from inspector.core.events import MarketplaceSearched, ServerRemoved
from inspector.core.fold.step import evolve, step
from inspector.core.session import SessionState


@step.register
def _marketplace_searched(event: MarketplaceSearched, state: SessionState) -> SessionState:
    return evolve(state, marketplace=event.report)


@step.register
def _server_removed(event: ServerRemoved, state: SessionState) -> SessionState:
    """Leave nothing of the server but the definitions that its calls were made with."""
    start = f"{event.server}:"
    return evolve(
        state,
        servers={name: one for name, one in state.servers.items() if name != event.server},
        listed={tool: hash_ for tool, hash_ in state.listed.items() if not tool.startswith(start)},
        not_read_only=frozenset(tool for tool in state.not_read_only if not tool.startswith(start)),
        trusted_servers=state.trusted_servers - {event.server},
    )
