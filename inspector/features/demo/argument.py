"""Fills a tool's arguments from a step and from earlier results, following its schema."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from zoneinfo import available_timezones

from inspector.features.demo.reading import Number, Reading, word_set
from inspector.schema.json_value import JsonObject
from inspector.schema.schema import SchemaField, fields, resolve
from inspector.search.index.vocabulary import stem, terms

MAX_TEXT = 4_000
MAX_TITLE = 80
CITY = frozenset(("city", "location", "place", "town", "region", "country", "address", "destination"))
PEOPLE = word_set("to cc bcc email emails mail recipient recipients attendee attendees address")
CONTENT = word_set("body text content message comment note markdown description reply caption")
QUERY = word_set("query q search term terms keyword keywords question pattern")
TITLE = word_set("title subject name summary headline label heading")
DAY = word_set("date day start since until due deadline when shipped end after before")
TIME = frozenset(("time", "at", "clock"))
ZONE = word_set("zone zones timezone timezones tz")
FORMULA = frozenset(("expression", "formula", "equation"))
CODE = word_set("path file filename sku code url uri key isbn branch repo repository id number")


@dataclass(slots=True)
class Source:
    """Where values come from: the step, and the earlier result it may refer to. Each value is used once.

    `about` are the stems of what the earlier rows are: an order's number is not a message's number. `asked`
    is the step that they answered.
    """

    reading: Reading
    rows: tuple[Mapping[str, Any], ...] = ()
    earlier: str = ""
    about: frozenset[str] = frozenset()
    asked: str = ""
    wants_content: bool = False
    used: set[object] = field(default_factory=set)
    covered: set[str] = field(default_factory=set)

    def take(self, values: tuple[str, ...]) -> str | None:
        """The first of the values that no other parameter uses."""
        for value in values:
            if value not in self.used:
                self.used.add(value)
                return value
        return None


def words_of(name: str) -> tuple[str, ...]:
    """The words of a parameter's name, in lower case."""
    split = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return tuple(word.lower() for word in re.findall(r"[^\W\d_]+", split))


def _boolean(parameter: SchemaField, source: Source) -> bool | None:
    """True if the step names the parameter, False if it negates it, else None."""
    text = source.reading.text.lower()
    names = words_of(parameter.name)
    if names in {("on",), ("is", "on"), ("enabled",), ("off",)}:
        switch = re.search(r"\b(?:turn|switch)(?:ed|ing)?\b.*?\b(on|off)\b", text)
        return (switch.group(1) == "on") == (names != ("off",)) if switch else None
    named = [word for word in map(stem, names) if word not in {"is", "has", "onli", "includ"}]
    if not named or not source.reading.words.issuperset(named):
        return None
    # Words in the flag's own description belong to the flag, not to another filter.
    source.covered.update(terms(parameter.description))
    return not re.search(rf"\b(?:not|no|without|never)\s+(?:\w+\s+)?{re.escape(names[-1])}", text)


def _mentioned(choices: tuple[object, ...], source: Source) -> list[object]:
    """All listed values that the step mentions, in the step's order."""
    heard = [stem(word) for word in re.findall(r"\w+", source.reading.text.lower())]
    mentions: list[tuple[int, object]] = []
    for option in choices[:200]:
        said = (
            [stem(word) for word in re.findall(r"[^\W_]+", str(option).lower())] if option is not None else []
        )
        at = _position(said, heard)
        if at is not None and not source.covered.issuperset(said):
            mentions.append((at, option))
    return [option for _, option in sorted(mentions, key=lambda pair: pair[0])]


def _position(said: list[str], heard: list[str]) -> int | None:
    for start in range(len(heard) - len(said) + 1 if said else 0):
        if heard[start : start + len(said)] == said and heard[start - 1 : start] not in (["not"], ["non"]):
            return start
    return None


