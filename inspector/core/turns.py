"""A stream as turns: what the model was sent, answered, searched for and called, message by message.

Every record of a session is in exactly one turn; what is worth a name of its own stands in the turn's model
calls and acts, and the rest is asked for by its kind: `turn.of(ToolEvicted)`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, TypeVar, cast

from msgspec import Struct, field

from inspector.core.events import (
    CallFinished,
    CallRejected,
    CallStarted,
    CatalogBuilt,
    ContextReduced,
    Event,
    Failed,
    GateApplied,
    LoopDetected,
    ModelRequested,
    ModelResponded,
    ModelSwitched,
    Record,
    RedundantSearch,
    SearchPerformed,
    SessionStarted,
    SettingsChanged,
    ToolLoaded,
    TurnEnded,
    TurnOutcome,
    UserSaid,
)
from inspector.schema.json_value import JsonObject

E = TypeVar("E", bound=Event)

ACTS = tuple(each.kind for each in (UserSaid, TurnEnded, ModelRequested, SearchPerformed, CallStarted))
"""The kinds of events that searches and tool calls are made of: all that has to be read for those alone."""


class Session(Struct, eq=False):
    """What holds from one turn to the next, as it is now: `settings` is the whole tree, `label` a name.

    `agent` is whose transcript the session was imported from, "" for one of Toolsight's own.
    """

    id: str = ""
    agent: str = ""
    model: str = ""
    label: str = ""
    toolset: str = ""
    settings: JsonObject = field(default_factory=dict)
    catalog: CatalogBuilt | None = None


class Act(Struct, eq=False, kw_only=True):
    """What the model did, wanted by `call` if that is known; `loop` is what the iteration guard saw in it."""

    record: Record
    call: "ModelCall | None"
    loop: LoopDetected | None = None


class Search(Act, eq=False, kw_only=True):
    """A search; `found` are its results' ids, best first, and `redundant` says that it brought little new."""

    event: SearchPerformed
    found: tuple[str, ...]
    catalog: CatalogBuilt | None = None
    redundant: RedundantSearch | None = None


class ToolCall(Act, eq=False, kw_only=True):
    """A tool call; `end` is None while it runs."""

    event: CallStarted
    end: CallFinished | None = None


class Rejection(Act, eq=False, kw_only=True):
    """A call that never reached a server."""

    event: CallRejected


class ModelCall(Struct, eq=False):
    """A request to the model. `answer` is None until it comes, `catalog` and `model` are those in force.

    `loaded`, `gate` and `reduced` are what happened since the request before it: the tools that were bound,
    the last choice of the gate, and whether the conversation was cut down. `failed` is why no answer came.
    """

    record: Record
    request: ModelRequested
    model: str = ""
    catalog: CatalogBuilt | None = None
    loaded: list[ToolLoaded] = field(default_factory=list)
    gate: GateApplied | None = None
    reduced: bool = False
    answer: ModelResponded | None = None
    failed: Failed | None = None
    acts: list[Act] = field(default_factory=list)

    @property
    def called(self) -> tuple[str, ...]:
        """The ids of the tools that its answer called, in order."""
        return tuple(act.event.tool for act in self.acts if isinstance(act, ToolCall))


class Turn(Struct, eq=False):
    """Everything that follows one message of the user, which is number `message` of its session.

    `said` is None for what came before the first message or after the end of a turn. `records` are all of
    it, `acts` what the model did, in order; an imported session may have some that no model call is known
    of. `outcome` is "" for a turn that did not come to its end.
    """

    session: Session
    message: int = 0
    said: UserSaid | None = None
    records: list[Record] = field(default_factory=list)
    calls: list[ModelCall] = field(default_factory=list)
    acts: list[Act] = field(default_factory=list)
    outcome: TurnOutcome | str = ""
    _by_kind: dict[type[Event], list[Event]] = field(default_factory=dict)

    def add(self, record: Record) -> None:
        """Add a record."""
        self.records.append(record)
        self._by_kind.setdefault(type(record.event), []).append(record.event)

    def of(self, *kinds: type[E]) -> Sequence[E]:
        """Its events of these kinds, in order."""
        if len(kinds) == 1:
            return cast("Sequence[E]", self._by_kind.get(kinds[0], ()))
        return [cast("E", record.event) for record in self.records if type(record.event) in kinds]

    @property
    def searches(self) -> list[Search]:
        """The model's searches."""
        return [act for act in self.acts if isinstance(act, Search)]

    @property
    def tool_calls(self) -> list[ToolCall]:
        """The model's tool calls."""
        return [act for act in self.acts if isinstance(act, ToolCall)]


