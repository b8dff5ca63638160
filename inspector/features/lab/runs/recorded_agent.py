"""A scripted agent that does again what a recorded agent did, and searches where it lacks a tool.

It searches for what the recorded agent searched for; else for what found the tool before; else for what the
agent said with the call, or before it, or for what the user asked. The name of the tool that it needs is no
query, with one exception that is labelled: if such a search does not bring the tool, the agent asks for it
by name, because the recording goes on with it. That is the upper bound of what a real agent could do.
"""

import re
from collections import Counter, defaultdict, deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import takewhile

from msgspec import Struct, field
from msgspec.structs import replace

from inspector.core.events import Record, SearchPerformed, ToolEvicted
from inspector.core.message import ModelChunk, ModelReply, ModelRequest, ToolCall
from inspector.core.ports import OWN_PERSONA, PastCall, TaskCalls, Viewer
from inspector.core.session import SessionState
from inspector.core.tool import Tool, wire_name
from inspector.features.lab.run import LabClock
from inspector.features.lab.runs.recorded_script import known_words, scripts_of
from inspector.features.lab.runs.recording import joined
from inspector.mcp.recorded_link import (
    RecordedCall,
    RecordedMessage,
    RecordedRun,
    RecordedServers,
    RecordedStep,
)
from inspector.schema.schema import SCRIPTED
from inspector.tokens.manifest import CALL_TOOL, RUN_SCRIPT, SEARCH_TOOLS


class KnownRuns(Struct, frozen=True):
    """Runs whose every call is of a tool with a definition, and what was left out to get there.

    A run that searched and called nothing stays: what it searched for was paid for all the same.
    `without` counts the calls of each tool without a definition, by the recording's name; `calls` counts all
    calls before. `dropped` are those that are left with neither. A run that lost a call has no reported
    tokens. `unknown` counts those calls without a definition that were answered with an error which says
    that there is no such tool: the agent made the name up, or mistook it.
    """

    runs: tuple[RecordedRun, ...]
    without: Mapping[str, int]
    calls: int
    dropped: int
    unknown: Mapping[str, int] = field(default_factory=dict)


# How recorders answer a call of a tool that they do not have.
_NO_TOOL = re.compile(r"unknown tool|tool \S+ not found|is not defined in the configuration", re.IGNORECASE)
_BEGINNING = 300


