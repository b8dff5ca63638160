"""Fills a tool's arguments from a step and from earlier results, following its schema."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any
from zoneinfo import available_timezones

from msgspec import Struct, field

from inspector.features.demo.reading import FORMULA, QUERY, Reading, word_set
from inspector.schema.json_value import JsonObject
from inspector.schema.schema import SchemaField, elements, fields
from inspector.search.index.vocabulary import stem, terms, written_words
from inspector.tokens.script import Part

_MAX_TEXT, _MAX_TITLE, _MAX_DEPTH = 4_000, 80, 4
_CITY = word_set("city location place town region country address destination")
_PEOPLE = word_set("to cc bcc email emails mail recipient recipients attendee attendees address")
_CONTENT = word_set("body text content message comment note markdown description reply caption")
_TITLE = word_set("title subject name summary headline label heading")
_DAY = word_set("date day start since until due deadline when shipped end after before")
_TIME = word_set("time at clock")
_ZONE = word_set("zone zones timezone timezones tz")
_CODE = word_set("path file filename sku code url uri key isbn branch repo repository id number")


class Source(Struct):
    """Where values come from: the step, and the earlier result it may refer to. Each value is used once.

    `about` are the stems of what the earlier rows are: an order's number is not a message's number. `asked`
    is the step that they answered.
    """

    reading: Reading
    rows: tuple[Mapping[str, Any], ...] = ()
    earlier: str = ""
    about: frozenset[str] = frozenset()
    asked: str = ""
    used: set[object] = field(default_factory=set)
    covered: set[str] = field(default_factory=set)

    def take(self, values: tuple[str, ...]) -> str | None:
        """The first of the values that no other parameter uses."""
        return next(self.fresh(values), None)

    def fresh(self, values: tuple[str, ...]) -> Iterator[str]:
        """The values that no other parameter uses; none of them is fresh afterwards."""
        for value in values:
            if value not in self.used:
                self.used.add(value)
                yield value


class Filled(Struct, frozen=True):
    """Arguments, and the required parameters that have no value."""

    arguments: dict[str, Any]
    missing: tuple[str, ...] = ()


def fill(schema: JsonObject, source: Source) -> Filled:
    """Fill the arguments that the step gives; the tool's defaults apply to the rest."""
    return _object(schema, schema, source, _MAX_DEPTH)


def unused(arguments: object, reading: Reading) -> tuple[str, ...]:
    """The step's values that the arguments do not use."""
    passed = "\n".join(_leaves(arguments, _MAX_DEPTH * 2))
    return tuple(text for text in dict.fromkeys(reading.values) if text not in passed)


def _leaves(node: object, depth: int) -> list[str]:
    if isinstance(node, Mapping | list | tuple) and depth:
        parts = node.values() if isinstance(node, Mapping) else node
        return [leaf for part in parts for leaf in _leaves(part, depth - 1)]
    return [str(node)]


def _object(schema: JsonObject, root: JsonObject, source: Source, depth: int) -> Filled:
    declared = fields(schema, root)
    filled: dict[str, Any] = {}
    missing: list[str] = []
    for parameter in sorted(declared, key=_order):
        value, lacking = _value(parameter, root, source, depth)
        if value is not None:
            filled[parameter.name] = value
        elif parameter.required:
            missing += lacking or [parameter.name]
    return Filled({p.name: filled[p.name] for p in declared if p.name in filled}, tuple(missing))


def _order(parameter: SchemaField) -> tuple[bool, int]:
    """Required parameters come first, flags before the choices they may explain, content before its title."""
    kinds = ("boolean", "enum", "integer", "number")
    place = kinds.index(parameter.type) if parameter.type in kinds else len(kinds)
    is_title = parameter.required and not _TITLE.isdisjoint(written_words(parameter.name))
    return not parameter.required, place + is_title


def _value(parameter: SchemaField, root: JsonObject, source: Source, depth: int) -> tuple[object, list[str]]:
    """The value, or None and the names of what is missing in it."""
    if parameter.type == "object" and depth:
        arguments, missing = _inside(parameter, root, source, depth)
        return (arguments or ({} if parameter.required and not missing else None)), missing
    if parameter.type == "array" and depth:
        item = elements(parameter, root)
        if item.type == "object":
            arguments, missing = _inside(item, root, source, depth)
            return ([arguments] if arguments else None), missing
        return _elements(item, parameter, source) or None, []
    return _simple(parameter, source), []


def _inside(
    parameter: SchemaField, root: JsonObject, source: Source, depth: int
) -> tuple[dict[str, Any], list[str]]:
    inner = _object(parameter.schema, root, source, depth - 1)
    if inner.missing:
        return {}, [f"{parameter.name}.{name}" for name in inner.missing]
    return inner.arguments, []


def _simple(parameter: SchemaField, source: Source) -> object:
    if parameter.choices:
        return next(iter(_mentioned(parameter.choices, source)), None)
    kinds = parameter.type.split(" or ")
    value: object = None
    if parameter.type == "boolean":
        return _boolean(parameter, source)
    if not {"integer", "number"}.isdisjoint(kinds):
        value = _number(parameter, source)
    if value is None and not {"string", "any"}.isdisjoint(kinds):
        value = _text(parameter, source)
    return _earlier_id(parameter, source) if value is None else value


