"""A stream as turns: what the model was sent, answered, searched for and called, message by message."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from inspector.core.events import (
    CallFinished,
    CallStarted,
    CatalogBuilt,
    ContextReduced,
    Event,
    GateApplied,
    ModelRequested,
    ModelResponded,
    Record,
    SearchPerformed,
    ToolLoaded,
    TurnEnded,
    TurnOutcome,
    UserSaid,
)

ACTS = tuple(each.kind for each in (UserSaid, TurnEnded, ModelRequested, SearchPerformed, CallStarted))
"""The kinds of events that the acts of turns are made of: all that has to be read for those alone."""


@dataclass(slots=True, eq=False)
class Search:
    """A search of the model, made by `call` if that is known; `found` are its results' ids, best first."""

    record: Record
    event: SearchPerformed
    call: "ModelCall | None"
    found: tuple[str, ...]


@dataclass(slots=True, eq=False)
class ToolCall:
    """A tool call of the model, wanted by `call` if that is known; `end` is None while it runs."""

    record: Record
    event: CallStarted
    call: "ModelCall | None"
    end: CallFinished | None = None


@dataclass(slots=True, eq=False)
class ModelCall:
    """A request to the model. `answer` is None until it comes, `catalog` the one in force.

    `loaded`, `gate` and `reduced` are what happened since the request before it: the tools that were bound,
    the last choice of the gate, and whether the conversation was cut down.
    """

    record: Record
    request: ModelRequested
    catalog: CatalogBuilt | None = None
    loaded: tuple[ToolLoaded, ...] = ()
    gate: GateApplied | None = None
    reduced: bool = False
    answer: ModelResponded | None = None
    acts: list[Search | ToolCall] = field(default_factory=list)

    @property
    def called(self) -> tuple[str, ...]:
        """The ids of the tools that its answer called, in order."""
        return tuple(act.event.tool for act in self.acts if isinstance(act, ToolCall))


@dataclass(slots=True, eq=False)
class Turn:
    """Everything that follows one message of the user, which is number `message` of its session.

    Number 0 is what came before the first. `acts` are in order; an imported session may have some that no
    model call is known of. `outcome` is "" for a turn that did not come to its end.
    """

    message: int = 0
    calls: list[ModelCall] = field(default_factory=list)
    acts: list[Search | ToolCall] = field(default_factory=list)
    outcome: TurnOutcome | str = ""


@dataclass(slots=True)
class _Since:
    """What happened since the last request to the model."""

    loaded: list[ToolLoaded] = field(default_factory=list)
    gate: GateApplied | None = None
    reduced: bool = False


class Turns:
    """Follows one or more sessions in sequence, record by record. What a person does by hand is left out."""

    def __init__(self) -> None:
        self._begin("")

    def _begin(self, session: str) -> None:
        self._session = session
        self._turn = Turn()
        self._call: ModelCall | None = None
        self._catalog: CatalogBuilt | None = None
        self._since = _Since()
        self._running: dict[str, ToolCall] = {}

    def after(self, record: Record) -> tuple[Turn, ...]:
        """Add a record, and return the turns that ended before it, with its session, and with it."""
        ended: tuple[Turn, ...] = ()
        if record.session != self._session:
            ended = self.end()
            self._begin(record.session)
        match record.event:
            case UserSaid():
                ended += self._next(1)
            case TurnEnded(outcome=outcome):
                self._turn.outcome = outcome
                ended += self._next(0)
            case ModelRequested() as event:
                self._requested(record, event)
            case ModelResponded() as event if self._call is not None:
                self._call.answer = event
            case SearchPerformed(by="model") as event:
                found = tuple(hit.tool_id for hit in event.report.results)
                self._act(Search(record, event, self._call, found))
            case CallStarted(by="model") as event:
                self._running[event.call_id] = call = ToolCall(record, event, self._call)
                self._act(call)
            case _:
                self._note(record.event)
        return ended

    def _note(self, event: Event) -> None:
        match event:
            case CallFinished() if started := self._running.pop(event.call_id, None):
                started.end = event
            case CatalogBuilt():
                self._catalog = event
            case ToolLoaded():
                self._since.loaded.append(event)
            case GateApplied():
                self._since.gate = event
            case ContextReduced():
                self._since.reduced = True

    def end(self) -> tuple[Turn, ...]:
        """End the current turn, and return it if it has anything."""
        return self._next(0)

    def _next(self, messages: int) -> tuple[Turn, ...]:
        turn, self._turn = self._turn, Turn(self._turn.message + messages)
        return (turn,) if turn.calls or turn.acts or turn.outcome else ()

    def _requested(self, record: Record, event: ModelRequested) -> None:
        since, self._since = self._since, _Since()
        self._call = ModelCall(record, event, self._catalog, tuple(since.loaded), since.gate, since.reduced)
        self._turn.calls.append(self._call)

    def _act(self, act: Search | ToolCall) -> None:
        self._turn.acts.append(act)
        if self._call is not None:
            self._call.acts.append(act)


def turns(records: Iterable[Record]) -> Iterator[Turn]:
    """The turns of one or more sessions in sequence that have anything."""
    following = Turns()
    for record in records:
        yield from following.after(record)
    yield from following.end()
