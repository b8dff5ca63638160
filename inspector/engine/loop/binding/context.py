"""The tool context of a session: which found tools are bound and which are evicted (paper, section 6)."""

from collections.abc import Sequence

from inspector.domain.events import EvictionCause, ToolEvicted, ToolLoaded, ToolRefreshed
from inspector.domain.session import Binding, SessionState
from inspector.domain.tool import Tool
from inspector.engine.live import LiveSettings
from inspector.engine.loop.binding.eviction import Limits, evictions
from inspector.engine.loop.binding.loader import DefinitionLoader
from inspector.engine.ports import Clock
from inspector.engine.session import Session
from inspector.engine.tokens.count.accounting import Accounting


class ToolContext:
    """Binds the tools that searches find. Pinned tools do not count and are never evicted."""

    def __init__(
        self,
        session: Session,
        clock: Clock,
        live: LiveSettings,
        loader: DefinitionLoader,
        accounting: Accounting,
    ) -> None:
        self._session = session
        self._clock = clock
        self._live = live
        self._loader = loader
        self._accounting = accounting

    def find(self, tool_ids: Sequence[str], reason: str) -> tuple[str, ...]:
        """Bind the tools a search found, best first; return the ids that are newly bound.

        Loaded tools are refreshed; pinned ones stay as they are. A stale id resolves to the tool with its
        name. Tools beyond the capacity are not bound.
        """
        settings = self._live.settings.binding
        if settings.policy in ("gate", "all"):
            return ()
        resolved = (tool for tool in map(self._loader.resolve, tool_ids) if tool is not None)
        found = list({tool.id: tool for tool in resolved if not self._is_pinned(tool.id)}.values())
        if self._is_bounded:
            found = found[: settings.capacity or None]
        fresh: list[str] = []
        for rank, tool in enumerate(found, start=1):
            if self._state.tools[tool.id].binding.is_bound:
                self._session.emit(ToolRefreshed(tool.id, reason))
            else:
                self._session.emit(ToolLoaded(tool.id, self._accounting.meter.tool(tool), reason, rank))
                fresh.append(tool.id)
        self.trim([tool.id for tool in found])
        return tuple(tool_id for tool_id in fresh if self._state.tools[tool_id].binding.is_bound)

    def staying(self, found: Sequence[str]) -> Sequence[str]:
        """The found tools that `find` leaves bound: the pinned ones, and the first that have room."""
        if not self._is_bounded:
            return found
        pinned = [tool_id for tool_id in found if self._is_pinned(tool_id)]
        limits, tokens = self.limits, 0
        staying = [tool_id for tool_id in found if tool_id not in pinned][: limits.capacity or None]
        for index, tool_id in enumerate(staying):
            tokens += self._state.tools[tool_id].tokens
            if limits.tokens is not None and tokens > limits.tokens:
                return [*pinned, *staying[:index]]
        return [*pinned, *staying]

    def bind(self, tool: Tool, reason: str) -> None:
        """Bind one tool whatever the policy; others may be evicted for it."""
        self._session.emit(ToolLoaded(tool.id, self._accounting.meter.tool(tool), reason))
        self.trim([tool.id])

    def trim(self, latest: Sequence[str] = ()) -> None:
        """Evict expired and excess tools; those just found (`latest`, best first) are evicted last."""
        if not self._is_bounded:
            return
        state = self._state
        loaded = [state.tools[tool_id] for tool_id in state.load_order]
        for eviction in evictions(loaded, self.limits, self._clock.now(), latest):
            self._session.emit(ToolEvicted(eviction.tool_id, eviction.reason, eviction.cause))

    def evict(self, tool_id: str, cause: EvictionCause, reason: str) -> None:
        """Evict a loaded tool; pinned tools stay."""
        known = self._state.tools.get(tool_id)
        if known is not None and known.binding is Binding.LOADED:
            self._session.emit(ToolEvicted(tool_id, reason, cause))

    @property
    def limits(self) -> Limits:
        """The current limits for loaded tools."""
        settings = self._live.settings.binding
        tokens = int(self._free * settings.share) if settings.adaptive else None
        return Limits(settings.capacity, tokens, settings.ttl_seconds, settings.expire_eagerly)

    @property
    def _free(self) -> int:
        """Tokens of the window that are free for loaded tools, based on the last request."""
        state = self._state
        if state.budget is None:
            return state.window
        parts = state.budget.parts
        pinned = sum(state.tools[tool_id].tokens for tool_id in state.pinned)
        return max(state.budget.window - parts.used + max(parts.tools - pinned, 0), 0)

    def _is_pinned(self, tool_id: str) -> bool:
        return self._state.tools[tool_id].binding is Binding.PINNED

    @property
    def _is_bounded(self) -> bool:
        return self._live.settings.binding.policy == "bounded"

    @property
    def _state(self) -> SessionState:
        return self._session.state