class Turns:
    """Follows one or more sessions in sequence, record by record; `turn` is the current one."""

    def __init__(self) -> None:
        self._begin("")

    def _begin(self, session: str) -> None:
        self.session = Session(session)
        self.turn = Turn(self.session)
        self._call: ModelCall | None = None
        self._since: list[Event] = []
        self._running: dict[str, ToolCall] = {}

    def after(self, record: Record) -> tuple[Turn, ...]:
        """Add a record, and return the turns that ended before it, with its session, and with it."""
        ended: tuple[Turn, ...] = ()
        if record.session != self.session.id:
            ended = self.end()
            self._begin(record.session)
        kind = type(record.event)
        if kind is UserSaid:
            ended += self._next(1)
        self.turn.add(record)
        if kind in self._TAKEN:
            self._TAKEN[kind](self, record, record.event)
        return ended + self._next(0) if kind is TurnEnded else ended

    def end(self) -> tuple[Turn, ...]:
        """End the current turn, and return it if it has anything."""
        return self._next(0)

    def _next(self, messages: int) -> tuple[Turn, ...]:
        turn, self.turn = self.turn, Turn(self.session, self.turn.message + messages)
        return (turn,) if turn.records else ()

    def _user_said(self, _record: Record, event: UserSaid) -> None:
        self.turn.said = event

    def _turn_ended(self, _record: Record, event: TurnEnded) -> None:
        self.turn.outcome = event.outcome

    def _session_started(self, _record: Record, event: SessionStarted) -> None:
        session = self.session
        session.agent = event.origin.agent if event.origin else ""
        session.model, session.label = event.model, event.model_label
        session.toolset, session.settings = event.toolset, event.settings

    def _settings_changed(self, _record: Record, event: SettingsChanged) -> None:
        self.session.settings = event.settings

    def _model_switched(self, _record: Record, event: ModelSwitched) -> None:
        self.session.model, self.session.label = event.model, event.label

    def _catalog_built(self, _record: Record, event: CatalogBuilt) -> None:
        self.session.catalog, self.session.toolset = event, event.toolset

    def _model_requested(self, record: Record, event: ModelRequested) -> None:
        self._call = ModelCall(record, event, self.session.model, self.session.catalog)
        for before in self._since:
            match before:
                case ToolLoaded():
                    self._call.loaded.append(before)
                case GateApplied():
                    self._call.gate = before
                case ContextReduced():
                    self._call.reduced = True
        self._since.clear()
        self.turn.calls.append(self._call)

    def _model_responded(self, _record: Record, event: ModelResponded) -> None:
        if self._call is not None:
            self._call.answer = event

    def _failed(self, _record: Record, event: Failed) -> None:
        if self.turn.calls:
            self.turn.calls[-1].failed = event

    def _search_performed(self, record: Record, event: SearchPerformed) -> None:
        if event.by == "model":
            found = tuple(hit.tool_id for hit in event.report.results)
            catalog = self.session.catalog
            self._act(Search(record=record, event=event, call=self._call, found=found, catalog=catalog))

    def _redundant_search(self, _record: Record, event: RedundantSearch) -> None:
        search = next((act for act in reversed(self.turn.acts) if isinstance(act, Search)), None)
        if search is not None and search.redundant is None:
            search.redundant = event

    def _call_started(self, record: Record, event: CallStarted) -> None:
        if event.by == "model":
            self._running[event.call_id] = call = ToolCall(record=record, event=event, call=self._call)
            self._act(call)

    def _call_finished(self, _record: Record, event: CallFinished) -> None:
        if (started := self._running.pop(event.call_id, None)) is not None:
            started.end = event

    def _call_rejected(self, record: Record, event: CallRejected) -> None:
        self._act(Rejection(record=record, event=event, call=self._call))

    def _loop_detected(self, _record: Record, event: LoopDetected) -> None:
        if self.turn.acts and self.turn.acts[-1].loop is None:
            self.turn.acts[-1].loop = event

    def _before_a_request(self, _record: Record, event: Event) -> None:
        self._since.append(event)

    def _act(self, act: Act) -> None:
        self.turn.acts.append(act)
        if self._call is not None:
            self._call.acts.append(act)

    # By class: events are many, and whether one is of a class that it is not of takes long to say.
    _TAKEN: ClassVar[Mapping[type[Event], Callable[..., None]]] = {
        SessionStarted: _session_started,
        SettingsChanged: _settings_changed,
        ModelSwitched: _model_switched,
        CatalogBuilt: _catalog_built,
        ModelRequested: _model_requested,
        ModelResponded: _model_responded,
        Failed: _failed,
        SearchPerformed: _search_performed,
        RedundantSearch: _redundant_search,
        CallStarted: _call_started,
        CallFinished: _call_finished,
        CallRejected: _call_rejected,
        LoopDetected: _loop_detected,
        ToolLoaded: _before_a_request,
        GateApplied: _before_a_request,
        ContextReduced: _before_a_request,
        UserSaid: _user_said,
        TurnEnded: _turn_ended,
    }


def turns(records: Iterable[Record]) -> Iterator[Turn]:
    """The turns of one or more sessions in sequence, with what was recorded between them."""
    following = Turns()
    for record in records:
        yield from following.after(record)
    yield from following.end()
