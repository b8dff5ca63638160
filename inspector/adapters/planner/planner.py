"""The planner: for each step of a request search, call, go on; at the end tell what really came back."""

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass

from inspector.adapters.planner import answer
from inspector.adapters.planner.argument import fill
from inspector.adapters.planner.choice import (
    FITS,
    FITS_WELL,
    Bound,
    bound_tools,
    first_words,
    other_words,
    ranked,
)
from inspector.adapters.planner.history import Attempt, Done, History, call_id, read_history
from inspector.adapters.planner.reading import Reading, read
from inspector.adapters.planner.step import split
from inspector.adapters.planner.value import Source
from inspector.domain.manifest import SEARCH_TOOLS
from inspector.domain.message import ModelChunk, ModelReply, ModelRequest, TextDelta, ToolCall
from inspector.engine.retrieval.term import terms

WINDOW = 128_000
MAX_SEARCHES = 2
MAX_MODEL_CALLS = 15
MAX_CANDIDATES = 5
MARGIN = 0.4
_NOT_UNDERSTOOD = (
    "I did not find anything to do in that. I am a rule-based stand-in: ask for one thing a sentence."
)
_FAILED = "I could not work that out. I am a rule-based stand-in; try it in simpler words."


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do about one step: call this, or why there is nothing to call."""

    call: ToolCall | None = None
    say: str = ""
    problem: str = ""


class DemoPlanner:
    """Stands in for a language model by rules alone. Stateless: everything follows from the request."""

    name = "demo/planner"
    label = "demo/planner (rules, no LLM)"
    window = WINDOW

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelChunk]:
        """Text as it comes, then the reply. Never raises."""
        reply = decide(request)
        for piece in re.findall(r"\S+\s*|\s+", reply.text):
            yield TextDelta(piece)
        yield reply


def decide(request: ModelRequest) -> ModelReply:
    """The next reply for a request."""
    try:
        return _decide(request)
    except Exception as error:
        # Schemas and texts come from outside; a shape nobody thought of may not end a chat.
        return ModelReply(f"{_FAILED} ({type(error).__name__})")


def _decide(request: ModelRequest) -> ModelReply:
    history = read_history(request.messages)
    tools = bound_tools(request.tools)
    searchable = any(_named(entry) == SEARCH_TOOLS for entry in request.tools)
    steps = [read(step) for step in split(history.text)]
    problems: dict[int, str] = {}
    for index, reading in enumerate(steps):
        if history.attempt(index).calls:
            continue
        plan = _plan(index, steps, history, tools, searchable)
        over = index < history.latest or history.replies >= MAX_MODEL_CALLS - 1
        if plan.call is not None and not over:
            return ModelReply(plan.say, (plan.call,), finish_reason="tool_calls")
        problems[index] = plan.problem or "I did not get this done."
    return ModelReply(_summary(steps, history, problems))


def _named(entry: object) -> object:
    function = entry.get("function") if isinstance(entry, Mapping) else None
    return function.get("name") if isinstance(function, Mapping) else None


def _plan(
    index: int, steps: Sequence[Reading], history: History, tools: Sequence[Bound], searchable: bool
) -> Plan:
    reading, attempt = steps[index], history.attempt(index)
    number = len(attempt.searches)
    identity = call_id(history.turn, index, number)
    fitting = _fitting(tools, reading, attempt)
    filled = [(tool, fill(tool.schema, _source(index, steps, history))) for tool in fitting]
    for tool, arguments in filled:
        if not arguments.missing:
            return Plan(ToolCall(identity, tool.wire, arguments.arguments), f"I call {_shown(tool.wire)}.")
    if searchable and number < MAX_SEARCHES:
        query = _query(reading, number)
        return Plan(ToolCall(identity, SEARCH_TOOLS, {"query": query}), f"I search for a tool: {query}.")
    if filled:
        name, missing = _shown(filled[0][0].wire), ", ".join(filled[0][1].missing)
        return Plan(problem=f"I found {name}, but you did not say what it needs: {missing}.")
    return Plan(problem=_nothing(attempt))


def _fitting(tools: Sequence[Bound], reading: Reading, attempt: Attempt) -> list[Bound]:
    """The tools worth a call, best first: the best one, and those that come close to it."""
    candidates = ranked(tools, reading, attempt.found)
    needed = FITS if attempt.searches else FITS_WELL
    best = candidates[0][1] if candidates else 0.0
    return [tool for tool, score in candidates[:MAX_CANDIDATES] if score >= max(needed, best - MARGIN)]


def _query(reading: Reading, number: int) -> str:
    if reading.expression:
        return ("evaluate an arithmetic expression", "calculator")[number]
    return other_words(reading) if number else first_words(reading)


def _nothing(attempt: Attempt) -> str:
    asked = ", ".join(f"“{done.call.arguments.get('query')}”" for done in attempt.searches)
    return f"I found no tool for this (searched for {asked})." if asked else "I have no tool for this."


def _source(index: int, steps: Sequence[Reading], history: History) -> Source:
    """The values a step can use: its own, and the last good result before it."""
    earlier = [(steps[step].text, done) for step in range(index) for done in history.attempt(step).calls]
    known = [*(("", done) for done in history.before), *earlier]
    good = [(asked, done) for asked, done in known if not answer.is_error(done.result)]
    if not good:
        return Source(steps[index])
    asked, last = good[-1]
    # What was asked for tells what the rows are, where the tool is merely called "search".
    about = frozenset(terms(f"{_shown(last.call.name)} {asked} {answer.keys(last.result)}"))
    text = answer.render(last.result, answer.MAILED)
    return Source(steps[index], answer.rows(last.result), text, about, asked)


def _summary(steps: Sequence[Reading], history: History, problems: Mapping[int, str]) -> str:
    if not steps:
        return _NOT_UNDERSTOOD
    parts = []
    for index, reading in enumerate(steps):
        calls = history.attempt(index).calls
        told = _told(calls[-1]) if calls else problems.get(index, "")
        parts.append(f"{reading.text}\n{told}" if len(steps) > 1 else told)
    return "\n\n".join(parts)


def _told(done: Done) -> str:
    result = answer.render(done.result)
    if answer.is_error(done.result):
        return f"{_shown(done.call.name)} failed: {result}"
    return (
        f"{_shown(done.call.name)}: {result}"
        if "\n" not in result
        else f"{_shown(done.call.name)}:\n{result}"
    )


def _shown(wire: str) -> str:
    return wire.replace("__", ":", 1)