class ToolNames:
    """Resolves a recording's names: recorders join server and tool each in their own way."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._exact: dict[tuple[str, str], Tool] = {}
        self._joined: dict[str, Tool] = {}
        self._by_name: defaultdict[str, list[Tool]] = defaultdict(list)
        for tool in tools:
            self._exact[tool.server, tool.name] = tool
            self._by_name[tool.name].append(tool)
            for joint in ("-", "_", "__", ":", "/", "."):
                self._joined.setdefault(f"{tool.server}{joint}{tool.name}", tool)
            self._joined.setdefault(wire_name(tool.server, tool.name), tool)

    def find(self, call: RecordedCall) -> Tool | None:
        """The tool of a call, or None if it has no definition or its name could mean two."""
        if call.server:
            # Another server's tool of that name is another tool.
            return self._exact.get((call.server, call.tool))
        named = self._by_name.get(call.tool, ())
        return self._joined.get(call.tool) or (named[0] if len(named) == 1 else None)


def known_runs(runs: Sequence[RecordedRun], tools: Iterable[Tool]) -> KnownRuns:
    """The runs with each call renamed to its tool's server and name; other calls are left out.

    A run that has tools of its own keeps to these and to those that it called.
    """
    listed = tuple(tools)
    given = ToolNames(listed)
    without, unknown = Counter[str](), Counter[str]()
    kept, calls = [], 0
    for run in runs:
        calls += (made := sum(1 for _ in run.calls))
        before = without.total()
        own = {tool.id: tool for tool in run.tools}
        names = ToolNames({**{tool.id: tool for tool in listed}, **own}.values()) if own else given
        renamed = replace(run, messages=tuple(_message(one, names, without, unknown) for one in run.messages))
        if own:
            called = {_id(call) for call in renamed.calls}
            more = tuple(tool for tool in listed if tool.id in called and tool.id not in own)
            renamed = replace(renamed, tools=run.tools + more)
        if without.total() > before:
            # The provider counted calls that are left out here: its bill is for another run.
            renamed = replace(renamed, input_tokens=None, output_tokens=None)
        has_only_searched = not made and any(step.searches for step in run.steps)
        if has_only_searched or any(True for _ in renamed.calls):
            kept.append(renamed)
    return KnownRuns(
        tuple(kept), dict(without.most_common()), calls, len(runs) - len(kept), dict((+unknown).most_common())
    )


def _message(
    message: RecordedMessage, names: ToolNames, without: Counter[str], unknown: Counter[str]
) -> RecordedMessage:
    """The message; a step that only made calls that are left out becomes part of the next one."""
    steps = []
    for step in message.steps:
        calls = []
        for call in step.calls:
            tool = names.find(call)
            if tool is None:
                name = "/".join(filter(None, (call.server, call.tool)))
                without[name] += 1
                unknown[name] += bool(_NO_TOOL.search((call.result or "")[:_BEGINNING]))
            else:
                calls.append(replace(call, server=tool.server, tool=tool.name))
        steps.append(replace(step, calls=tuple(calls)))
    return replace(message, steps=joined(steps))


def session_of(run: RecordedRun) -> str:
    """The id of the session in which a run is played."""
    return f"recorded-{run.id}"


class OtherRuns(Struct, eq=False):
    """A CallHistory of recorded runs, whose tools have their servers."""

    _runs: Sequence[RecordedRun]

    def successful_calls(self, *, but: str = "", viewer: Viewer | None = None) -> Iterator[PastCall]:
        """The calls that succeeded; a run has no viewer."""
        for run in self._others(but) if viewer is None else ():
            for call in run.calls:
                if not call.failed:
                    yield PastCall(_id(call), 0.0)

    def tasks(self, *, but: str = "") -> Iterator[TaskCalls]:
        """The calls of every run but those of the task of the one played in that session."""
        for run in self._others(but):
            for message in run.messages:
                calls = [_id(call) for step in message.steps for call in step.calls]
                if calls:
                    yield TaskCalls(OWN_PERSONA, tuple((tool, 0.0) for tool in calls))

    def _others(self, but: str) -> Iterator[RecordedRun]:
        left_out = {run.task for run in self._runs if session_of(run) == but}
        return (run for run in self._runs if run.task not in left_out)


def _id(call: RecordedCall) -> str:
    return f"{call.server}:{call.tool}"


THOUGHT = "I think about what to do differently."


class Reason(StrEnum):
    """Why the agent searched."""

    OWN = "own"
    FIRST = "first"
    AGAIN = "again"
    NAMED = "named"


class Lack(Struct, frozen=True):
    """A recorded call whose tool was not bound; `cause` is that of its eviction, empty if it had none."""

    tool: str
    cause: str


class AgentLog(Struct):
    """What the agent did.

    `counted` says of each model call whether the recording or a search needed it; the end of a recording that
    stops after a call is not one. `searches` are the reasons of all searches, in order, and `needed` maps
    each tool that was called to the number of searches before its first call.
    """

    counted: list[bool] = field(default_factory=list)
    searches: list[Reason] = field(default_factory=list)
    needed: dict[str, int] = field(default_factory=dict)
    lacked: list[Lack] = field(default_factory=list)


class _Planned(Struct, frozen=True):
    """A step of the recording, what to search for before it, and whether it is only the end of a message."""

    step: RecordedStep
    words: str
    ends: bool = False


class RecordedAgent:
    """A ChatModel that plays one run, once: it keeps its place, and reads the session's state."""

    api_base = ""
    features = SCRIPTED

    def __init__(
        self,
        run: RecordedRun,
        servers: RecordedServers,
        clock: LabClock,
        *,
        name: str,
        window: int,
        seconds_a_call: float,
    ) -> None:
        """`name` is the model as which tokens are counted and priced."""
        self.name, self.label, self.window = name, f"{name} (recorded run)", window
        self.log = AgentLog()
        self.state: Callable[[], SessionState] = SessionState
        self._servers = servers
        self._clock = clock
        self._seconds = seconds_a_call
        self._plan = deque(_plan(run))
        self._now = self._plan.popleft() if self._plan else None
        self._tried: set[Reason] = set()
        self._found_by: dict[str, str] = {}
        self._evicted_by: dict[str, str] = {}

    def listen(self, record: Record) -> None:
        """Remember which search found a tool first, and why a tool was evicted last."""
        event = record.event
        if isinstance(event, SearchPerformed) and event.report.request.query:
            for hit in event.report.results:
                self._found_by.setdefault(hit.tool_id, event.report.request.query)
        elif isinstance(event, ToolEvicted):
            self._evicted_by[event.tool] = event.cause or event.reason

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelChunk]:
        """The next reply; thinking takes no step of the recording."""
        self._clock.wait(self._seconds)
        if request.think:
            self.log.counted.append(True)
            yield ModelReply(THOUGHT)
            return
        reply = self._next(request)
        yield reply

    def _next(self, request: ModelRequest) -> ModelReply:
        planned = self._now
        if planned is None or planned.ends:
            self._advance()
            self.log.counted.append(False)
            return ModelReply("")
        if not self._tried:
            lacked = self._lacked(planned.step)
            self.log.lacked += [Lack(one, self._evicted_by.get(one, "")) for one in lacked]
        if self.state().has_search:
            searches = self._searches(planned)
            if searches:
                return self._search(planned, searches)
        if planned.step.searches and not planned.step.calls:
            # All it did was search: that is done, or cannot be done here and needs no model call.
            self._advance()
            return self._next(request)
        return self._act(planned, request)

    def _searches(self, planned: _Planned) -> dict[str, tuple[Reason, ToolCall]]:
        """What to search for before the step, each query once; empty if there is nothing left to try."""
        if planned.step.searches and Reason.OWN not in self._tried:
            return {query: self._query(Reason.OWN, query) for query in planned.step.searches}
        lacked = self._lacked(planned.step)
        if lacked and not self._tried & {Reason.FIRST, Reason.AGAIN}:
            found: dict[str, tuple[Reason, ToolCall]] = {}
            for tool_id in lacked:
                reason = Reason.AGAIN if tool_id in self._evicted_by else Reason.FIRST
                query = self._found_by.get(tool_id) or planned.words
                found.setdefault(query, self._query(reason, query))
            return found
        if lacked and Reason.NAMED not in self._tried:
            names = [wire_name(*tool_id.split(":", 1)) for tool_id in lacked]
            call = ToolCall("", SEARCH_TOOLS, {"tool_names": names})
            return {"": (Reason.NAMED, call)}
        return {}

    @staticmethod
    def _query(reason: Reason, query: str) -> tuple[Reason, ToolCall]:
        return reason, ToolCall("", SEARCH_TOOLS, {"query": query})

    def _search(self, planned: _Planned, searches: dict[str, tuple[Reason, ToolCall]]) -> ModelReply:
        text = "" if self._tried else planned.step.text
        for reason, _ in searches.values():
            self._tried.add(reason)
            self.log.searches.append(reason)
        return self._reply(text, [call for _, call in searches.values()])

    def _act(self, planned: _Planned, request: ModelRequest) -> ModelReply:
        """Do what the recording did, and go on to its next step."""
        step, text = planned.step, "" if self._tried else planned.step.text
        offered = {entry["function"]["name"] for entry in request.tools}
        if step.calls and RUN_SCRIPT in offered:
            return self._run(planned, request, text)
        self._servers.expect(step.calls)
        for call in step.calls:
            self.log.needed.setdefault(_id(call), len(self.log.searches))
        self._advance()
        return self._reply(text, [_sent(call, offered) for call in step.calls])

    def _run(self, planned: _Planned, request: ModelRequest, text: str) -> ModelReply:
        """Do it from a script, with as many of the next steps as the script can do too."""
        following = takewhile(lambda one: self._goes_on(one.step), self._plan)
        steps = [planned.step, *(one.step for one in following)]
        scripts, done = scripts_of(steps, known_words(request))
        calls = [call for step in steps[:done] for call in step.calls]
        self._servers.expect(calls)
        for call in calls:
            self.log.needed.setdefault(_id(call), len(self.log.searches))
        for _ in range(done):
            self._advance()
        return self._reply(text, [ToolCall("", RUN_SCRIPT, {"code": script.text}) for script in scripts])

    def _goes_on(self, step: RecordedStep) -> bool:
        """Whether a step only makes calls that need no search."""
        return bool(step.calls) and not step.searches and not self._lacked(step)

    def _reply(self, text: str, calls: Sequence[ToolCall]) -> ModelReply:
        number = len(self.log.counted)
        self.log.counted.append(True)
        numbered = tuple(
            ToolCall(f"call_{number}_{index}", call.name, call.arguments) for index, call in enumerate(calls)
        )
        return ModelReply(text, numbered, finish_reason="tool_calls" if numbered else "stop")

    def _lacked(self, step: RecordedStep) -> list[str]:
        """The step's tools that are not bound, each once."""
        bound = frozenset(self.state().bound_ids)
        return [one for one in dict.fromkeys(map(_id, step.calls)) if one not in bound]

    def _advance(self) -> None:
        self._now, self._tried = self._plan.popleft() if self._plan else None, set()


def _plan(run: RecordedRun) -> Iterator[_Planned]:
    """The steps of a run with what to search for before each, and the ends that the recording leaves out."""
    for message in run.messages:
        words = message.text
        for step in message.steps:
            words = last_words(step.text) or words
            yield _Planned(step, words)
        if message.steps[-1].acts:
            yield _Planned(RecordedStep(), "", ends=True)


def last_words(text: str) -> str:
    """The last paragraph of what an agent said: what it is about to do."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def _sent(call: RecordedCall, offered: set[str]) -> ToolCall:
    """The call as the request allows it: by its own name, or through the proxy."""
    name = wire_name(call.server, call.tool)
    if name in offered or CALL_TOOL not in offered:
        return ToolCall("", name, call.arguments)
    return ToolCall("", CALL_TOOL, {"name": name, "arguments": call.arguments})