def _boolean(parameter: SchemaField, source: Source) -> bool | None:
    """True if the step names the parameter, False if it negates it, else None."""
    text, names = source.reading.text.lower(), written_words(parameter.name)
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
    for option in choices:
        said = [stem(word) for word in re.findall(r"[^\W_]+", str(option).lower())]
        starts = range(len(heard) - len(said) + 1) if said and option is not None else ()
        fitting = (at for at in starts if heard[at : at + len(said)] == said)
        at = next(fitting, None)
        if at is not None and not source.covered.issuperset(said):
            mentions.append((at, option))
    return [option for _, option in sorted(mentions, key=lambda pair: pair[0])]


def _number(parameter: SchemaField, source: Source) -> int | float | None:
    """A number in the step that fits by the words beside it, or any number for a required parameter."""
    about = {*map(stem, written_words(parameter.name)), *terms(parameter.description)}
    fitting = [
        (place, number)
        for place, number in enumerate(source.reading.numbers)
        if ("number", place) not in source.used
        and ("number" in parameter.type or isinstance(number.value, int))
    ]
    near = [(place, number) for place, number in fitting if {number.before, number.after} & about]
    for place, number in near or (fitting if parameter.required else []):
        source.used.add(("number", place))
        return number.value
    return None


def _text(parameter: SchemaField, source: Source) -> str | None:
    """The text for a parameter, chosen by its name."""
    names = frozenset(written_words(parameter.name))
    if parameter.schema.get("format") in ("date", "date-time"):
        names |= {"date"}
    for known, find in _BY_NAME:
        if names & known:
            return find(parameter, source)
    reading = source.reading
    return source.take((*reading.quotes, *reading.codes, *reading.places)) if parameter.required else None


def _day(parameter: SchemaField, source: Source) -> str | None:
    """A day, without its time where the parameter takes none."""
    day = source.take(source.reading.dates)
    return day[:10] if day and "HH" not in parameter.description else day


def _zones(source: Source) -> Iterator[str]:
    """The time zones that the step names, or that places in the step are in."""
    for name in (*source.reading.codes, *source.reading.places):
        known = _zones_by_city().get(name.rpartition("/")[2].replace(" ", "_").lower())
        if known is not None and source.take((name,)):
            yield known


@lru_cache
def _zones_by_city() -> Mapping[str, str]:
    return {name.rpartition("/")[2].lower(): name for name in sorted(available_timezones(), reverse=True)}


def _query(parameter: SchemaField, source: Source) -> str | None:
    reading = source.reading
    query = source.take(reading.quotes) or reading.topic
    if query or not parameter.required:
        return query or None
    return source.take(reading.places) or " ".join(reading.capability[1:] or reading.capability) or None


def _content(parameter: SchemaField, source: Source) -> str | None:
    reading = source.reading
    if quote := source.take(reading.quotes):
        return quote
    if reading.refers and source.earlier:
        return source.earlier[:_MAX_TEXT]
    after = reading.text.partition(": ")[2].strip()
    return after or (reading.topic or None if parameter.required else None)


def _title(parameter: SchemaField, source: Source) -> str | None:
    reading = source.reading
    if not parameter.required:
        return source.take(reading.quotes) if len(reading.quotes) > 1 else None
    if quote := source.take(reading.quotes):
        return quote
    asked = source.asked if reading.refers and not reading.topic else ""
    return (asked or reading.topic or reading.text.partition(": ")[0]).strip(" .?!")[:_MAX_TITLE] or None


_BY_NAME: tuple[tuple[frozenset[str], Callable[[SchemaField, Source], str | None]], ...] = (
    (FORMULA, lambda _, source: source.reading.expression or None),
    (_ZONE, lambda _, source: next(_zones(source), None)),
    (_PEOPLE - _CITY, lambda _, source: source.take(source.reading.emails)),
    (_CITY & _PEOPLE, lambda _, source: source.take((*source.reading.emails, *source.reading.places))),
    (_CITY, lambda _, source: source.take(source.reading.places)),
    (_DAY, _day),
    (_TIME, lambda _, source: source.take(source.reading.times)),
    (QUERY, _query),
    (_CONTENT, _content),
    (_TITLE, _title),
    (_CODE, lambda _, source: source.take((*source.reading.codes, *source.reading.quotes))),
)


def _elements(item: SchemaField, parameter: SchemaField, source: Source) -> list[object]:
    reading, names = source.reading, frozenset(written_words(parameter.name))
    if item.type in {"integer", "number"}:
        return [number.value for number in reading.numbers] if parameter.required else []
    if item.type not in {"string", "any"}:
        return []
    if names & _ZONE:
        return list(_zones(source))
    values = reading.quotes or (reading.codes if parameter.required else ())
    if names & (_PEOPLE | _CITY):
        values = reading.emails if names & _PEOPLE else reading.places
    return list(source.fresh(values))


def _earlier_id(parameter: SchemaField, source: Source) -> object:
    """The id of the first earlier row, if a required parameter needs one and the step refers to that."""
    if not parameter.required or not source.rows or not source.reading.refers:
        return None
    names = written_words(parameter.name)
    nouns = [stem(name) for name in names if name not in {"id", "number", "key"}]
    keys = [parameter.name]
    if source.about.issuperset(nouns) and ("string" not in parameter.type or names[-1:] == ("id",)):
        keys += ["id", "number", f"{parameter.name}_id", f"{parameter.name}_number"]
    row = source.rows[0]
    return next((row[key] for key in keys if key in row and _is_id(row[key], parameter.type)), None)


def _is_id(candidate: object, kind: str) -> bool:
    if isinstance(candidate, Part):
        return True
    if isinstance(candidate, int) and not isinstance(candidate, bool):
        return "integer" in kind or "number" in kind or kind == "any"
    return isinstance(candidate, str) and ("string" in kind or kind == "any")
