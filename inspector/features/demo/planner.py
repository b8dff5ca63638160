"""The planner: for each step of a request it searches and calls; at the end it reports the real results.

What was done since the user's last message it reads from the messages alone.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from inspector.core.message import (
    AssistantMessage,
    Message,
    ModelReply,
    ModelRequest,
    NoteMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from inspector.features.demo.argument import Source, fill, unused
from inspector.features.demo.choice import (
    FITS,
    FITS_WELL,
    Bound,
    bound_tools,
    first_words,
    nearest,
    other_words,
    ranked,
)
from inspector.features.demo.reading import Reading, read, split
from inspector.search.index.vocabulary import terms
from inspector.tokens.manifest import SEARCH_TOOLS

# What was tried since the last message of the user.

_ID = re.compile(r"plan-\d+-(\d+)-\d+")
_FOUND = re.compile(r"^- (\S+:\S+)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Done:
    """A call and its result's text."""

    call: ToolCall
    result: str


@dataclass(slots=True)
class Attempt:
    """What was tried for one step."""

    searches: list[Done] = field(default_factory=list)
    calls: list[Done] = field(default_factory=list)

    @property
    def found(self) -> tuple[str, ...]:
        """The ids that the searches returned."""
        return tuple(name for search in self.searches for name in _FOUND.findall(search.result))


@dataclass(frozen=True, slots=True)
class History:
    """The request, the number of replies to it so far, and the attempts by step."""

    text: str
    turn: int
    replies: int
    attempts: dict[int, Attempt]
    before: tuple[Done, ...]

    def attempt(self, step: int) -> Attempt:
        """What was tried for a step; empty for a step that has not begun."""
        return self.attempts.get(step, Attempt())

    @property
    def latest(self) -> int:
        """The last step for which anything was tried, or -1."""
        return max(self.attempts, default=-1)


def call_id(turn: int, step: int, number: int) -> str:
    """A call id that includes its step, because the messages are the planner's only memory."""
    return f"plan-{turn}-{step}-{number}"


def read_history(messages: Sequence[Message]) -> History:
    """Read the conversation up to now."""
    turns = [index for index, message in enumerate(messages) if isinstance(message, UserMessage)]
    start = turns[-1] if turns else len(messages)
    last = messages[start] if turns else None
    current = messages[start + 1 :]
    attempts: dict[int, Attempt] = {}
    for done in _done(current):
        match = _ID.fullmatch(done.call.id)
        if match:
            attempt = attempts.setdefault(int(match.group(1)[:6]), Attempt())
            kept = attempt.searches if done.call.name == SEARCH_TOOLS else attempt.calls
            kept.append(done)
    return History(
        text=last.text if isinstance(last, UserMessage) else "",
        turn=len(turns) + sum(m.exchanges for m in messages if isinstance(m, NoteMessage)),
        replies=sum(isinstance(m, AssistantMessage) and not m.thought for m in current),
        attempts=attempts,
        before=tuple(done for done in _done(messages[:start]) if done.call.name != SEARCH_TOOLS),
    )


def _done(messages: Sequence[Message]) -> list[Done]:
    results = {message.call_id: message.text for message in messages if isinstance(message, ToolMessage)}
    calls = [call for m in messages if isinstance(m, AssistantMessage) for call in m.tool_calls]
    return [Done(call, results.get(call.id, "")) for call in calls]


# Tool results as rows, and as text for people.

MAX_RESULT = 200_000
SHOWN = 12
MAILED = 100
_MAX_LINE = 240
_MAX_RECORD = 2_000
_MAX_VALUE = 120
_NESTED = 3
_DECODER = json.JSONDecoder()
_BLANK = re.compile(r"\s*")
_ERROR = re.compile(r"\s*error\b", re.IGNORECASE)


def is_error(result: str) -> bool:
    """Whether a result's text reports a failure; the text is all that a model sees."""
    return bool(_ERROR.match(result))


def documents(result: str) -> tuple[Any, ...]:
    """The JSON values of a result; a list may come as one value per line. Empty if the result is text."""
    text = result[:MAX_RESULT]
    values: list[Any] = []
    position = _blank_to(text, 0)
    while position < len(text):
        try:
            value, position = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            # The loop guard's note may follow the values; a text that begins with a number is still text.
            return tuple(values) if text.startswith("[", position) else ()
        values.append(value)
        position = _blank_to(text, position)
    return tuple(values)


def _blank_to(text: str, position: int) -> int:
    match = _BLANK.match(text, position)
    return match.end() if match else position


def rows(result: str) -> tuple[Mapping[str, Any], ...]:
    """The records in a result: those of a list, of the only list inside an object, or the object itself."""
    return _records(documents(result))[1]


def _keys(result: str) -> str:
    """The keys of an object, which say what its rows are."""
    values = documents(result)
    return " ".join(map(str, values[0])) if len(values) == 1 and isinstance(values[0], Mapping) else ""


