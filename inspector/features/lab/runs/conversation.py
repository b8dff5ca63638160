"""A recorded run, put together from chat messages, or from the events of a stored session.

A session may be one of Toolsight's own, or imported from an agent's transcript. A file of sessions holds
their events, as `toolsight sessions show ID --as events --json` prints them or one a line.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from msgspec import Struct, field
from msgspec.structs import replace
from pydantic import AfterValidator, Field

from inspector.config.problem import Foreign, not_empty, validated
from inspector.config.profile import DEFAULT_PROFILE, PROFILES
from inspector.core.error import ConfigError
from inspector.core.events import Event, Record, ServerReady, SessionStarted, ToolsChanged
from inspector.core.ports import SessionSummary
from inspector.core.text import one_line, shortened
from inspector.core.tool import Tool
from inspector.core.turns import ACTS, Act, Search, ToolCall, Turn, turns
from inspector.features.lab.comparison import STATIC
from inspector.mcp.recorded_link import RecordedCall, RecordedMessage, RecordedRun, RecordedStep
from inspector.schema.json_value import JsonObject
from inspector.session.assembly import Ports
from inspector.store.codec import UnreadableEvent, decode, encode_value

_FAILURES = ("error", "traceback", "failed")
_LOOKED_AT = 80


class _Reply(Struct):
    """One model call while it is read."""

    texts: list[str] = field(default_factory=list)
    calls: list[RecordedCall] = field(default_factory=list)
    searches: list[str] = field(default_factory=list)


class Conversation:
    """Collects a run. `reply` begins a model call; calls are matched with their results by id."""

    def __init__(self) -> None:
        # What the user said, and the replies to it.
        self._said: list[tuple[str, list[_Reply]]] = []
        # Some recordings reuse ids or have none: a result belongs to the latest call of its id without one.
        self._waiting: defaultdict[str, list[tuple[_Reply, int]]] = defaultdict(list)

    @property
    def _last(self) -> _Reply:
        return self._said[-1][1][-1]

    def user(self, text: str) -> None:
        """Add what the user said. Two messages in a row are one, as the agent reads both at once."""
        if self._said and not self._said[-1][1]:
            text = f"{self._said.pop()[0]}\n\n{text}"
        self._said.append((text, []))

    def reply(self) -> None:
        """Begin a model call."""
        if not self._said:
            self._said.append(("", []))
        self._said[-1][1].append(_Reply())

    def say(self, text: str) -> None:
        """Add text to the model call that began last."""
        if text.strip():
            self._last.texts.append(text)

    def call(self, call_id: str, call: RecordedCall) -> None:
        """Add a call to the model call that began last."""
        self._waiting[call_id].append((self._last, len(self._last.calls)))
        self._last.calls.append(call)

    def search(self, query: str) -> None:
        """Add the agent's own search to the model call that began last."""
        self._last.searches.append(query)

    def result(self, call_id: str, text: str, *, failed: bool | None = None) -> None:
        """Give a call its result; one that belongs to no call is left out."""
        if self._waiting[call_id]:
            reply, place = self._waiting[call_id].pop()
            known = looks_failed(text) if failed is None else failed
            reply.calls[place] = replace(reply.calls[place], result=text, failed=known)

    def messages(self) -> tuple[RecordedMessage, ...]:
        """The run. What was only said before another model call becomes part of the next one."""
        return tuple(
            RecordedMessage(
                text,
                joined(
                    RecordedStep("\n\n".join(one.texts), tuple(one.calls), tuple(one.searches))
                    for one in replies
                ),
            )
            for text, replies in self._said
            if replies
        )


def joined(steps: Iterable[RecordedStep]) -> tuple[RecordedStep, ...]:
    """The steps of a message; one that neither called nor searched becomes part of the next."""
    kept: list[RecordedStep] = []
    waiting: list[str] = []
    *earlier, last = steps
    for step in (*earlier, last):
        waiting += [step.text] if step.text else []
        if step.acts or step is last:
            kept.append(replace(step, text="\n\n".join(waiting)))
            waiting = []
    return tuple(kept)


