"""The tool context of a session: which found tools are bound, room for more, evictions (section 6)."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.events import EvictionCause, ToolEvicted, ToolLoaded, ToolRefreshed
from inspector.core.message import Message, NoteMessage, ToolMessage
from inspector.core.ports import Clock
from inspector.core.session import Binding, SessionState, ToolState
from inspector.core.stream import LiveModel, Session
from inspector.core.tool import Tool
from inspector.tokens.accounting import Accounting
from inspector.tokens.delivery import DefinitionLoader, effective_delivery, is_native
from inspector.tokens.manifest import SEARCH_TOOLS

TTL: Final = "ttl"
LRU: Final = "lru"


class Limits(Struct, frozen=True):
    """How many loaded tools may stay (0 for any number), and how many tokens they may take.

    `ttl` is in seconds since the last use, 0 for no limit. `eager` evicts expired tools even if there is
    room.
    """

    capacity: int = 0
    tokens: int | None = None
    ttl: float = 0.0
    eager: bool = False

    def are_exceeded(self, loaded: Sequence[ToolState]) -> bool:
        """Whether these are more tools than may stay, or take more tokens."""
        if self.capacity and len(loaded) > self.capacity:
            return True
        return self.tokens is not None and sum(tool.tokens for tool in loaded) > self.tokens

    def fitting(self, found: Iterable[ToolState], beside: Sequence[ToolState] = ()) -> list[ToolState]:
        """The first of the tools that have room beside others that stay."""
        taken = {tool.id: tool for tool in beside}
        fitting: list[ToolState] = []
        for tool in found:
            taken[tool.id] = tool
            if self.are_exceeded(list(taken.values())):
                break
            fitting.append(tool)
        return fitting


class Eviction(Struct, frozen=True):
    """A tool to evict: `cause` is for programs, `reason` for people."""

    tool_id: str
    cause: EvictionCause
    reason: str


def evictions(
    loaded: Sequence[ToolState],
    limits: Limits,
    now: float,
    latest: Sequence[str] = (),
    busy: Collection[str] = (),
) -> tuple[Eviction, ...]:
    """Evict expired tools first, then the least recently used until the rest is within the limits.

    `loaded` holds the loaded tools in load order, without pinned ones. Use is tracked by model call: of the
    tools last used in the same call, those with fewer uses go first, then those from the earlier search, then
    those with a worse rank. The ids in `latest`, best first, were just found and count as the most recent of
    all, whatever else the same model call used; those that are `busy` come next.
    """
    searches = _searches(loaded)
    just_found = {tool_id: len(latest) - index for index, tool_id in enumerate(latest)}

    def recency(entry: tuple[int, ToolState]) -> tuple[int, bool, int, int, int, int]:
        position, tool = entry
        used = (tool.last_call or 0, tool.uses)
        return (just_found.get(tool.id, 0), tool.id in busy, *used, searches[position], -position)

    staying = sorted(enumerate(loaded), key=recency)
    chosen: list[Eviction] = []
    if limits.ttl > 0 and (limits.eager or limits.are_exceeded(loaded)):
        expired = [tool for _, tool in staying if now - _last_use(tool) > limits.ttl]
        limit = f"the limit is {limits.ttl:g} s"
        chosen += [
            Eviction(tool.id, TTL, f"not used for {now - _last_use(tool):.0f} s, {limit}") for tool in expired
        ]
        gone = {tool.id for tool in expired}
        staying = [entry for entry in staying if entry[1].id not in gone]
    left = [tool for _, tool in staying]
    while left and limits.are_exceeded(left):
        chosen.append(Eviction(left[0].id, LRU, _least(left, limits)))
        left = left[1:]
    return tuple(chosen)


def _searches(loaded: Sequence[ToolState]) -> list[int]:
    """For each tool the number of the search that loaded it; within one search the ranks go up from 1."""
    numbers, number, last = [], 0, 0
    for tool in loaded:
        number += tool.place <= last
        last = tool.place
        numbers.append(number)
    return numbers


def _last_use(tool: ToolState) -> float:
    return tool.last_used_at if tool.last_used_at is not None else tool.discovered_at or 0.0


def _least(left: Sequence[ToolState], limits: Limits) -> str:
    if limits.capacity and len(left) > limits.capacity:
        return f"least recently used of {len(left)}, with room for {limits.capacity}"
    tokens = sum(tool.tokens for tool in left)
    return f"least recently used of {tokens} tokens, with room for {limits.tokens}"


# Room is given by rank: to the best match of each search, then to the second best of each, and so on. A
# listing of a server's tools comes last and never unloads a tool that was used: nobody asked for its tools
# one by one.

Load = ToolLoaded | ToolRefreshed


class Found(Struct, frozen=True):
    """What one search found, best first, and its request in words."""

    tools: tuple[str, ...]
    reason: str
    is_listing: bool = False


class Placement(Struct, frozen=True):
    """What the searches of one reply bind and unbind.

    `staying` holds the tools that are bound in the next model call, `loads` what each search binds, in order,
    `evictions` what has to make room.
    """

    staying: frozenset[str]
    loads: tuple[tuple[Load, ...], ...]
    evictions: tuple[ToolEvicted, ...] = ()


def by_rank(rankings: Sequence[Sequence[str]]) -> list[str]:
    """Every tool once: rank 1 of each ranking, then rank 2 of each, and so on."""
    rounds = zip_longest(*rankings)
    return list(dict.fromkeys(tool_id for tool_id in chain.from_iterable(rounds) if tool_id is not None))


class Room:
    """The loaded tools, in load order, and how many of them may stay.

    `calling` are the tools that the reply itself calls: they count as used by it. `kept` are the found tools
    that have room.
    """

    def __init__(
        self, loaded: Sequence[ToolState], limits: Limits, now: float, calling: Collection[str]
    ) -> None:
        self._loaded = list(loaded)
        self._limits = limits
        self._now = now
        self._calling = frozenset(calling)
        self.kept: list[str] = []
        self.evictions: list[Eviction] = []

    def keep(self, found: Sequence[ToolState]) -> None:
        """Load the best of these tools, and evict others for them."""
        self._load(self._limits.fitting(found), self._calling)

    def fill(self, found: Sequence[ToolState]) -> None:
        """As `keep`, but evict no tool that was used, nor one that was kept before."""
        firm = [tool for tool in self._loaded if tool.uses or tool.id in self._calling.union(self.kept)]
        self._load(self._limits.fitting(found, firm), self._calling.union(tool.id for tool in firm))

    @property
    def staying(self) -> frozenset[str]:
        """The tools that are loaded in the end: those kept, and others that did not have to go."""
        return frozenset(tool.id for tool in self._loaded)

    def _load(self, fitting: Sequence[ToolState], busy: Collection[str]) -> None:
        held = {tool.id for tool in self._loaded}
        self._loaded += [tool for tool in fitting if tool.id not in held]
        self.kept = list(dict.fromkeys([*self.kept, *(tool.id for tool in fitting)]))
        gone = evictions(self._loaded, self._limits, self._now, self.kept, busy)
        self.evictions += gone
        self._loaded = [tool for tool in self._loaded if tool.id not in {one.tool_id for one in gone}]


@dataclass(eq=False)
class ToolContext:
    """Binds the tools that searches find. Pinned tools do not count and are never evicted."""

    session: Session
    clock: Clock
    live: LiveModel
    loader: DefinitionLoader
    accounting: Accounting

    def place(self, finds: Sequence[Found], calling: Collection[str] = ()) -> Placement:
        """Decide what the searches of one reply bind and what goes for it. Whoever asked emits the events.

        Tools that are bound already are refreshed; pinned ones stay as they are. A stale id resolves to the
        tool with its name. `calling` are the tools that the reply calls.
        """
        if self.live.settings.binding.policy in ("gate", "all"):
            return Placement(frozenset(chain.from_iterable(find.tools for find in finds)), ((),) * len(finds))
        resolved = [self._resolved(find.tools) for find in finds]
        asked = [ids for find, ids in zip(finds, resolved, strict=True) if not find.is_listing]
        listed = [ids for find, ids in zip(finds, resolved, strict=True) if find.is_listing]
        limits = self.limits if self._is_bounded else Limits()
        room = Room(self._loaded, limits, self.clock.now(), calling)
        room.keep(self._as_found(by_rank(asked)))
        room.fill(self._as_found(by_rank(listed)))
        loads = self._loads(finds, resolved, frozenset(room.kept))
        gone = tuple(ToolEvicted(one.tool_id, one.reason, one.cause) for one in room.evictions)
        return Placement(room.staying.union(self._state.pinned), loads, gone)

    def _resolved(self, tool_ids: Sequence[str]) -> list[str]:
        """The tools with these ids, each once, without the pinned ones."""
        found = (tool for tool in map(self.loader.resolve, tool_ids) if tool is not None)
        pinned = set(self._state.pinned)
        return list(dict.fromkeys(tool.id for tool in found if tool.id not in pinned))

    def _as_found(self, tool_ids: Sequence[str]) -> list[ToolState]:
        """The tools as they are once they are found."""
        state, now = self._state, self.clock.now()
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
        self.session.emit(ToolLoaded(tool.id, self.accounting.meter.tool(tool), reason, cause="hand"))
        self.trim([tool.id])

    def fitting(self, tool_ids: Sequence[str]) -> tuple[str, ...]:
        """Those of these deferred tools, first come, that have room beside all that are loaded."""
        limits = self.limits if self._is_bounded else Limits()
        beside = [
            self._state.tools[tool_id] for tool_id in self._state.places if tool_id in self._state.tools
        ]
        beside += [tool for tool in self._state.held.values() if tool.returns_loaded]
        found = (self._state.tools[tool_id] for tool_id in tool_ids)
        return tuple(tool.id for tool in limits.fitting(found, beside))

    def bind_ahead(self, tool_id: str, reason: str) -> None:
        """Bind a tool that nobody asked for, where `fitting` found room; nothing goes for it."""
        tokens = self._state.tools[tool_id].tokens
        self.session.emit(ToolLoaded(tool_id, tokens, reason, cause="inertia"))

    def trim(self, latest: Sequence[str] = ()) -> None:
        """Evict expired and excess tools; those just found (`latest`, best first) are evicted last."""
        if not self._is_bounded:
            return
        for eviction in evictions(self._loaded, self.limits, self.clock.now(), latest):
            self.session.emit(ToolEvicted(eviction.tool_id, eviction.reason, eviction.cause))

    def evict(self, tool_id: str, cause: EvictionCause, reason: str) -> None:
        """Evict a loaded tool, also while it is held; pinned tools stay."""
        known = self._state.known(tool_id)
        if known is not None and Binding.LOADED in (known.binding, known.held_as):
            self.session.emit(ToolEvicted(tool_id, reason, cause))

    @property
    def _loaded(self) -> list[ToolState]:
        return [self._state.tools[tool_id] for tool_id in self._state.load_order]

    @property
    def limits(self) -> Limits:
        """The current limits for loaded tools."""
        settings = self.live.settings.binding
        tokens = int(self._free * settings.share) if settings.share else None
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

    @property
    def _is_bounded(self) -> bool:
        """Whether tools are unloaded to make room; natively loaded ones are part of the conversation."""
        binding = self.live.settings.binding
        return binding.policy == "bounded" and not is_native(effective_delivery(binding, self.live.features))

    @property
    def _state(self) -> SessionState:
        return self.session.state


_SEARCH_AGAIN = "[What this search found is not available any more. Search again.]"


def without(messages: Sequence[Message], withdrawn: Mapping[str, Tool]) -> tuple[Message, ...]:
    """The conversation as it goes on without the withdrawn tools, by id.

    A note that tells of one goes whole: what was said of the catalog is said anew. Of a result its definition
    goes, and a search that found one is out of date. What such a tool has returned before stays, as does what
    the model and its user said.
    """
    if not withdrawn:
        return tuple(messages)
    names = {tool.wire_name for tool in withdrawn.values()}
    told = (*withdrawn, *names)
    kept = (message for message in messages if not _tells(message, withdrawn))
    return tuple(
        _cut(message, names, told) if isinstance(message, ToolMessage) else message for message in kept
    )


def _tells(message: Message, withdrawn: Mapping[str, Tool]) -> bool:
    return isinstance(message, NoteMessage) and not withdrawn.keys().isdisjoint(message.tools)


def _cut(message: ToolMessage, names: set[str], told: Sequence[str]) -> ToolMessage:
    left = tuple(one for one in message.definitions if one["function"]["name"] not in names)
    is_stale = message.name == SEARCH_TOOLS and any(name in message.text for name in told)
    return replace(message, text=_SEARCH_AGAIN if is_stale else message.text, definitions=left)
