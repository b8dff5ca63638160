"""The conversation as people read it: one item per message, search, call and notice, built from events."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import singledispatch
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from inspector.core import events
from inspector.core.error import BreakerState, Severity
from inspector.core.marketplace import Suggestion
from inspector.core.message import arguments_text
from inspector.core.number import count
from inspector.core.ranking import SearchReport, SearchRequest
from inspector.schema.json_value import JsonObject


class ItemKind(StrEnum):
    USER = "user"
    ANSWER = "answer"
    THOUGHT = "thought"
    SEARCH = "search"
    CALL = "call"
    NOTICE = "notice"
    WARNING = "warning"
    ERROR = "error"


class ItemStatus(StrEnum):
    RUNNING = "running"
    OK = "ok"
    FAILED = "failed"
    REJECTED = "rejected"


class Item(Struct, frozen=True):
    """One block of the conversation. `seq` is the event that opened it; `text` is the raw body.

    Of an error, `raw` is what a model's provider said, as it came. Of a search, `report` is an outline,
    `loaded` holds the tokens of each tool that it bound, `called` its results that the model called later in
    the turn, and `suggested` the plugins that it found in the marketplace. Of a call that failed, `outcome`
    says how, in words.
    """

    seq: int
    kind: ItemKind
    text: str = ""
    title: str = ""
    raw: str = ""
    status: ItemStatus = ItemStatus.OK
    call_id: str = ""
    arguments: JsonObject | None = None
    report: SearchReport | None = None
    milliseconds: float = 0.0
    loaded: Mapping[str, int] = field(default_factory=dict)
    called: frozenset[str] = frozenset()
    suggested: tuple[Suggestion, ...] = ()
    outcome: str = ""

    def found(self, tool_id: str) -> bool:
        """Whether it is a search that returned a tool."""
        return self.report is not None and any(hit.tool_id == tool_id for hit in self.report.results)


class Conversation(Struct, frozen=True):
    """The items so far, oldest first: those of the current turn, and those `earlier` in a tuple of their own.

    An event copies the items of its turn alone.
    """

    turn: tuple[Item, ...] = ()
    earlier: tuple[Item, ...] = ()

    @property
    def items(self) -> tuple[Item, ...]:
        return (*self.earlier, *self.turn)

    def after(self, record: events.Record) -> "Conversation":
        """The conversation after one more event; the same object if the event adds nothing."""
        event, seq, turn, earlier = record.event, record.seq, self.turn, self.earlier
        if isinstance(event, events.TurnEnded):
            return Conversation((), (*earlier, *_step(event, seq, turn)))
        if turn:
            turn = _step(event, seq, turn)
        if turn is not self.turn:
            return Conversation(turn, earlier)
        if turn and not isinstance(event, events.CallFinished | events.TaskChanged):
            return self
        # Between turns, or about a call of an earlier one.
        items = _step(event, seq, earlier)
        if items is earlier:
            return self
        return Conversation((*turn, *items[len(earlier) :]), items[: len(earlier)])

    @property
    def last_search(self) -> SearchRequest | None:
        """What the model searched for last, in a search that was one; None if it made none."""
        reports = (item.report for item in reversed(self.items) if item.report is not None)
        return next((report.request for report in reports if not report.error), None)


_Items = tuple[Item, ...]


class _Notice(Struct, frozen=True):
    """How an event is told: with a title and a text, and `within` a conversation only."""

    title: Callable[[Any], str]
    text: Callable[[Any], str] = lambda _event: ""
    kind: ItemKind = ItemKind.NOTICE
    within: bool = False


_NOTICES: Mapping[type[events.Event], _Notice] = {
    events.CallRetried: _Notice(lambda event: f"retry: {event.summary()}", within=True),
    events.ClientListed: _Notice(lambda event: f"listed {event.summary()}"),
    events.CatalogTold: _Notice(lambda event: f"told {event.summary()}", lambda event: event.text),
    events.ContextReduced: _Notice(
        lambda event: (
            f"{'' if event.step == 'compaction' else 'window nearly full, '}{event.step}: {event.sizes}"
        ),
        lambda event: event.text,
    ),
    events.ElicitationCompleted: _Notice(lambda event: event.summary(), within=True),
    events.LoopDetected: _Notice(
        lambda event: f"{event.tool} called {event.count}x with the same arguments",
        lambda event: event.guidance,
        ItemKind.WARNING,
    ),
    events.MilestoneReached: _Notice(lambda event: f"milestone reached: {event.name}"),
    events.ModelRetried: _Notice(lambda event: f"retry: {event.summary()}"),
    # There is more to call from here on.
    events.PluginInstalled: _Notice(lambda event: f"installed: {event.summary()}", within=True),
    events.RedundantSearch: _Notice(
        lambda event: event.why if event.overlap is None else f"redundant search: {event.why}",
        lambda event: event.note,
        ItemKind.WARNING,
    ),
    events.ScriptRun: _Notice(
        lambda event: f"script: {event.summary()}", lambda event: event.code, within=True
    ),
    events.SessionRenewed: _Notice(lambda event: event.summary(), within=True),
    events.SettingsChanged: _Notice(
        lambda event: f"profile {event.profile} from the next model call on",
        lambda event: ", ".join(event.changed),
    ),
    events.ToolEvicted: _Notice(lambda event: f"{event.tool} evicted: {event.reason}"),
    events.ToolSubstituted: _Notice(lambda event: event.summary(), kind=ItemKind.WARNING, within=True),
    events.TurnWaited: _Notice(
        lambda event: f"waiting for {count(len(event.servers), 'server')} to connect",
        lambda event: ", ".join(event.servers),
    ),
}


@singledispatch
def _step(event: events.Event, seq: int, items: _Items) -> _Items:
    """Tell what has a notice, and ignore all else that is not part of the conversation."""
    notice = _NOTICES.get(type(event))
    if notice is None or (notice.within and not items):
        return items
    return (*items, Item(seq, notice.kind, notice.text(event), title=notice.title(event)))


@_step.register
def _user_said(event: events.UserSaid, seq: int, items: _Items) -> _Items:
    return (*items, Item(seq, ItemKind.USER, event.text))


@_step.register
def _answer_streamed(event: events.AnswerStreamed, seq: int, items: _Items) -> _Items:
    if items and items[-1].kind is ItemKind.ANSWER and items[-1].status is ItemStatus.RUNNING:
        return (*items[:-1], replace(items[-1], text=items[-1].text + event.text))
    return (*items, Item(seq, ItemKind.ANSWER, event.text, status=ItemStatus.RUNNING))


@_step.register
def _model_responded(event: events.ModelResponded, seq: int, items: _Items) -> _Items:
    kind = ItemKind.THOUGHT if event.thought else ItemKind.ANSWER
    streaming = items and items[-1].kind is ItemKind.ANSWER and items[-1].status is ItemStatus.RUNNING
    if event.written:
        notice = Item(seq, ItemKind.NOTICE, event.written, title=event.written_note)
        return (*items[:-1], replace(notice, seq=items[-1].seq)) if streaming else (*items, notice)
    if streaming:
        return (*items[:-1], replace(items[-1], kind=kind, text=event.text, status=ItemStatus.OK))
    return (*items, Item(seq, kind, event.text)) if event.text else items


@_step.register
def _settings_checked(event: events.SettingsChecked, seq: int, items: _Items) -> _Items:
    """Say what went wrong in a conversation; before it begins, the page itself says so."""
    if not items or not event.problems:
        return items
    worst, *others = event.problems
    kind = ItemKind.ERROR if worst.severity is Severity.ERROR else ItemKind.WARNING
    text = "\n".join(filter(None, (worst.hint, *(problem.full for problem in others))))
    return (*items, Item(seq, kind, text, title=worst.sentence))


@_step.register
def _search_performed(event: events.SearchPerformed, seq: int, items: _Items) -> _Items:
    if event.by != "model":
        return items
    return (
        *items,
        Item(
            seq,
            ItemKind.SEARCH,
            event.text,
            title=event.report.request.label(),
            status=ItemStatus.FAILED if event.report.error else ItemStatus.OK,
            report=event.report.outline(),
            milliseconds=event.report.latency_ms,
        ),
    )


@_step.register
def _marketplace_searched(event: events.MarketplaceSearched, _seq: int, items: _Items) -> _Items:
    """Note with the search that went on there what it found."""
    if event.by != "model" or not items or items[-1].kind is not ItemKind.SEARCH:
        return items
    return (*items[:-1], replace(items[-1], suggested=event.report.suggestions))


@_step.register
def _tool_loaded(event: events.ToolLoaded, seq: int, items: _Items) -> _Items:
    """Note its tokens with the newest search that found it; what is loaded by hand belongs to none.

    What nobody asked for says so itself.
    """
    if event.cause == "inertia":
        return (*items, Item(seq, ItemKind.NOTICE, title=f"{event.tool} bound ahead: {event.reason}"))
    if not event.place or not event.tokens:
        return items
    return _with_searches(
        items,
        event.tool,
        lambda item: replace(item, loaded={**item.loaded, event.tool: event.tokens}),
        last=True,
    )


def _with_searches(
    items: _Items, tool_id: str, change: Callable[[Item], Item], *, last: bool = False
) -> _Items:
    """Change the searches of this turn that found a tool, or only the last of them.

    Those before a call of that tool were changed when it was called.
    """
    for index in range(len(items) - 1, -1, -1):
        kind = items[index].kind
        if kind is ItemKind.USER or (kind is ItemKind.CALL and items[index].title == tool_id and not last):
            break
        if items[index].found(tool_id):
            items = (*items[:index], change(items[index]), *items[index + 1 :])
            if last:
                break
    return items


@_step.register
def _call_started(event: events.CallStarted, seq: int, items: _Items) -> _Items:
    if event.by != "model":
        return items
    opened = Item(
        seq,
        ItemKind.CALL,
        title=event.tool,
        status=ItemStatus.RUNNING,
        call_id=event.call_id,
        arguments=event.arguments,
    )
    items = _with_searches(items, event.tool, lambda item: replace(item, called=item.called | {event.tool}))
    return (*items, opened)


@_step.register
def _call_finished(event: events.CallFinished, _seq: int, items: _Items) -> _Items:
    return _with_call(
        items,
        event.call_id,
        text=event.text,
        status=ItemStatus.OK if event.ok else ItemStatus.FAILED,
        milliseconds=event.milliseconds,
        outcome="" if event.ok else event.outcome,
    )


@_step.register
def _task_changed(event: events.TaskChanged, _seq: int, items: _Items) -> _Items:
    return _with_call(items, event.call_id, text=event.words)


@_step.register
def _call_progressed(event: events.CallProgress, _seq: int, items: _Items) -> _Items:
    running = (one for one in reversed(items) if one.status is ItemStatus.RUNNING and one.title == event.tool)
    call = next(running, None)
    return _with_call(items, call.call_id, text=event.words) if call is not None else items


def _with_call(items: _Items, call_id: str, **changes: Any) -> _Items:
    for index in range(len(items) - 1, -1, -1):
        if items[index].kind is ItemKind.CALL and items[index].call_id == call_id:
            return (*items[:index], replace(items[index], **changes), *items[index + 1 :])
    return items


@_step.register
def _call_rejected(event: events.CallRejected, seq: int, items: _Items) -> _Items:
    rejected = Item(
        seq,
        ItemKind.CALL,
        event.text,
        title=event.name,
        status=ItemStatus.REJECTED,
        call_id=event.call_id,
        arguments=event.arguments,
    )
    return (*items, rejected)


@_step.register
def _breaker_changed(event: events.BreakerChanged, seq: int, items: _Items) -> _Items:
    if not items:
        return items
    kind = ItemKind.WARNING if event.after is BreakerState.OPEN else ItemKind.NOTICE
    return (*items, Item(seq, kind, title=f"circuit breaker: {event.summary()}"))


@_step.register
def _server_answered(event: events.ServerAnswered, seq: int, items: _Items) -> _Items:
    """Say what a server wanted in the middle of a conversation, and what it got."""
    if not items or event.is_routine:
        return items
    text = "\n".join(filter(None, (event.why, arguments_text(event.content or {}))))
    return (*items, Item(seq, ItemKind.NOTICE, text, title=f"{event.server} asked: {event.outcome}"))


@_step.register
def _turn_ended(event: events.TurnEnded, seq: int, items: _Items) -> _Items:
    if event.outcome in ("answered", "failed"):
        return _closed(items)
    kind = ItemKind.ERROR if event.outcome == "refused" else ItemKind.WARNING
    return (*_closed(items), Item(seq, kind, event.text, title=event.outcome))


def _closed(items: _Items) -> _Items:
    """Mark items that still run as failed: nothing outlives its turn."""
    return tuple(
        replace(item, status=ItemStatus.FAILED) if item.status is ItemStatus.RUNNING else item
        for item in items
    )


@_step.register
def _failed(event: events.Failed, seq: int, items: _Items) -> _Items:
    return (*items, Item(seq, ItemKind.ERROR, event.hint, event.summary(), event.raw))
