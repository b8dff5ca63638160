"""The planner: for each step of a request it searches and calls; at the end it reports the real results."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inspector.core.message import Message, ModelReply, ModelRequest, NoteMessage, ToolCall
from inspector.demo.planner import answer
from inspector.demo.planner.argument import Filled, fill, unused
from inspector.demo.planner.choice import (
    FITS,
    FITS_WELL,
    Bound,
    bound_tools,
    first_words,
    other_words,
    ranked,
)
from inspector.demo.planner.history import Attempt, Done, History, call_id, read_history
from inspector.demo.planner.reading import Reading, read
from inspector.demo.planner.step import split
from inspector.demo.planner.value import Source
from inspector.search.vocabulary import terms
from inspector.tokens.manifest import SEARCH_TOOLS

MAX_SEARCHES = 2
MAX_MODEL_CALLS = 16
MAX_CANDIDATES = 5
MARGIN = 0.4
LONG = 300
_NOT_UNDERSTOOD = (
    "I found nothing to do in that. I am a rule-based stand-in, so please ask for one thing per sentence."
)
_THOUGHT = "Searching again turns up nothing new. I will go on with what I have."
_FAILED = "I could not work that out. I am a rule-based stand-in; try simpler words."


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do about one step: the call to make, or why there is none."""

    call: ToolCall | None = None
    say: str = ""
    problem: str = ""


def decide(request: ModelRequest) -> ModelReply:
    """The next reply for a request."""
    try:
        return _decide(request)
    except Exception as error:
        # Schemas and texts come from outside; an unexpected shape must not end a chat.
        return ModelReply(f"{_FAILED} ({type(error).__name__})")


def _decide(request: ModelRequest) -> ModelReply:
    if request.think:
        return ModelReply(_THOUGHT)
    history = read_history(request.messages)
    tools = bound_tools([*request.tools, *_offered(request.messages)])
    searchable = any(_named(entry) == SEARCH_TOOLS for entry in request.tools)
    steps = [read(step) for step in split(history.text)]
    problems: dict[int, str] = {}
    for index in range(len(steps)):
        if history.attempt(index).calls:
            continue
        plan = _plan(index, steps, history, tools, searchable)
        over = index < history.latest or history.replies >= MAX_MODEL_CALLS - 1
        if plan.call is not None and not over:
            return ModelReply(plan.say, (plan.call,), finish_reason="tool_calls")
        problems[index] = plan.problem or "I did not get to this."
    return ModelReply(_summary(steps, history, problems))