def looks_failed(text: str) -> bool:
    """Whether a result without a flag begins as errors do."""
    start = text[:_LOOKED_AT].lower()
    return any(word in start for word in _FAILURES)


def arguments_of(given: object) -> dict[str, Any]:
    """A call's arguments, as an object or as JSON; text that is neither is kept under `arguments`."""
    if isinstance(given, str):
        try:
            given = json.loads(given) if given.strip() else {}
        except (ValueError, RecursionError):
            return {"arguments": given}
    return dict(given) if isinstance(given, dict) else {"arguments": given}


def text_of(content: object) -> str:
    """The text of a message's content: a string, or a list of parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = (part.get("text") if isinstance(part, dict) else part for part in content)
        return "\n".join(text for text in texts if isinstance(text, str))
    return ""


# Handles a call by name and arguments in its own way, or returns False.
Special = Callable[[Conversation, str, str, dict[str, Any]], bool]


class _Function(Foreign):
    name: Annotated[str, AfterValidator(not_empty), Field(description="Every call needs a function name.")]
    arguments: Any = None


class _Call(Foreign):
    id: str = ""
    function: _Function


class ChatMessage(Foreign):
    """One message; `content` is text, a list of parts, or absent."""

    role: Annotated[str, Field(description="Every message needs a role: system, user, assistant or tool.")]
    content: Any = None
    tool_calls: list[_Call] = Field(default_factory=list)
    tool_call_id: str = ""


def read_chat(
    messages: Sequence[object], place: str, special: Special = lambda *_: False
) -> tuple[RecordedMessage, ...]:
    """Read a list of chat messages; `place` is for errors. Raises ConfigError."""
    conversation = Conversation()
    for number, message in enumerate(messages):
        add_chat(conversation, validated(ChatMessage, message, f"{place}: messages[{number}]"), special)
    return conversation.messages()


def add_chat(conversation: Conversation, message: ChatMessage, special: Special = lambda *_: False) -> None:
    """Add one chat message to a conversation."""
    text = text_of(message.content)
    if message.role == "user":
        conversation.user(text)
    elif message.role == "tool":
        conversation.result(message.tool_call_id, text)
    elif message.role == "assistant":
        conversation.reply()
        conversation.say(text)
        for call in message.tool_calls:
            name, arguments = call.function.name, arguments_of(call.function.arguments)
            if not special(conversation, call.id, name, arguments):
                conversation.call(call.id, RecordedCall(name, arguments))


# A stored session as a recorded run.

KINDS = ("session", "ready", "tools", "catalog", *ACTS, "response", "result")
"""The kinds of events that a run is made of: all that has to be read."""
NEWEST = 30
"""So many of one's own sessions are played, the newest: a long one takes minutes."""
_TASK = 120
_USUAL = (DEFAULT_PROFILE, STATIC, "attention")
_HINT = "`toolsight sessions show ID --as events --json` prints a session as this version writes it."


class RunSource(Struct, frozen=True):
    """Where recorded runs come from, beside the stored sessions, and what they are played with."""

    shipped: Path
    ports: Callable[[], Ports]


def playable(sessions: Iterable[SessionSummary], *, but: str = "") -> tuple[SessionSummary, ...]:
    """The newest sessions that called tools; the running one is left out."""
    return tuple(one for one in sessions if one.calls and one.id != but)[:NEWEST]


def profiles_for(runs: Iterable[RecordedRun]) -> tuple[str, ...]:
    """Three profiles to play runs in; the one they were recorded under is among them.

    The first is the default, with whose costs the others are compared.
    """
    own = Counter(run.profile for run in runs if run.profile in PROFILES and run.profile not in _USUAL)
    last = own.most_common(1)[0][0] if own else _USUAL[-1]
    return (*_USUAL[:-1], last)


