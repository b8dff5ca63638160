"""A stored session as a recorded run, and files of sessions.

A session may be one of Toolsight's own, or imported from an agent's transcript. A file of sessions holds
their events, as `toolsight sessions show ID --as events --json` prints them or one a line.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from inspector.config.file import MEGABYTE, load_value
from inspector.config.problem import Foreign, validated
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


Reader = Callable[[Path, object, str], list[RecordedRun] | None]
"""Reads a file's value, with the id for its run; None if it is no recording of the format."""
FORMATS: dict[str, Reader] = {"Toolsight session": read_sessions}
"""What recordings are read as; docs/benchmark/recordings.py has more."""
MAX_BYTES = 256 * MEGABYTE


class Recordings(Struct, frozen=True):
    """The runs of a folder in the order of their files, how many have which format, and other files."""

    runs: tuple[RecordedRun, ...]
    formats: Mapping[str, int] = field(default_factory=dict)
    others: int = 0

    def sampled(self, limit: int | None) -> tuple[RecordedRun, ...]:
        """At most `limit` runs, evenly spread over the folder and always the same ones."""
        if limit is None or limit >= len(self.runs):
            return self.runs
        return tuple(self.runs[number * len(self.runs) // limit] for number in range(limit))


def read_runs(
    folder: Path,
    progress: Callable[[str, int, int], None] = lambda _what, _done, _total: None,
    readers: Mapping[str, Reader] = FORMATS,
) -> Recordings:
    """Read every recording in a folder, also in folders below; a file of another kind is only counted.

    Raises ConfigError if there is none, or at the first recording with a fault: with lost runs, every
    figure is about something else.
    """
    if not folder.exists():
        raise ConfigError(f"{folder} does not exist", hint="Pass a folder with recorded runs.")
    paths = [folder] if folder.is_file() else sorted(_files(folder))
    runs: list[RecordedRun] = []
    formats: Counter[str] = Counter()
    others = 0
    for number, path in enumerate(paths):
        progress("recordings read", number, len(paths))
        name = path.name if folder.is_file() else path.relative_to(folder).as_posix()
        found = _read(path, name, readers)
        if found is None:
            others += 1
            continue
        formats[found[0]] += len(found[1])
        runs += found[1]
    if not runs:
        raise ConfigError(f"{folder} has no recorded runs that Toolsight can read", hint=_HINT)
    return Recordings(tuple(runs), dict(formats), others)


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*.json*"):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if path.suffix in (".json", ".jsonl") and not hidden and path.is_file():
            yield path


def _read(path: Path, run_id: str, readers: Mapping[str, Reader]) -> tuple[str, list[RecordedRun]] | None:
    """The format and runs of a file, or None if it is no recording."""
    data = load_value(path, "recording", hint=_HINT, limit=MAX_BYTES)
    for name, read in readers.items():
        runs = read(path, data, run_id)
        if runs is not None:
            return name, runs
    return None