def _offered(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """The definitions that a gate gives in the conversation, as entries of `tools`."""
    lines = [
        line
        for message in messages
        if isinstance(message, NoteMessage) and message.offers
        for line in message.text.splitlines()
        if line.startswith("{")
    ]
    return [{"type": "function", "function": json.loads(line)} for line in lines]


def _named(entry: object) -> object:
    function = entry.get("function") if isinstance(entry, Mapping) else None
    return function.get("name") if isinstance(function, Mapping) else None


def _plan(
    index: int, steps: Sequence[Reading], history: History, tools: Sequence[Bound], searchable: bool
) -> Plan:
    reading, attempt = steps[index], history.attempt(index)
    identity = call_id(history.turn, index, len(attempt.searches))
    fitting = _fitting(tools, reading, attempt)
    filled = [(tool, fill(tool.schema, _source(index, steps, history))) for tool in fitting]
    ready = [(tool, result.arguments) for tool, result in filled if not result.missing]
    ready.sort(key=lambda pair: len(unused(pair[1], reading)))
    query = "" if not searchable or _is_settled(reading, attempt, filled) else _query(reading, attempt)
    # A bound tool that does not use every value may be the wrong one: keep searching.
    if ready and (not query or not unused(ready[0][1], reading)):
        tool, arguments = ready[0]
        return Plan(ToolCall(identity, tool.wire, arguments), f"Calling {_shown(tool.wire)}.")
    if query:
        return Plan(ToolCall(identity, SEARCH_TOOLS, {"query": query}), f"Searching for a tool: {query}")
    if filled:
        name, missing = _shown(filled[0][0].wire), ", ".join(filled[0][1].missing)
        return Plan(problem=f"I found {name}, but it needs values you did not give: {missing}.")
    return Plan(problem=_nothing(attempt))


def _is_settled(reading: Reading, attempt: Attempt, filled: Sequence[tuple[Bound, Filled]]) -> bool:
    """Whether another search is pointless: a tool was found and uses every value that the step gives."""
    return bool(attempt.searches and filled) and not unused(filled[0][1].arguments, reading)


def _fitting(tools: Sequence[Bound], reading: Reading, attempt: Attempt) -> list[Bound]:
    """The tools worth calling, best first: the best one, and those that score close to it."""
    candidates = ranked(tools, reading, attempt.found)
    needed = FITS if attempt.searches else FITS_WELL
    best = candidates[0][1] if candidates else 0.0
    return [tool for tool, score in candidates[:MAX_CANDIDATES] if score >= max(needed, best - MARGIN)]


def _query(reading: Reading, attempt: Attempt) -> str:
    """The next query, or an empty string if there is none left to try."""
    if reading.expression:
        queries = ["evaluate an arithmetic expression", "calculator"]
    else:
        queries = [first_words(reading), other_words(reading)]
    tried = [done.call.arguments.get("query") for done in attempt.searches]
    fresh = [query for query in queries[len(tried) : MAX_SEARCHES] if query not in tried]
    return fresh[0] if fresh else ""


def _nothing(attempt: Attempt) -> str:
    asked = ", ".join(f"“{done.call.arguments.get('query')}”" for done in attempt.searches)
    return f"I found no tool for this (searched for {asked})." if asked else "I have no tool for this."


def _source(index: int, steps: Sequence[Reading], history: History) -> Source:
    """The values that a step can use: its own, and the last successful result before it."""
    earlier = [(steps[step].text, done) for step in range(index) for done in history.attempt(step).calls]
    known = [*(("", done) for done in history.before), *earlier]
    good = [(asked, done) for asked, done in known if not answer.is_error(done.result)]
    if not good:
        return Source(steps[index])
    asked, last = good[-1]
    if steps[index].row is not None:
        # A counted row ("the second") is one of several, so skip single results such as a sent mail.
        lists = [(said, done) for said, done in good if len(answer.rows(done.result)) > 1]
        asked, last = (lists or good)[-1]
    # The step's words say what the rows are if the tool's name, such as "search", does not.
    about = frozenset(terms(f"{_shown(last.call.name)} {asked} {answer.keys(last.result)}"))
    text = answer.render(last.result, answer.MAILED)
    return Source(steps[index], answer.rows(last.result), text, about, asked)


def _summary(steps: Sequence[Reading], history: History, problems: Mapping[int, str]) -> str:
    if not steps:
        return _NOT_UNDERSTOOD
    parts = []
    for index, reading in enumerate(steps):
        calls = history.attempt(index).calls
        outcome = problems.get(index, "")
        if calls:
            outcome = _outcome(calls[-1], reading) + _one_of_many(calls[-1], _source(index, steps, history))
        parts.append(f"{reading.text}\n{outcome}" if len(steps) > 1 else outcome)
    return "\n\n".join(parts)


def _outcome(done: Done, reading: Reading) -> str:
    # A tool that returns a long text it was given need not be quoted in full.
    brief = len(str(done.call.arguments)) > LONG
    name, result = _shown(done.call.name), answer.render(done.result, brief=brief)
    if answer.is_error(done.result):
        return f"{name} failed: {result}"
    left = ", ".join(unused(done.call.arguments, reading))
    note = f"\n(The call did not use: {left}.)" if left else ""
    gap = "\n" if "\n" in result else " "
    return f"{name}:{gap}{result}{note}"


def _one_of_many(done: Done, source: Source) -> str:
    """A note if the step meant all rows and the call was about one of them; else an empty string."""
    passed = list(done.call.arguments.values())
    about_one = any(row.get(key) in passed for row in source.rows for key in ("id", "number") if key in row)
    if not (source.reading.is_plural and len(source.rows) > 1 and about_one):
        return ""
    return f"\n(I did this for only one of the {len(source.rows)}; ask for the others one by one.)"


def _shown(wire: str) -> str:
    return wire.replace("__", ":", 1)