def _records(values: tuple[Any, ...]) -> tuple[Mapping[str, Any], tuple[Mapping[str, Any], ...]]:
    """The records, and the other fields of the object around them, such as their city."""
    around: Mapping[str, Any] = {}
    if len(values) == 1 and isinstance(values[0], list):
        values = tuple(values[0])
    elif len(values) == 1 and isinstance(values[0], Mapping):
        inner = _only_list(values[0])
        if inner is not None:
            around = {key: value for key, value in values[0].items() if not isinstance(value, list)}
            values = tuple(inner)
    return around, tuple(value for value in values if isinstance(value, Mapping))


def _only_list(value: Mapping[str, Any]) -> list[Any] | None:
    lists = [v for v in value.values() if isinstance(v, list) and v and isinstance(v[0], Mapping)]
    scalars = [v for v in value.values() if not isinstance(v, list | Mapping)]
    return lists[0] if len(lists) == 1 and len(scalars) <= _NESTED else None


def render(result: str, limit: int = SHOWN, *, brief: bool = False) -> str:
    """A result as short lines; text that is not JSON stays unchanged."""
    values = documents(result)
    if is_error(result) or not values:
        return _cut(result.strip(), _MAX_LINE * limit) or "(an empty result)"
    around, records = _records(values)
    if not records:
        return "\n".join(_cut(_plain(value), _MAX_LINE) for value in values[:limit])
    heading = [f"{_line(around)}:"] if around else []
    if len(records) == 1:
        return " ".join([*heading, _line(records[0], _MAX_LINE if brief else _MAX_RECORD)])
    lines = [f"- {_line(row)}" for row in records[:limit]]
    more = [f"- … and {len(records) - limit} more"] if len(records) > limit else []
    return "\n".join([*heading, *lines, *more])


def _line(row: Mapping[str, Any], size: int = _MAX_LINE) -> str:
    share = _MAX_VALUE if size == _MAX_LINE else size // 4
    parts = [
        f"{str(key).replace('_', ' ')} {_cut(_plain(value), share)}"
        for key, value in row.items()
        if value is not None and value not in ("", [], {})
    ]
    return _cut(", ".join(parts), size) or "(empty)"


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return "(" + ", ".join(f"{key} {value[key]}" for key in list(value)[:6]) + ")"
    if isinstance(value, list):
        return f"{len(value)} entries" if len(value) > _NESTED else "; ".join(map(_plain, value)) or "nothing"
    return " ".join(str(value).split())


def _cut(text: str, size: int) -> str:
    return text if len(text) <= size else f"{text[: size - 1]}…"


# What to do about each step.

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
    # Another search is pointless if a tool was found and uses every value that the step gives.
    is_settled = bool(attempt.searches and filled) and not unused(filled[0][1].arguments, reading)
    query = "" if not searchable or is_settled else _query(reading, attempt)
    # A bound tool that does not use every value may be the wrong one: keep searching.
    if ready and (not query or not unused(ready[0][1], reading)):
        tool, arguments = ready[0]
        return Plan(ToolCall(identity, tool.wire, arguments), f"Calling {_shown(tool.wire)}.")
    if query:
        return Plan(ToolCall(identity, SEARCH_TOOLS, {"query": query}), f"Searching for a tool: {query}")
    if filled:
        name, missing = _shown(filled[0][0].wire), ", ".join(filled[0][1].missing)
        return Plan(problem=f"I found {name}, but it needs values you did not give: {missing}.")
    return Plan(problem=_nothing_fits(tools, reading, attempt))


def _nothing_fits(tools: Sequence[Bound], reading: Reading, attempt: Attempt) -> str:
    """What is said where no tool is called; a bound tool whose words were said is named, never denied."""
    asked = ", ".join(f"“{done.call.arguments.get('query')}”" for done in attempt.searches)
    near = None if asked else nearest(tools, reading)
    if near is not None:
        return f"The closest tool is {_shown(near.wire)}: few of its words match, but an LLM may call it."
    return f"I found no tool for this (searched for {asked})." if asked else "I have no tool for this."


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


def _source(index: int, steps: Sequence[Reading], history: History) -> Source:
    """The values that a step can use: its own, and the last successful result before it."""
    earlier = [(steps[step].text, done) for step in range(index) for done in history.attempt(step).calls]
    known = [*(("", done) for done in history.before), *earlier]
    good = [(asked, done) for asked, done in known if not is_error(done.result)]
    if not good:
        return Source(steps[index])
    asked, last = good[-1]
    if steps[index].row is not None:
        # A counted row ("the second") is one of several, so skip single results such as a sent mail.
        lists = [(said, done) for said, done in good if len(rows(done.result)) > 1]
        asked, last = (lists or good)[-1]
    # The step's words say what the rows are if the tool's name, such as "search", does not.
    about = frozenset(terms(f"{_shown(last.call.name)} {asked} {_keys(last.result)}"))
    text = render(last.result, MAILED)
    return Source(steps[index], rows(last.result), text, about, asked)


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
    name, result = _shown(done.call.name), render(done.result, brief=brief)
    if is_error(done.result):
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
