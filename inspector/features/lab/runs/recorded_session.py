"""A stored session as a recorded run: what was said, searched for and called, with the tools it knew.

It may be one of Toolsight's own, or imported from an agent's transcript. A file of sessions holds their
events, as `toolsight sessions show ID --as events --json` prints them or one a line.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from inspector.config.problem import Foreign, validated
from inspector.config.profile import DEFAULT_PROFILE, PROFILES
from inspector.core.error import ConfigError
from inspector.core.events import Event, Record, ServerReady, SessionStarted, ToolsChanged
from inspector.core.ports import SessionSummary
from inspector.core.text import one_line, shortened
from inspector.core.tool import Tool
from inspector.core.turns import ACTS, Act, Search, ToolCall, Turn, turns
from inspector.features.lab.comparison import STATIC
from inspector.features.lab.runs.conversation import joined
from inspector.mcp.recorded_link import RecordedCall, RecordedMessage, RecordedRun, RecordedStep
from inspector.schema.json_value import JsonObject
from inspector.session.assembly import Ports
from inspector.store.codec import UnreadableEvent, decode, encode_value

KINDS = ("session", "ready", "tools", "catalog", *ACTS, "response", "result")
"""The kinds of events that a run is made of: all that has to be read."""
NEWEST = 30
"""So many of one's own sessions are played, the newest: a long one takes minutes."""
_TASK = 120
_USUAL = (DEFAULT_PROFILE, STATIC, "attention")
_HINT = "`toolsight sessions show ID --as events --json` prints a session as this version writes it."


@dataclass(frozen=True, slots=True)
class RunSource:
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
