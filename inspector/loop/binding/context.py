"""The tool context of a session: which found tools are bound and which are evicted (paper, section 6)."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import chain

from inspector.core.events import EvictionCause, ToolEvicted, ToolLoaded, ToolRefreshed
from inspector.core.live import LiveModel
from inspector.core.ports import Clock
from inspector.core.session import Binding, SessionState, ToolState
from inspector.core.stream import Session
from inspector.core.tool import Tool
from inspector.loop.binding.eviction import Limits, evictions
from inspector.loop.binding.room import Found, Load, Placement, Room, by_rank
from inspector.tokens.cost.delivery import effective_delivery, is_native
from inspector.tokens.cost.loader import DefinitionLoader
from inspector.tokens.count.accounting import Accounting


class ToolContext:
    """Binds the tools that searches find. Pinned tools do not count and are never evicted."""

    def __init__(
        self,
        session: Session,
        clock: Clock,
        live: LiveModel,
        loader: DefinitionLoader,
        accounting: Accounting,
    ) -> None:
        self._session = session
        self._clock = clock
        self._live = live
        self._loader = loader
        self._accounting = accounting

    def place(self, finds: Sequence[Found], calling: Collection[str] = ()) -> Placement:
        """Decide what the searches of one reply bind and what goes for it. Whoever asked emits the events.

        Tools that are bound already are refreshed; pinned ones stay as they are. A stale id resolves to the
        tool with its name. `calling` are the tools that the reply calls.
        """
        if self._live.settings.binding.policy in ("gate", "all"):
            return Placement(frozenset(chain.from_iterable(find.tools for find in finds)), ((),) * len(finds))
        resolved = [self._resolved(find.tools) for find in finds]
        asked = [ids for find, ids in zip(finds, resolved, strict=True) if not find.is_listing]
        listed = [ids for find, ids in zip(finds, resolved, strict=True) if find.is_listing]
        limits = self.limits if self._is_bounded else Limits()
        room = Room(self._loaded, limits, self._clock.now(), calling)
        room.keep(self._as_found(by_rank(asked)))
        room.fill(self._as_found(by_rank(listed)))
        loads = self._loads(finds, resolved, frozenset(room.kept))
        gone = tuple(ToolEvicted(one.tool_id, one.reason, one.cause) for one in room.evictions)
        return Placement(room.staying.union(self._state.pinned), loads, gone)

    def _resolved(self, tool_ids: Sequence[str]) -> list[str]:
        """The tools with these ids, each once, without the pinned ones."""
        found = (tool for tool in map(self._loader.resolve, tool_ids) if tool is not None)
        return list(dict.fromkeys(tool.id for tool in found if not self._is_pinned(tool.id)))

    def _as_found(self, tool_ids: Sequence[str]) -> list[ToolState]:
        """The tools as they are once they are found."""
        state, now = self._state, self._clock.now()
        return [
            replace(state.tools[id_], binding=Binding.LOADED, last_call=state.model_calls, last_used_at=now)
            for id_ in tool_ids
        ]

    def _loads(
        self, finds: Sequence[Found], resolved: Sequence[Sequence[str]], kept: Collection[str]
    ) -> tuple[tuple[Load, ...], ...]:
        """What each search binds or, if it is bound by then, refreshes."""
        bound = {tool.id for tool in self._loaded}
        loads = []
        for find, tool_ids in zip(finds, resolved, strict=True):
            events: list[Load] = []
            for rank, tool_id in enumerate((id_ for id_ in tool_ids if id_ in kept), start=1):
                if tool_id in bound:
                    events.append(ToolRefreshed(tool_id, find.reason))
                else:
                    tokens = self._state.tools[tool_id].tokens
                    events.append(ToolLoaded(tool_id, tokens, find.reason, rank, cause="search"))
            bound.update(event.tool for event in events)
            loads.append(tuple(events))
        return tuple(loads)

    def bind(self, tool: Tool, reason: str) -> None:
        """Bind one tool whatever the policy; others may be evicted for it."""
        self._session.emit(ToolLoaded(tool.id, self._accounting.meter.tool(tool), reason, cause="hand"))
        self.trim([tool.id])

    def fitting(self, tool_ids: Sequence[str]) -> tuple[str, ...]:
        """Those of these deferred tools, first come, that have room beside all that are loaded."""
        limits = self.limits if self._is_bounded else Limits()
        beside = [
            self._state.tools[tool_id] for tool_id in self._state.places if tool_id in self._state.tools
        ]
        beside += [tool for tool in self._state.held.values() if tool.returns_loaded]
        fitting: list[str] = []
        for tool_id in tool_ids:
            beside.append(self._state.tools[tool_id])
            if limits.are_exceeded(beside):
                break
            fitting.append(tool_id)
        return tuple(fitting)

    def bind_ahead(self, tool_id: str, reason: str) -> None:
        """Bind a tool that nobody asked for, where `fitting` found room; nothing goes for it."""
        tokens = self._state.tools[tool_id].tokens
        self._session.emit(ToolLoaded(tool_id, tokens, reason, cause="inertia"))

    def trim(self, latest: Sequence[str] = ()) -> None:
        """Evict expired and excess tools; those just found (`latest`, best first) are evicted last."""
        if not self._is_bounded:
            return
        for eviction in evictions(self._loaded, self.limits, self._clock.now(), latest):
            self._session.emit(ToolEvicted(eviction.tool_id, eviction.reason, eviction.cause))

    def evict(self, tool_id: str, cause: EvictionCause, reason: str) -> None:
        """Evict a loaded tool, also while it is held; pinned tools stay."""
        known = self._state.known(tool_id)
        if known is not None and Binding.LOADED in (known.binding, known.held_as):
            self._session.emit(ToolEvicted(tool_id, reason, cause))

    @property
    def _loaded(self) -> list[ToolState]:
        return [self._state.tools[tool_id] for tool_id in self._state.load_order]

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
        """Whether tools are unloaded to make room; natively loaded ones are part of the conversation."""
        binding = self._live.settings.binding
        return binding.policy == "bounded" and not is_native(effective_delivery(binding, self._live.features))

    @property
    def _state(self) -> SessionState:
        return self._session.state
