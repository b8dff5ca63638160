"""The planner: for each step of a request it searches and calls; at the end it reports the real results.

What was done since the user's last message it reads from the messages alone.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

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
from inspector.features.demo.reading import (
    Bound,
    Reading,
    bound_tools,
    declared_tools,
    fitting,
    found_among,
    read,
    shared,
    split,
)
from inspector.schema.json_value import JsonObject, as_object
from inspector.search.answer.answer_text import CLOSEST_ONLY
from inspector.search.index.query import is_statement
from inspector.search.index.vocabulary import terms
from inspector.tokens.declaration import function_name
from inspector.tokens.manifest import RUN_SCRIPT, SEARCH_TOOLS
from inspector.tokens.script import Part, Script, ScriptCall, ScriptError, read_script

MAX_MODEL_CALLS = 16
_LONGEST = 300
# Results are read up to so many characters, told in so many rows, and passed on in so many.
MAX_RESULT = 200_000
SHOWN, PASSED_ON = 12, 100
_LINE, _VALUE, _NESTED = 240, 120, 3
# The messages are the planner's only memory, so a call's id says which step it was for.
_ID = re.compile(r"plan-\d+-(\d+)-\d+")
_FOUND = re.compile(r"^- (\S+?:\S+?):?(?:\s|$)", re.MULTILINE)
_ERROR = re.compile(r"\s*error\b", re.IGNORECASE)
_DECODER = json.JSONDecoder()
_NOT_UNDERSTOOD = (
    "I found nothing to do in that. I am a rule-based stand-in, so please ask for one thing per sentence."
)
PASSED = "its result went to the next call."
_THOUGHT = "Searching again turns up nothing new. I will go on with what I have."
_FAILED = "I could not work that out. I am a rule-based stand-in; try simpler words."


class Done(Struct, frozen=True):
    """A call and its result's text."""

    call: ToolCall
    result: str

    @property
    def is_error(self) -> bool:
        """Whether it failed; the text is all that a model sees."""
        return bool(_ERROR.match(self.result))


class Attempt(Struct):
    """What was tried for one step."""

    searches: list[Done] = field(default_factory=list)
    calls: list[Done] = field(default_factory=list)

    @property
    def queries(self) -> list[Any]:
        return [search.call.arguments.get("query") for search in self.searches]


class History:
    """The request, the number of replies to it so far, what was tried by step, and the calls before."""

    def __init__(self, messages: Sequence[Message]) -> None:
        turns = [index for index, message in enumerate(messages) if isinstance(message, UserMessage)]
        start = turns[-1] if turns else len(messages)
        self.text = "".join(one.text for one in messages[start : start + 1] if isinstance(one, UserMessage))
        self.turn = len(turns) + sum(one.exchanges for one in messages if isinstance(one, NoteMessage))
        current = messages[start + 1 :]
        self.replies = sum(isinstance(one, AssistantMessage) and not one.thought for one in current)
        self.before = [done for done in _done(messages[:start]) if done.call.name != SEARCH_TOOLS]
        self.attempts: dict[int, Attempt] = {}
        for done in _done(current):
            if match := _ID.fullmatch(done.call.id):
                attempt = self.attempts.setdefault(int(match.group(1)[:6]), Attempt())
                (attempt.searches if done.call.name == SEARCH_TOOLS else attempt.calls).append(done)

    def attempt(self, step: int) -> Attempt:
        """What was tried for a step; empty for a step that has not begun."""
        return self.attempts.get(step, Attempt())


def _done(messages: Sequence[Message]) -> list[Done]:
    results = {message.call_id: message.text for message in messages if isinstance(message, ToolMessage)}
    calls = [call for m in messages if isinstance(m, AssistantMessage) for call in m.tool_calls]
    done = [Done(call, results.get(call.id, "")) for call in calls]
    return [one for each in done for one in (_scripted(each) if each.call.name == RUN_SCRIPT else (each,))]


def _scripted(done: Done) -> Iterator[Done]:
    """The calls of a script, each for a step of its own; only the last one's result is known."""
    try:
        script = read_script(done.call.arguments.get("code"))
    except ScriptError:
        yield done
        return
    match = _ID.fullmatch(done.call.id)
    for number, one in enumerate(script.calls):
        step = int(match.group(1)) + number if match else 0
        result = done.result if number == len(script.calls) - 1 else PASSED
        yield Done(ToolCall(f"plan-0-{step}-0", one.tool, one.arguments), result)


# Tool results as rows, and as text for people.


def _documents(result: str) -> list[Any]:
    """The JSON values of a result; a list may come as one value per line. Empty if the result is text."""
    text = result[:MAX_RESULT].strip()
    values: list[Any] = []
    while text:
        try:
            value, end = _DECODER.raw_decode(text)
        except (ValueError, RecursionError):
            # The loop guard's note may follow the values; a text that begins with a number is still text.
            return values if text.startswith("[") else []
        values.append(value)
        text = text[end:].lstrip()
    return values