def _number_for(parameter: SchemaField, source: Source) -> int | float | None:
    """A number in the step that fits by the words beside it, or any number for a required parameter."""
    about = {*map(stem, words_of(parameter.name)), *terms(parameter.description)}
    free = [n for i, n in enumerate(source.reading.numbers) if ("number", i) not in source.used]
    fitting = [n for n in free if _allowed(n, parameter)]
    near = [n for n in fitting if {n.before, n.after} & about]
    picked = next(iter(near or (fitting if parameter.required else [])), None)
    if picked is None:
        return None
    source.used.add(("number", source.reading.numbers.index(picked)))
    return picked.value


def _allowed(number: Number, parameter: SchemaField) -> bool:
    if "integer" in parameter.type and "number" not in parameter.type and isinstance(number.value, float):
        return False
    low, high = parameter.schema.get("minimum"), parameter.schema.get("maximum")
    above = not isinstance(low, int | float) or number.value >= low
    return above and (not isinstance(high, int | float) or number.value <= high)


def _text_for(parameter: SchemaField, source: Source) -> str | None:
    """The text for a parameter, chosen by its name."""
    reading, words = source.reading, words_of(parameter.name)
    names = frozenset(words)
    is_dated = parameter.schema.get("format") in ("date", "date-time")
    if names & FORMULA:
        return reading.expression or None
    if names & ZONE:
        return _zone(source)
    if len(words) > 1 and words[0] in {"from", "to"}:
        return _side(words[0], source)
    if names & PEOPLE and (reading.emails or not names & CITY):
        return source.take(reading.emails)
    if names & CITY:
        return source.take(reading.places)
    if "YYYY-MM-DD" in parameter.description or names & DAY or is_dated:
        return _day(parameter, source)
    return _by_name(parameter, names, source)


def _by_name(parameter: SchemaField, names: frozenset[str], source: Source) -> str | None:
    reading = source.reading
    if names & TIME and (time := source.take(reading.times)):
        return time
    if names & QUERY:
        return _query(parameter, source)
    if names & CONTENT:
        return _content(parameter, source)
    if names & TITLE:
        return _title(parameter, source)
    if names & CODE:
        return source.take(reading.codes) or source.take(reading.quotes)
    return _anything(source) if parameter.required else None


def _day(parameter: SchemaField, source: Source) -> str | None:
    day = source.take(source.reading.dates)
    about = parameter.description
    only_day = parameter.schema.get("format") == "date" or ("YYYY-MM-DD" in about and "HH" not in about)
    return day[:10] if day and only_day else day


def _zone(source: Source) -> str | None:
    """The time zone that the step names, or that a place in the step is in."""
    for name in (*source.reading.codes, *source.reading.places):
        known = _zones().get(name.rpartition("/")[2].replace(" ", "_").lower())
        if known is not None and name not in source.used:
            source.used.add(name)
            return known
    return None


@lru_cache
def _zones() -> Mapping[str, str]:
    """Time zones by the city they are named after."""
    return {name.rpartition("/")[2].lower(): name for name in sorted(available_timezones(), reverse=True)}


def _side(side: str, source: Source) -> str | None:
    """One side of “5 km to miles” or “from A to B”."""
    match = re.search(r"([^\W\d_]+)\s+(?:to|into)\s+([^\W\d_]+)", source.reading.text)
    return match.group(1 if side == "from" else 2) if match else None


def _query(parameter: SchemaField, source: Source) -> str | None:
    reading = source.reading
    query = source.take(reading.quotes) or reading.topic
    if query or not parameter.required:
        return query or None
    return source.take(reading.places) or " ".join(reading.capability[1:] or reading.capability) or None


def _content(parameter: SchemaField, source: Source) -> str | None:
    quote = source.take(source.reading.quotes)
    if quote:
        return quote
    if source.reading.refers and source.earlier:
        return source.earlier[:MAX_TEXT]
    _, colon, after = source.reading.text.partition(": ")
    if colon and after.strip():
        return after.strip()
    return source.reading.topic or None if parameter.required else None


