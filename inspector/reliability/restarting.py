"""Starts a failed server again as often as its breaker allows, and tells a model what changed meanwhile."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Protocol

from inspector.core.breaker import FailureKind
from inspector.core.definition import definition_hash
from inspector.core.events import VersionTold
from inspector.core.message import NoteMessage
from inspector.core.number import count
from inspector.core.server import ServerPhase
from inspector.core.session import SessionState
from inspector.core.stream import LiveSettings, Session
from inspector.core.tool import Tool
from inspector.reliability.breaking import Breakers

MOST_NOTED = 10
"""More changed tools than these are counted in a note to the model, not named."""
_MOST_REASONS, _LONGEST_REASON, _LONGEST_NOTE = 5, 200, 4_000
_REBOUND = "Its definition in this request is the new one: use that."
_UNLOADED = "It was unloaded: find it again with search_tools before you call it."


class VersionNotes:
    """Tells the model of breaking changes of tools that it has read of, once each."""

    def __init__(self, session: Session, live: LiveSettings) -> None:
        self._session = session
        self._live = live

    def notes(self) -> tuple[NoteMessage, ...]:
        """What the next model call has to say; () mostly. A tool whose server is away waits for it."""
        state = self._session.state
        told = {tool: why for tool, why in state.untold.items() if tool in state.tools}
        if not told or not self._live.settings.versions.tell:
            return ()
        lines = [_line(state, tool, why) for tool, why in told.items()]
        shown = _fitting(lines)
        more = (f"And {count(len(lines) - shown, 'more tool')}.",) if shown < len(lines) else ()
        text = "\n".join(("[The definition of a tool that you know changed.", *lines[:shown], *more))
        self._session.emit(VersionTold(tuple(told), f"{text}]"))
        return (NoteMessage(f"{text}]"),)


def _fitting(lines: Sequence[str]) -> int:
    """How many of these lines a note has room for; the first always has."""
    ends = accumulate(map(len, lines[:MOST_NOTED]))
    return sum(number == 0 or end <= _LONGEST_NOTE for number, end in enumerate(ends))


def _line(state: SessionState, tool: str, why: Sequence[str]) -> str:
    reasons = [
        one if len(one) <= _LONGEST_REASON else f"{one[:_LONGEST_REASON]}…" for one in why[:_MOST_REASONS]
    ]
    more = f"; and {len(why) - _MOST_REASONS} more" if len(why) > _MOST_REASONS else ""
    return f"{tool}: {'; '.join(reasons)}{more}. {_now(state, tool)}"


def _now(state: SessionState, tool: str) -> str:
    return _REBOUND if state.tools[tool].binding.is_bound else _UNLOADED


# Turns of the event loop after which a connection that closed is known to have.
_TURNS = 20


class Reconnecting(Protocol):
    """Connects servers again, under the consent that was given for them."""

    async def reconnect(self, server: str) -> None:
        """Reopen a connection, and wait until the server is ready or has failed."""


class Restarts:
    """Brings servers back that failed; one that a person stopped stays stopped."""

    def __init__(
        self,
        session: Session,
        servers: Reconnecting,
        breakers: Breakers,
        current: Callable[[str], Tool | None],
    ) -> None:
        """`current` returns the tool with an id as its server lists it now."""
        self._session = session
        self._servers = servers
        self._breakers = breakers
        self._current = current

    async def bring_back(self, tool: Tool) -> bool:
        """Connect the failed server of a tool; return whether it is ready. Raises CircuitOpen."""
        if not self._breakers.is_on or self._phase(tool.server) is not ServerPhase.FAILED:
            return False
        permits = self._breakers.admit_server(tool.server)
        failure: FailureKind | None = FailureKind.CANCELLED
        try:
            await self._servers.reconnect(tool.server)
            is_ready = self._phase(tool.server) is ServerPhase.READY
            # A start is no answered call; but a breaker that waits for one sign of life has it.
            is_probe = any(permit.probe for _, permit in permits)
            ready = None if is_probe else FailureKind.CANCELLED
            failure = ready if is_ready else FailureKind.TRANSPORT
        finally:
            self._breakers.tell(self._breakers.note(permits, failure))
        return is_ready

    async def is_there(self, tool: Tool) -> bool:
        """Whether a tool can be called again, with its server brought back if needed. Raises CircuitOpen.

        A tool that came back with another definition is not the one that was allowed.
        """
        if self._phase(tool.server) is not ServerPhase.READY and not await self.bring_back(tool):
            return False
        now = self._current(tool.id)
        return now is not None and definition_hash(now) == definition_hash(tool)

    async def noticed(self, tool: Tool) -> None:
        """Let the session notice that a server has gone: a call on it may end a moment earlier."""
        for _ in range(_TURNS):
            if self._phase(tool.server) is not ServerPhase.READY:
                return
            await asyncio.sleep(0)

    def may_be_there(self, tool: Tool) -> bool:
        """Whether the server of a tool is ready or may be brought back."""
        phase = self._phase(tool.server)
        return phase is ServerPhase.READY or (self._breakers.is_on and phase is ServerPhase.FAILED)

    def _phase(self, server: str) -> ServerPhase | None:
        state = self._session.state.servers.get(server)
        return state.phase if state is not None else None