def _records(values: list[Any]) -> tuple[Mapping[str, Any], tuple[Mapping[str, Any], ...]]:
    """The records, and the other fields of the object around them, such as their city.

    They are those of a list, of the only list inside an object, or the object itself.
    """
    around: Mapping[str, Any] = {}
    if len(values) == 1 and isinstance(values[0], list):
        values = values[0]
    elif len(values) == 1 and isinstance(values[0], Mapping):
        lists = [one for one in values[0].values() if isinstance(one, list) and isinstance(one[:1], list)]
        lists = [one for one in lists if one and isinstance(one[0], Mapping)]
        others = {key: one for key, one in values[0].items() if not isinstance(one, list)}
        if len(lists) == 1 and sum(not isinstance(one, Mapping) for one in others.values()) <= _NESTED:
            around, values = others, lists[0]
    return around, tuple(value for value in values if isinstance(value, Mapping))


def render(result: str, limit: int = SHOWN) -> str:
    """A result as short lines; text that is not JSON stays unchanged."""
    values = _documents(result)
    if _ERROR.match(result) or not values:
        return _cut(result.strip(), _LINE * limit) or "(an empty result)"
    around, records = _records(values)
    if not records:
        return "\n".join(_cut(_plain(value), _LINE) for value in values[:limit])
    heading = [f"{_line(around)}:"] if around else []
    if len(records) == 1:
        return " ".join([*heading, _line(records[0])])
    lines = [f"- {_line(row)}" for row in records[:limit]]
    more = [f"- … and {len(records) - limit} more"] if len(records) > limit else []
    return "\n".join([*heading, *lines, *more])


def _line(row: Mapping[str, Any]) -> str:
    told = {key: value for key, value in row.items() if value is not None and value not in ("", [], {})}
    parts = [f"{str(key).replace('_', ' ')} {_cut(_plain(value), _VALUE)}" for key, value in told.items()]
    return _cut(", ".join(parts), _LINE) or "(empty)"


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


def decide(request: ModelRequest) -> ModelReply:
    """The next reply for a request."""
    try:
        return ModelReply(_THOUGHT) if request.think else _Plan(request).reply()
    except Exception as error:
        # Schemas and texts come from outside; an unexpected shape must not end a chat.
        return ModelReply(f"{_FAILED} ({type(error).__name__})")