def session_run(records: Iterable[Record], others: Mapping[str, Tool]) -> RecordedRun | None:
    """The session as a run, None if the model never answered. Its task is what the person asked first.

    Its tools are those of its catalogs and its calls: as its stream defines them, or else as `others`, by
    their ids, do. A session that does not say what its catalog was has all of the others.
    """
    messages: list[RecordedMessage] = []
    known: set[str] = set()
    tools = dict(others)
    run_id = agent = profile = ""
    for turn in turns(records):
        run_id, agent = turn.session.id, turn.session.label or turn.session.agent
        for started in turn.of(SessionStarted):
            profile = started.profile
        if turn.session.catalog is not None:
            known.update(entry.id for entry in turn.session.catalog.entries)
            known.update(call.event.tool for call in turn.tool_calls)
        tools |= _defined((*turn.of(ServerReady), *turn.of(ToolsChanged)))
        if steps := tuple(_steps(turn)):
            messages.append(RecordedMessage(turn.said.text if turn.said else "", joined(steps)))
    if not messages:
        return None
    task = next((message.text for message in messages if message.text.strip()), run_id)
    return RecordedRun(
        run_id,
        shortened(one_line(task), _TASK),
        tuple(messages),
        model=agent,
        profile=profile,
        tools=tuple(tool for tool in tools.values() if not known or tool.id in known),
    )


def _defined(events: Iterable[ServerReady | ToolsChanged]) -> dict[str, Tool]:
    """The newest definition of each tool, by its id."""
    found = (one.tool for event in events for one in event.definitions)
    return {tool.id: tool for tool in found if tool is not None}


def _steps(turn: Turn) -> Iterator[RecordedStep]:
    """A step for each model call, and one for acts outside of these; thoughts are Toolsight's idea."""
    rest = [act for act in turn.acts if act.call not in turn.calls]
    if rest:
        yield _step("", rest)
    for call in turn.calls:
        if call.answer is not None and not call.request.think:
            yield _step(call.answer.text, [act for act in turn.acts if act.call is call])


def _step(text: str, acts: Sequence[Act]) -> RecordedStep:
    calls = tuple(_call(act) for act in acts if isinstance(act, ToolCall))
    queries = (act.event.report.request.query for act in acts if isinstance(act, Search))
    return RecordedStep(text, calls, tuple(filter(None, queries)))


def _call(act: ToolCall) -> RecordedCall:
    server, _, name = act.event.tool.partition(":")
    end = act.end
    result, failed = (None, False) if end is None else (end.text, not end.ok)
    return RecordedCall(name, act.event.arguments, result, failed, server)


class _Line(Foreign):
    """An event of a session; the first one may say which task it was, and whether it was solved."""

    session: str
    seq: int
    kind: str
    event: JsonObject
    at: float = 0.0
    task: str = ""
    solved: bool | None = None


def read_sessions(path: Path, data: object, run_id: str) -> list[RecordedRun] | None:
    """The sessions in the file, or None if it is no such recording. Raises ConfigError.

    A session that does not say what tools it knew has all that the file's other sessions define.
    """
    lines = data if isinstance(data, list) else [data]
    if not (lines and isinstance(lines[0], dict) and {"session", "seq", "kind", "event"} <= lines[0].keys()):
        return None
    sessions: defaultdict[str, list[Record]] = defaultdict(list)
    told: dict[str, tuple[str, bool | None]] = {}
    for number, value in enumerate(lines):
        place = f"{path}: [{number}]"
        line = validated(_Line, value, place)
        if line.task:
            told[line.session] = line.task, line.solved
        if line.kind in KINDS:
            sessions[line.session].append(Record(line.session, line.seq, line.at, _event(line, place)))
    every = (record.event for records in sessions.values() for record in records)
    defined = _defined(event for event in every if isinstance(event, ServerReady | ToolsChanged))
    runs = []
    for session, records in sessions.items():
        run = session_run(records, defined)
        if run is not None:
            task, solved = told.get(session, (run.task, None))
            runs.append(replace(run, id=f"{run_id}#{session}", task=task, solved=solved))
    return runs


def _event(line: _Line, place: str) -> Event:
    try:
        return decode(line.kind, encode_value(line.event))
    except UnreadableEvent as error:
        raise ConfigError(f"{place}: {error}", hint=_HINT) from error