def _title(parameter: SchemaField, source: Source) -> str | None:
    quotes = source.reading.quotes
    if len(quotes) > 1 or (parameter.required and not source.wants_content):
        quote = source.take(quotes)
        if quote:
            return quote
    if not parameter.required:
        return None
    if source.reading.topic:
        return source.reading.topic[:MAX_TITLE]
    if source.reading.refers and source.asked:
        return source.asked.strip(" .?!")[:MAX_TITLE] or None
    said = re.sub(r"\s+(?:to|for|with)\s+\S+@\S+", "", source.reading.text.partition(": ")[0])
    said = re.sub(r"\s+(?:(?:on|at|from)\s+)?\d{4}-\d\d-\d\d(?:\s+at)?(?:[T\s]+\d+:\d+)?", "", said)
    return said.strip(" .?!")[:MAX_TITLE] or None


def _anything(source: Source) -> str | None:
    reading = source.reading
    return source.take(reading.quotes) or source.take(reading.codes) or source.take(reading.places)


MAX_DEPTH = 4
MAX_FIELDS = 60
MAX_ROWS = 200
_NAMES = ("title", "name", "subject", "path", "key")
_DEFINITIONS = ("$defs", "definitions")


@dataclass(frozen=True, slots=True)
class Filled:
    """Arguments, and the required parameters that have no value."""

    arguments: dict[str, Any]
    missing: tuple[str, ...] = ()


def fill(schema: JsonObject, source: Source) -> Filled:
    """Fill the arguments that the step gives; the tool's defaults apply to the rest."""
    names = [words_of(parameter.name) for parameter in fields(schema) if parameter.required]
    source.wants_content = any(CONTENT.intersection(words) for words in names)
    return _object(schema, schema, source, MAX_DEPTH)


def unused(arguments: object, reading: Reading) -> tuple[str, ...]:
    """The step's values that the arguments do not use."""
    passed = "\n".join(_leaves(arguments, MAX_DEPTH * 2))
    return tuple(
        text
        for text in dict.fromkeys(reading.values)
        if text not in passed and text.replace(" ", "_") not in passed
    )


def _leaves(node: object, depth: int) -> list[str]:
    if isinstance(node, Mapping | list | tuple) and depth:
        parts = node.values() if isinstance(node, Mapping) else node
        return [leaf for part in parts for leaf in _leaves(part, depth - 1)]
    return [str(node)]


def _object(schema: JsonObject, root: JsonObject, source: Source, depth: int) -> Filled:
    filled: dict[str, Any] = {}
    missing: list[str] = []
    declared = fields(_rooted(schema, root))[:MAX_FIELDS]
    for parameter in sorted(declared, key=_order):
        argument, lacking = _value(parameter, root, source, depth)
        if argument is not None:
            filled[parameter.name] = argument
        elif parameter.required:
            missing += lacking or [parameter.name]
    ordered = {p.name: filled[p.name] for p in declared if p.name in filled}
    return Filled(ordered, tuple(missing))


def _order(parameter: SchemaField) -> tuple[bool, int]:
    """The sort key: required parameters come first, and flags before the choices they may explain."""
    kinds = ("boolean", "enum", "integer", "number")
    return not parameter.required, kinds.index(parameter.type) if parameter.type in kinds else len(kinds)


def _value(parameter: SchemaField, root: JsonObject, source: Source, depth: int) -> tuple[object, list[str]]:
    """The value, or None and the names of what is missing in it."""
    if "const" in parameter.schema:
        return (parameter.schema["const"] if parameter.required else None), []
    if parameter.type == "object" and depth > 0:
        return _nested(parameter, root, source, depth)
    if parameter.type == "array" and depth > 0:
        return _array(parameter, root, source, depth)
    return _simple(parameter, source), []