class _Plan:
    """What to do about each step of the last message."""

    def __init__(self, request: ModelRequest) -> None:
        self.history = History(request.messages)
        self.steps = [read(step) for step in split(self.history.text)]
        self.tools = bound_tools(request.tools)
        self.searchable = any(SEARCH_TOOLS in str(entry) for entry in request.tools)
        functions = (as_object(as_object(entry).get("function")) for entry in request.tools)
        self.writes_scripts = any(function.get("name") == RUN_SCRIPT for function in functions)
        if self.writes_scripts:
            said = (message.text for message in request.messages if not isinstance(message, AssistantMessage))
            self.tools += declared_tools("\n".join(said))
        self._passing: tuple[int, Bound, Part] | None = None

    def reply(self) -> ModelReply:
        """The next search or call, or the results of all steps."""
        history, told = self.history, []
        over = history.replies >= MAX_MODEL_CALLS - 1
        for index, reading in enumerate(self.steps):
            attempt = history.attempt(index)
            if attempt.calls:
                told.append(_outcome(attempt.calls[-1], reading))
                continue
            next_one = self._next(index)
            is_next = self.writes_scripts or index >= max(history.attempts, default=0)
            if self.writes_scripts and isinstance(next_one, ToolCall) and next_one.name != SEARCH_TOOLS:
                next_one = self._script(index, next_one)
            if isinstance(next_one, ToolCall) and not over and is_next:
                name, query = _shown(next_one.name), next_one.arguments.get("query")
                is_search = next_one.name == SEARCH_TOOLS
                does = "Running a script." if self.writes_scripts else f"Calling {name}."
                text = f"Searching for a tool: {query}" if is_search else does
                return ModelReply(text, (next_one,), finish_reason="tool_calls")
            told.append("I did not get to this." if isinstance(next_one, ToolCall) else next_one)
        if len(told) > 1:
            told = [f"{step.text}\n{outcome}" for step, outcome in zip(self.steps, told, strict=True)]
        return ModelReply("\n\n".join(told) or _NOT_UNDERSTOOD)

    def _script(self, index: int, call: ToolCall) -> ToolCall:
        """The script of a step's call, and of those after it that go on with its result, which is not read.

        A search that they need comes first.
        """
        calls: list[ScriptCall] = []
        for later in range(index, len(self.steps)):
            next_one = self._next(later) if calls else call
            if isinstance(next_one, str) or (calls and next_one.name != SEARCH_TOOLS and not _uses(next_one)):
                break
            if next_one.name == SEARCH_TOOLS:
                return next_one
            name = f"r{len(calls)}"
            calls.append(ScriptCall(name, function_name(next_one.name), dict(next_one.arguments)))
            tool = next(tool for tool in self.tools if tool.wire == next_one.name)
            self._passing = (later, tool, Part(name))
            if later + 1 < len(self.steps) and not self.steps[later + 1].refers:
                break
        return ToolCall(call.id, RUN_SCRIPT, {"code": Script(tuple(calls), Part(calls[-1].name)).text})

    def _next(self, index: int) -> ToolCall | str:
        """The search or call that a step needs, or why there is none."""
        reading, attempt = self.steps[index], self.history.attempt(index)
        identity = f"plan-{self.history.turn}-{index}-{len(attempt.searches)}"
        found = {
            self._called(name): CLOSEST_ONLY not in search.result
            for search in attempt.searches
            for name in _FOUND.findall(search.result)
        }
        if not self.searchable:
            found = found_among(self.tools, reading.text)
        tools = fitting(self.tools, reading, found)
        filled = [(tool, fill(tool.schema, self._source(index))) for tool in tools]
        ready = [(tool, result.arguments) for tool, result in filled if not result.missing]
        ready.sort(key=lambda pair: len(unused(pair[1], reading)))
        # Another search is pointless if a tool was found and uses every value that the step gives.
        is_settled = bool(attempt.searches and filled) and not unused(filled[0][1].arguments, reading)
        query = "" if not self.searchable or is_settled else _query(reading, attempt)
        # A bound tool that does not use every value may be the wrong one: keep searching.
        if ready and (not query or not unused(ready[0][1], reading)):
            return ToolCall(identity, ready[0][0].wire, ready[0][1])
        if query:
            return ToolCall(identity, SEARCH_TOOLS, {"query": query})
        if filled:
            name, missing = _shown(filled[0][0].wire), ", ".join(filled[0][1].missing)
            return f"I found {name}, but it needs values you did not give: {missing}."
        if attempt.searches:
            return (
                f"I found no tool for this (searched for {', '.join(f'“{one}”' for one in attempt.queries)})."
            )
        # A bound tool whose words were said is named, never denied.
        near = max(self.tools, key=lambda tool: shared(tool, reading), default=None)
        if near is None or not shared(near, reading):
            return "I have no tool for this."
        return f"The closest tool is {_shown(near.wire)}: few of its words match, but an LLM may call it."

    def _called(self, tool_id: str) -> str:
        """The name by which a found tool is called."""
        name = tool_id.replace(":", "__", 1)
        return function_name(name) if self.writes_scripts else name

    def _source(self, index: int) -> Source:
        """The values that a step can use: its own, and the last successful result before it."""
        reading = self.steps[index]
        if self._passing is not None:
            step, tool, part = self._passing
            about = frozenset(terms(f"{_shown(tool.wire)} {self.steps[step].text}"))
            return Source(reading, (_row(tool.returns, part),), "", about, self.steps[step].text)
        earlier = [
            (self.steps[step].text, done)
            for step in range(index)
            for done in self.history.attempt(step).calls
        ]
        known = [*(("", done) for done in self.history.before), *earlier]
        good = [(said, done) for said, done in known if not done.is_error]
        if not good:
            return Source(reading)
        asked, last = good[-1]
        # The step's words say what the rows are if the tool's name, such as "search", does not.
        about = frozenset(terms(f"{_shown(last.call.name)} {asked}"))
        _, rows = _records(_documents(last.result))
        return Source(reading, rows, render(last.result, PASSED_ON), about, asked)


def _uses(call: ToolCall) -> bool:
    """Whether a call takes a part of a result of its script."""
    return any(isinstance(one, Part) for one in call.arguments.values())


def _row(returns: JsonObject, part: Part) -> Mapping[str, Part]:
    """The first row of a result that is not there yet: its fields, as far as they are declared, and an id."""
    inner: JsonObject = returns.get("properties", {}).get("result", {})
    if "items" in inner:
        returns, part = inner["items"], Part(part.name, ("result", 0))
    keys = (*returns.get("properties", {}), "id") if returns else ()
    return {key: Part(part.name, (*part.path, key)) for key in keys}


def _query(reading: Reading, attempt: Attempt) -> str:
    """The next query, or an empty string if there is none left to try."""
    text, words = reading.text[:_LONGEST], list(dict.fromkeys(reading.capability))
    # The first word is mostly the verb.
    queries = [
        " ".join((*words, *(["search"] if reading.topic else []))),
        " ".join((*words[1:], reading.topic)),
    ]
    # What is merely told stays a sentence: of its words alone a search could not see that nothing is asked.
    # A single word says too little.
    if is_statement(text) or len(words) < 2:
        queries = [text]
    if reading.expression:
        queries = ["evaluate an arithmetic expression", "calculator"]
    fresh = [one.strip() for one in queries[len(attempt.searches) :]]
    return next((one for one in fresh if one and one not in attempt.queries), "")


def _outcome(done: Done, reading: Reading) -> str:
    name, result = _shown(done.call.name), render(done.result)
    if done.result == PASSED:
        return f"{name}: {PASSED}"
    if done.is_error:
        return f"{name} failed: {result}"
    left = ", ".join(unused(done.call.arguments, reading))
    note = f"\n(The call did not use: {left}.)" if left else ""
    gap = "\n" if "\n" in result else " "
    return f"{name}:{gap}{result}{note}"


def _shown(wire: str) -> str:
    return wire.replace("__", ":", 1)
