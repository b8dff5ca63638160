"""A session over its model calls: which tools each model call had bound, what moved them, and why.

Column `n` shows what call `n` was sent; its actions show what it did, and the moves
they caused appear in column `n + 1`, the first call to see them. The column after the last call is now.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

from msgspec import Struct, field
from msgspec.structs import replace

from inspector.core.access import matches
from inspector.core.events import (
    BudgetMeasured,
    CallFinished,
    CallRejected,
    CallStarted,
    CatalogBuilt,
    Event,
    GateApplied,
    LoopDetected,
    ModelRequested,
    ModelResponded,
    Record,
    RedundantSearch,
    SearchPerformed,
    SessionStarted,
    SettingsChanged,
    TaskChanged,
    ToolEvicted,
    ToolLoaded,
    ToolRefreshed,
    TurnEnded,
    UserSaid,
)
from inspector.core.fold.tool import evolve, step
from inspector.core.message import arguments_text
from inspector.core.number import count
from inspector.core.session import Binding, CallCost, SessionState, ToolState
from inspector.core.text import one_line, shortened
from inspector.core.tool import server_of

_MAY_MOVE = (CatalogBuilt, ToolLoaded, ToolEvicted, GateApplied)
_ACTIONS = (SearchPerformed, TaskChanged, CallFinished, CallRejected, LoopDetected, RedundantSearch)
_SHOWN = (
    *(SessionStarted, SettingsChanged, UserSaid, TurnEnded, ModelRequested, CallStarted, ToolRefreshed),
    *(*_MAY_MOVE, *_ACTIONS),
)
_COSTS = (ModelResponded, BudgetMeasured)
KINDS = tuple(each.kind for each in _SHOWN)
"""The kinds of events that a timeline without its costs is made of."""
COST_KINDS = tuple(each.kind for each in _COSTS)
"""The kinds that its costs are made of, too."""
_READ = frozenset((*_SHOWN, *_COSTS))
_ACTION_LIMIT = 300


class Move(Struct, frozen=True, gc=False):
    """A change of a tool's binding before model call `call`, the first one to see it.

    `binding_from` is None if the tool was not in the catalog, `binding_to` is None if it left it. `cause` is
    `load`, `gate`, `catalog` or the cause of an eviction; `reason` is for people.
    """

    tool: str
    call: int
    seq: int
    binding_from: Binding | None
    binding_to: Binding | None
    reason: str
    cause: str

    @property
    def is_move(self) -> bool:
        """Whether the binding changed, rather than the tool joining the catalog."""
        return self.binding_from is not None


class Lane(Struct):
    """One tool over the model calls. The first of its `moves` is its arrival in the catalog."""

    tool: str
    moves: list[Move] = field(default_factory=list)

    def during(self, call: int) -> Binding | None:
        """The binding during model call `call`, or None while the tool was not in the catalog."""
        done = bisect_right(self.moves, call, key=lambda move: move.call)
        return self.moves[done - 1].binding_to if done else None

    def states(self, first: int, count: int) -> Iterator[tuple[Binding | None, bool]]:
        """The binding in each of `count` calls from `first` on, and whether it changed before that call."""
        done = bisect_right(self.moves, first - 1, key=lambda move: move.call)
        for call in range(first, first + count):
            start = done
            while done < len(self.moves) and self.moves[done].call == call:
                done += 1
            binding = self.moves[done - 1].binding_to if done else None
            yield binding, any(move.is_move for move in self.moves[start:done])


class Tally(Struct, frozen=True, gc=False):
    """Counts up to some moment; `accuracy` is `SessionState.accuracy`, `tools` counts by binding."""

    searches: int = 0
    loads: int = 0
    evictions: int = 0
    rejections: int = 0
    refusals: int = 0
    recoveries: int = 0
    loops: int = 0
    accuracy: float | None = None
    tools: Mapping[Binding, int] = field(default_factory=dict)


class Action(Struct, frozen=True, gc=False):
    """Something the model did, or a reaction to it: a search, a call, a rejection, a loop.

    `arguments` are those of a call that has a result, on one line of at most 300 characters.
    """

    seq: int
    kind: str
    text: str
    ok: bool = True
    arguments: str = ""


class ModelCall(Struct, frozen=True, gc=False):
    """One model call. `message` counts user messages; `tally` holds the counts before the call.

    In a session whose record has no model calls, such as a tap's, it is a call of the tool `called`.
    """

    number: int
    seq: int
    message: int
    said: str
    tool_tokens: int
    same: int
    resent: int
    change: str
    think: bool
    tally: Tally
    actions: list[Action] = field(default_factory=list)
    called: str = ""


class Timeline:
    """Grows with the stream, record by record; the cost per record does not depend on the stream's length.

    `calls` are the model calls; `lanes` the tools that moved or were pinned by name, in the order of their
    first move. `costs` has what each model call cost, by its column.
    """

    def __init__(self) -> None:
        self.calls: list[ModelCall] = []
        self.lanes: list[Lane] = []
        self.costs: dict[int, CallCost] = {}
        self._all: dict[str, Lane] = {}
        self._own: set[str] = set()
        self._moves: dict[int, list[Move]] = {}
        self._tools: Mapping[Binding, int] = dict.fromkeys(Binding, 0)
        self._state = SessionState()
        self._said = ""
        self._messages = 0
        self._by_hand: set[str] = set()
        self._unanswered: dict[str, ModelCall] = {}
        self._arguments: dict[str, str] = {}

    @classmethod
    def of(cls, records: Iterable[Record]) -> Self:
        """The timeline of a whole stream."""
        timeline = cls()
        for record in records:
            timeline.after(record)
        return timeline

    @property
    def now(self) -> int:
        """The column after the last model call, which shows what the next one will be sent."""
        return len(self.calls) + 1

    def tally(self, column: int) -> Tally:
        """The counts when the column's model call ran."""
        return self.calls[column - 1].tally if 0 < column < self.now else self._tally()

    def moves_at(self, column: int) -> tuple[Move, ...]:
        """The moves that appear first in this column, in order."""
        return tuple(self._moves.get(column, ()))

    def rest(self, column: int) -> Mapping[Binding, int]:
        """The number of tools without a lane, by binding."""
        own = Counter(lane.during(column) for lane in self.lanes)
        return {kind: count - own[kind] for kind, count in self.tally(column).tools.items()}

    def after(self, record: Record) -> None:
        """Add one record."""
        event = record.event
        if type(event) not in _READ:
            return
        before = self._state
        # Without its conversation and with its last cost alone: both grow with the stream, and copying them
        # a record would be quadratic.
        self._state = step(event, evolve(before, at=record.at, costs=before.costs[-1:]))
        if isinstance(event, _MAY_MOVE):
            self._move(record, _every(before))
        self._note(record)
        if self._state.costs and self._state.costs != before.costs:
            self.costs[len(self.calls)] = self._state.costs[-1]

    def _note(self, record: Record) -> None:
        match record.event:
            case UserSaid(text):
                self._said = text
                self._messages += 1
            case ModelRequested() as event:
                self.calls.append(self._call(record.seq, event))
            case CallStarted(call_id=call_id, by=by, tool=tool, arguments=arguments):
                (self._by_hand.discard if by == "model" else self._by_hand.add)(call_id)
                self._arguments[call_id] = shortened(one_line(arguments_text(arguments)), _ACTION_LIMIT)
                if by == "model" and (not self.calls or self.calls[0].called):
                    self.calls.append(self._tool_call(record.seq, tool))
                    self._unanswered[call_id] = self.calls[-1]
            case TaskChanged(call_id=call_id) | CallFinished(call_id=call_id) if call_id in self._unanswered:
                self._unanswered[call_id].actions.append(self._action(record))
            case event if isinstance(event, _ACTIONS) and self.calls and self._is_model(event):
                self.calls[-1].actions.append(self._action(record))

    @property
    def kind(self) -> str:
        """What a column is: a model call, or a tool call where the record has no model calls."""
        return "tool call" if self.calls and self.calls[0].called else "model call"

    def _tool_call(self, seq: int, tool: str) -> ModelCall:
        lane = self._all.get(tool)
        if lane is not None and tool not in self._own:
            self._own.add(tool)
            self.lanes.append(lane)
        sent = sum(one.tokens for one in self._state.tools.values() if one.binding.is_bound)
        return ModelCall(self.now, seq, 0, "", sent, 0, 0, "", think=False, tally=self._tally(), called=tool)

    def _action(self, record: Record) -> Action:
        event = record.event
        if isinstance(event, CallFinished):
            return replace(_action(record), arguments=self._arguments.pop(event.call_id, ""))
        return _action(record)

    def _is_model(self, event: Event) -> bool:
        if isinstance(event, CallFinished | TaskChanged):
            return event.call_id not in self._by_hand
        return not isinstance(event, SearchPerformed) or event.by == "model"

    def _call(self, seq: int, event: ModelRequested) -> ModelCall:
        return ModelCall(
            number=self.now,
            seq=seq,
            message=self._messages,
            said=self._said,
            tool_tokens=event.tokens.tool_tokens,
            same=event.same,
            resent=event.resent,
            change=event.change,
            think=event.think,
            tally=self._tally(),
        )

    def _tally(self) -> Tally:
        state = self._state
        return Tally(
            searches=state.searches,
            loads=state.loads,
            evictions=state.evictions,
            rejections=state.rejections,
            refusals=state.refusals,
            recoveries=state.recoveries,
            loops=state.loops,
            accuracy=state.accuracy,
            tools=self._tools,
        )

    def _move(self, record: Record, before: Mapping[str, ToolState]) -> None:
        after, event = _every(self._state), record.event
        for tool_id in _candidates(record.event, before, after):
            old, new = before.get(tool_id), after.get(tool_id)
            binding_from = old.binding if old is not None else None
            binding_to = new.binding if new is not None else None
            if binding_from is binding_to:
                continue
            self._count(binding_from, binding_to)
            if not self.calls and {binding_from, binding_to} == {Binding.PINNED, Binding.DEFERRED}:
                # It only arrives again: servers connect one by one, before any model call.
                binding_from = None
                self._forget(tool_id)
            reason = _reason(record.event, binding_from, new)
            cause = (event.cause if isinstance(event, ToolEvicted) else "") or event.kind
            move = Move(
                tool=tool_id,
                call=self.now,
                seq=record.seq,
                binding_from=binding_from,
                binding_to=binding_to,
                reason=reason,
                cause=cause,
            )
            self._keep(move, record.event)

    def _count(self, old: Binding | None, new: Binding | None) -> None:
        for binding, change in ((old, -1), (new, 1)):
            if binding is not None:
                self._tools = {**self._tools, binding: self._tools[binding] + change}

    def _forget(self, tool_id: str) -> None:
        """Drop a tool's moves before the first model call."""
        if tool_id in self._all:
            self._all[tool_id].moves.clear()
            self._moves[1] = [move for move in self._moves.get(1, ()) if move.tool != tool_id]

    def _keep(self, move: Move, event: Event) -> None:
        lane = self._all.setdefault(move.tool, Lane(move.tool))
        lane.moves.append(move)
        if move.tool not in self._own and ((move.is_move and move.binding_to) or self._is_named(move, event)):
            self._own.add(move.tool)
            self.lanes.append(lane)
        if move.tool in self._own:
            self._moves.setdefault(move.call, []).append(move)

    def _is_named(self, move: Move, event: Event) -> bool:
        """Whether the tool is pinned individually: by a setting, or while other tools of its server wait."""
        if move.binding_to is not Binding.PINNED or not isinstance(event, CatalogBuilt):
            return False
        binding = self._state.settings.get("binding")
        patterns = binding.get("always_include") if isinstance(binding, Mapping) else ()
        waiting = {server_of(entry.id) for entry in event.entries if entry.deferred}
        return matches(move.tool, _strings(patterns)) or server_of(move.tool) in waiting