def _simple(parameter: SchemaField, source: Source) -> object:
    if parameter.choices:
        chosen = next(iter(_mentioned(parameter.choices, source)), None)
        only = parameter.choices[0] if len(parameter.choices) == 1 and parameter.required else None
        return only if chosen is None else chosen
    if parameter.type == "boolean":
        return _boolean(parameter, source)
    kinds = parameter.type.split(" or ")
    if "integer" in kinds or "number" in kinds:
        number = _number_for(parameter, source)
        if number is not None or "string" not in kinds:
            return _earlier_id(parameter, source) if number is None else number
    if "string" in kinds or parameter.type == "any":
        written = _text_for(parameter, source)
        return _earlier_id(parameter, source) if written is None else written
    return None


def _nested(parameter: SchemaField, root: JsonObject, source: Source, depth: int) -> tuple[object, list[str]]:
    inner = _object(parameter.schema, root, source, depth - 1)
    if inner.missing:
        return None, [f"{parameter.name}.{name}" for name in inner.missing]
    return (inner.arguments if inner.arguments or parameter.required else None), []


def _array(parameter: SchemaField, root: JsonObject, source: Source, depth: int) -> tuple[object, list[str]]:
    raw = parameter.schema.get("items")
    items = resolve(raw, root) if isinstance(raw, Mapping) else {}
    element = fields(_rooted({"properties": {parameter.name: dict(items)}}, root))
    item = element[0] if element else SchemaField(parameter.name, "any")
    if item.type == "object":
        inner = _object(item.schema, root, source, depth - 1)
        if inner.missing:
            return None, [f"{parameter.name}.{name}" for name in inner.missing]
        return ([inner.arguments] if inner.arguments else None), []
    return _elements(item, parameter, source) or None, []


def _elements(item: SchemaField, parameter: SchemaField, source: Source) -> list[object]:
    reading = source.reading
    if item.choices:
        return _mentioned(item.choices, source)
    if item.type in {"integer", "number"}:
        return [n.value for n in reading.numbers] if parameter.required else []
    if item.type not in {"string", "any"}:
        return []
    names = frozenset(words_of(parameter.name))
    if names & ZONE:
        return list(iter(lambda: _zone(source), None))
    if names & PEOPLE:
        values = reading.emails
    elif names & CITY:
        values = reading.places
    else:
        values = reading.quotes or (reading.codes if parameter.required else ())
    fresh = [text for text in values if text not in source.used]
    source.used.update(fresh)
    return list(fresh)


def _earlier_id(parameter: SchemaField, source: Source) -> object:
    """The id of the row that the step refers to, if a required parameter needs one."""
    if not parameter.required or not source.rows or not source.reading.refers:
        return None
    row = _row(source)
    names = words_of(parameter.name)
    nouns = [name for name in names if name not in {"id", "number", "key"}]
    keys = [parameter.name]
    if source.about.issuperset(map(stem, nouns)) and (
        "string" not in parameter.type or names[-1:] == ("id",)
    ):
        keys += ["id", "number", f"{parameter.name}_id", f"{parameter.name}_number"]
    for key in keys:
        candidate = row.get(key)
        if _is_id(candidate, parameter.type):
            return candidate
    return None


def _row(source: Source) -> Mapping[str, Any]:
    """The row that the step counts ("the second"), or else the one whose name best matches the request."""
    if (counted := source.reading.row) is not None:
        return source.rows[counted if counted < len(source.rows) else 0]
    asked = set(terms(source.asked))

    def agreement(row: Mapping[str, Any]) -> int:
        name = " ".join(str(row[key])[:200] for key in _NAMES if key in row)
        return len(asked.intersection(terms(name)))

    return max(source.rows[:MAX_ROWS], key=agreement)


def _is_id(candidate: object, kind: str) -> bool:
    if isinstance(candidate, bool):
        return False
    if isinstance(candidate, int):
        return "integer" in kind or "number" in kind or kind == "any"
    return isinstance(candidate, str) and ("string" in kind or kind == "any")


def _rooted(schema: JsonObject, root: JsonObject) -> JsonObject:
    """A part of a schema, with the definitions that its local references need."""
    if not isinstance(schema, Mapping):
        return {}
    shared = {key: root[key] for key in _DEFINITIONS if isinstance(root, Mapping) and key in root}
    return {**shared, **schema}
