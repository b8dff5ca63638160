"""Chooses the tools that fit a step: what a search found, in its order, else what shares most words."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inspector.features.demo.argument import FORMULA, QUERY, words_of
from inspector.features.demo.reading import READING_VERBS, Reading, stems, word_set
from inspector.schema.json_value import JsonObject
from inspector.schema.schema import SchemaField, fields, resolve
from inspector.search.index.vocabulary import terms
from inspector.tokens.manifest import SEARCH_TOOLS

MAX_TOOLS = 200
MAX_CANDIDATES = 5
# How well a tool must fit which no search found, by the share of a step's words that it has and by its name.
FITS = 0.75
_NAMED = 0.2
# How much the first tool of a search is ahead of one that was not found, and of the next one.
_FOUND, _NEXT = 0.4, 0.1
# What is further behind the best one is another tool, and no stand-in for it.
_MARGIN = 0.4
_DEPTH = 3
_WRITING_VERBS = word_set(
    "add append archive assign book cancel change clear close create delete disable edit enable forward"
    " insert mark merge move pay post publish put refund remove rename replace reply restore send set share"
    " start stop turn unlock update upload write"
)
_ARITHMETIC = word_set("add sum total subtract multiply product divide")
# Stems of what people say and of what tools call it: people name what to do, tools what comes of it.
_CALLED = {"add": "sum", "multipli": "product", "divid": "quotient", "meet": "event"}


@dataclass(frozen=True, slots=True)
class Bound:
    """A tool of the model request, with the stems of its words, and the words that name its parameters."""

    wire: str
    schema: JsonObject
    name: frozenset[str]
    words: frozenset[str]
    takes: frozenset[str]


def bound_tools(tools: Iterable[Any]) -> tuple[Bound, ...]:
    """The tools that can be called; entries that are not function definitions are skipped."""
    functions = (entry.get("function") for entry in list(tools)[:MAX_TOOLS] if isinstance(entry, Mapping))
    return tuple(
        _bound(function["name"], function)
        for function in functions
        if isinstance(function, Mapping)
        and isinstance(function.get("name"), str)
        and function["name"] not in ("", SEARCH_TOOLS)
    )


def _bound(wire: str, function: Mapping[str, Any]) -> Bound:
    raw = function.get("parameters")
    schema = raw if isinstance(raw, Mapping) else {}
    name = wire.partition("__")[2] or wire
    parameters = _parameters(schema)
    said = " ".join(f"{p.name} {p.description} {' '.join(map(str, p.choices[:50]))}" for p in parameters)
    about = str(function.get("description") or "")
    return Bound(
        wire,
        schema,
        frozenset(terms(name)),
        frozenset(terms(f"{name} {about[:4_000]} {said[:8_000]}")),
        frozenset(word for parameter in parameters for word in words_of(parameter.name)),
    )


def _parameters(schema: JsonObject, depth: int = _DEPTH) -> list[SchemaField]:
    """The parameters, including those inside objects and arrays of objects."""
    shared = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
    parameters: list[SchemaField] = []
    for parameter in fields(schema)[:60]:
        parameters.append(parameter)
        items = parameter.schema.get("items")
        inner = resolve(items, schema) if isinstance(items, Mapping) else parameter.schema
        if depth and isinstance(inner.get("properties"), Mapping):
            parameters += _parameters({**shared, **inner}, depth - 1)
    return parameters[:200]


def fitting(tools: Sequence[Bound], reading: Reading, found: Mapping[str, bool]) -> list[Bound]:
    """The tools worth calling, best first.

    `found` are the ids that searches returned, in their order, and whether they were sure of them.
    """
    sure = {name.replace(":", "__", 1): is_sure for name, is_sure in found.items()}
    place = {wire: number for number, wire in enumerate(sure)}
    scored = []
    for tool in tools:
        share = shared(tool, reading)
        fit = share + _NAMED * _named(tool, reading) + _kind(tool, reading)
        if (share and fit >= FITS) or sure.get(tool.wire) or (share and tool.wire in place):
            scored.append((fit + max(0.0, _FOUND - _NEXT * place.get(tool.wire, MAX_TOOLS)), tool))
    scored.sort(key=lambda pair: -pair[0])
    return [tool for score, tool in scored[:MAX_CANDIDATES] if score >= scored[0][0] - _MARGIN]


def shared(tool: Bound, reading: Reading) -> float:
    """The share of the step's words that the tool has; one that computes has all of an expression."""
    if reading.expression and tool.takes & FORMULA:
        return 1.5
    asked = [term for term in reading.terms if term not in stems(READING_VERBS)] or list(reading.terms)
    return sum(_weight(tool, term) for term in asked) / max(1, len(asked))


def _weight(tool: Bound, term: str) -> float:
    # A word of its name says more than one of its description.
    said = {term, _CALLED.get(term, term)}
    return 1.0 if said & tool.name else 0.85 if said & tool.words else 0.0


def _named(tool: Bound, reading: Reading) -> float:
    """The share of the tool's name that the step says, or that every question says."""
    return len(tool.name & ({*reading.terms} | stems(READING_VERBS))) / max(1, len(tool.name))


def _kind(tool: Bound, reading: Reading) -> float:
    """A bonus or penalty: topics fit tools that search, questions those that read, orders those that act."""
    if reading.topic and tool.takes & QUERY:
        return 0.4
    # With numbers alone, "add" neither asks nor changes anything.
    if len(reading.numbers) > 1 and stems(_ARITHMETIC).issuperset(reading.terms):
        return 0.1
    asks = reading.is_question or not stems(READING_VERBS).isdisjoint(reading.terms[:1])
    if stems(READING_VERBS).isdisjoint(tool.name) != asks:
        return 0.1
    writes = tool.name if asks else reading.terms[:1]
    return -0.1 if stems(_WRITING_VERBS).isdisjoint(writes) else -0.8