def _every(state: SessionState) -> Mapping[str, ToolState]:
    """Every tool of the session, those of servers that are away included."""
    return {**state.tools, **state.held} if state.held else state.tools


def _candidates(
    event: Event, before: Mapping[str, ToolState], after: Mapping[str, ToolState]
) -> Iterator[str] | Sequence[str]:
    """The tools that the event may have moved."""
    if isinstance(event, ToolLoaded | ToolEvicted):
        return (event.tool,)
    return iter(dict.fromkeys((*before, *after)))


def _reason(event: Event, binding_from: Binding | None, tool: ToolState | None) -> str:
    if not isinstance(event, CatalogBuilt):
        return tool.reason if tool is not None else ""
    toolset = f", toolset {event.toolset}" if event.toolset else ""
    if tool is None:
        return f"left the catalog{toolset}"
    if tool.binding is Binding.HELD:
        return f"{tool.server} is away; {tool.held_as} again once it reconnects"
    if binding_from is Binding.HELD:
        return f"{tool.server} is back"
    state = "always bound" if tool.binding is Binding.PINNED else "waits for a search"
    return f"{state} from here on{toolset}" if binding_from else f"{state}{toolset}"


def _action(record: Record) -> Action:
    event = record.event
    failed = (isinstance(event, CallFinished) and not event.ok) or not isinstance(
        event, SearchPerformed | CallFinished
    )
    text = event.summary()[:_ACTION_LIMIT]
    if isinstance(event, CallFinished) and event.tokens is not None:
        text += f"  {count(event.tokens, 'token')}"
    return Action(record.seq, record.kind, text, not failed)


def _strings(value: Any) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list | tuple) else ()
