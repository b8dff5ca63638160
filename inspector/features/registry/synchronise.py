"""Keeps the tools that a session's servers offer in a registry."""

from collections.abc import Sequence
from dataclasses import dataclass

from inspector.access.restriction import require_whole
from inspector.core.error import ConfigError
from inspector.core.server import ServerPhase, is_registered
from inspector.core.text import closest
from inspector.features.registry.acceptance import name_problem
from inspector.features.registry.library import FILL
from inspector.search.index.ports import SyncReport, ToolRegistry
from inspector.session.view import SessionView


@dataclass(frozen=True, slots=True)
class Synchronised:
    """What came of one server: the report, or `why` there is none."""

    server: str
    report: SyncReport | None = None
    why: str = ""


def synchronise(
    registry: ToolRegistry, session: SessionView, *, at: float, servers: Sequence[str] = ()
) -> tuple[Synchronised, ...]:
    """Keep the tools of these servers, by default of all; each is an origin of its own name.

    Of a server of which the session may not use every tool, nothing counts as gone. Raises ConfigError for
    an unknown server, StoreError, and ToolsightError unless the session sees everything.
    """
    require_whole(session.sight, FILL)
    known = {spec.name: spec for spec in session.configuration.servers}
    for name in servers:
        if name not in known:
            near = ", ".join(closest(name, list(known)) or known)
            raise ConfigError(f"there is no server '{name}'", hint=f"Servers: {near}.")
    return tuple(
        Synchronised(name, why="its tools come from the registry itself")
        if is_registered(known[name])
        else _one(registry, session, name, at)
        for name in dict.fromkeys(servers or known)
    )


def _one(registry: ToolRegistry, session: SessionView, name: str, at: float) -> Synchronised:
    state = session.state.servers.get(name)
    if state is None or state.phase is not ServerPhase.READY:
        return Synchronised(name, why=(state.reason if state else "") or "it is not connected")
    tools = tuple(tool for tool in session.catalog.tools if tool.server == name)
    if problem := next(filter(None, (name_problem(tool, name) for tool in tools)), ""):
        return Synchronised(name, why=problem)
    report = registry.sync(name, tools, at=at, whole=len(tools) == state.tools)
    return Synchronised(name, report)
