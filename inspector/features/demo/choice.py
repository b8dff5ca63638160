"""Chooses the tool that fits a step, by the words they share."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from inspector.features.demo.argument import CONTENT, FORMULA, PEOPLE, QUERY, words_of
from inspector.features.demo.reading import Reading, reading_verbs, stems, word_set
from inspector.schema.json_value import JsonObject
from inspector.schema.schema import SchemaField, fields, resolve
from inspector.search.index.query import is_statement
from inspector.search.index.vocabulary import stem, terms
from inspector.tokens.manifest import SEARCH_TOOLS

FITS = 0.45
FITS_WELL = 0.75
MAX_TOOLS = 200
_NAME, _DESCRIPTION, _PARAMETER = 1.0, 0.85, 0.75
_FOUND = 0.1
_DEPTH = 3
_LONGEST = 300
# Different English words that people and tools use for the same thing; none is specific to a server.
_SYNONYMS: Mapping[str, str] = {
    "mail": "email message send",
    "email": "mail message send",
    "tell": "message send notify",
    "write": "create add",
    "make": "create add",
    "new": "create add",
    "remove": "delete",
    "delete": "remove",
    "cancel": "delete",
    "dim": "brightness light",
    "turn": "switch set",
    "switch": "turn set",
    "change": "update set",
    "add": "sum plus",
    "sum": "add plus",
    "subtract": "difference minus",
    "multiply": "product times",
    "divide": "quotient",
    "calculate": "evaluate compute arithmetic",
    "compute": "evaluate calculate arithmetic",
    "schedule": "create event calendar",
    "meeting": "event calendar",
    "money": "refund payment",
    "warm": "temperature",
    "heating": "thermostat temperature",
    "degrees": "temperature celsius",
}
_SYNONYM_WEIGHT = 0.8
_WRITING_VERBS = word_set(
    "add append archive assign book cancel change clear close create delete disable edit enable forward"
    " insert mark merge move pay post publish put refund remove rename replace reply restore send set share"
    " start stop turn unlock update upload write"
)

_ARITHMETIC = word_set("add sum total subtract multiply product divide")


@dataclass(frozen=True, slots=True)
class Bound:
    """A tool of the model request, with what is needed to choose it."""

    wire: str
    schema: JsonObject
    name: frozenset[str]
    description: frozenset[str]
    parameters: frozenset[str]
    names: frozenset[str] = field(default_factory=frozenset)
    server: str = ""


def bound_tools(tools: Iterable[Any]) -> tuple[Bound, ...]:
    """The tools that can be called; entries that are not function definitions are skipped."""
    bound = []
    for entry in list(tools)[:MAX_TOOLS]:
        function = entry.get("function") if isinstance(entry, Mapping) else None
        if not isinstance(function, Mapping):
            continue
        wire = function.get("name")
        if isinstance(wire, str) and wire and wire != SEARCH_TOOLS:
            bound.append(_bound(wire, function))
    return tuple(bound)


def _bound(wire: str, function: Mapping[str, Any]) -> Bound:
    raw = function.get("parameters")
    schema = raw if isinstance(raw, Mapping) else {}
    server, _, name = wire.partition("__") if "__" in wire else ("", "", wire)
    parameters = _parameters(schema)
    said = [f"{p.name} {p.description} {' '.join(map(str, p.choices[:50]))}" for p in parameters]
    return Bound(
        wire=wire,
        schema=schema,
        name=frozenset(terms(name)),
        description=frozenset(terms(str(function.get("description") or "")[:4_000])),
        parameters=frozenset(terms(" ".join(said)[:8_000])),
        names=frozenset(word for p in parameters for word in words_of(p.name)),
        server=server,
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


def ranked(
    tools: Sequence[Bound], reading: Reading, found: Sequence[str] = ()
) -> tuple[tuple[Bound, float], ...]:
    """Tools that share a word with the step, best first. `found` are the ids that a search returned."""
    named = {*found, *(name.replace(":", "__", 1) for name in found)}
    scored = [(tool, score(tool, reading)) for tool in tools]
    fresh = [(tool, value + (_FOUND if tool.wire in named else 0.0)) for tool, value in scored if value > 0]
    return tuple(sorted(fresh, key=lambda pair: -pair[1]))


def nearest(tools: Sequence[Bound], reading: Reading) -> Bound | None:
    """The tool that shares most of the step's words, whether or not it fits; None if no word is shared."""
    shared = [(sum(_weight(tool, term) for term in reading.terms), tool) for tool in tools]
    most, tool = max(shared, key=lambda pair: pair[0], default=(0.0, None))
    return tool if most else None


def score(tool: Bound, reading: Reading) -> float:
    """The share of the step's words that the tool has, adjusted by its name and parameters."""
    if reading.expression and tool.names & FORMULA:
        return 1.5
    asked = [term for term in reading.terms if term not in reading_verbs()] or list(reading.terms)
    if not asked:
        return 0.0
    weights = [_weight(tool, term) for term in asked]
    share = sum(weights) / len(asked)
    if not share:
        return 0.0
    known = {*reading.terms, *map(stem, _synonyms(reading))}
    precision = sum(word in known or word in reading_verbs() for word in tool.name) / max(1, len(tool.name))
    return share + 0.2 * precision + _kind(tool, reading) + _values(tool, reading)


def _weight(tool: Bound, term: str) -> float:
    synonyms = [_SYNONYM_WEIGHT * _direct(tool, stem(other)) for other in _other_names(term)]
    return max([_direct(tool, term), *synonyms])


def _direct(tool: Bound, term: str) -> float:
    if term in tool.name:
        return _NAME
    if term in tool.description:
        return _DESCRIPTION
    return _PARAMETER if term in tool.parameters else 0.0


def _kind(tool: Bound, reading: Reading) -> float:
    """A bonus or penalty: questions fit tools that read, orders fit tools that act."""
    if _computes(reading):
        return 0.1
    reads = bool(tool.name & reading_verbs())
    asks = reading.is_question or bool(reading.terms and reading.terms[0] in reading_verbs())
    if asks and not reads and tool.name & stems(_WRITING_VERBS):
        return -0.5
    if reads == asks:
        return 0.1
    if asks:
        return -0.1
    verb = {*reading.terms[:1], *map(stem, _other_names(reading.terms[0]))} if reading.terms else set()
    return -0.6 if verb & stems(_WRITING_VERBS) else -0.3


def _computes(reading: Reading) -> bool:
    """Whether a step only computes with numbers: there "add" neither asks nor changes anything."""
    return len(reading.numbers) > 1 and bool(reading.terms) and stems(_ARITHMETIC).issuperset(reading.terms)


def _values(tool: Bound, reading: Reading) -> float:
    """A bonus for a tool that accepts the step's values."""
    wanted = (
        (bool(reading.topic), QUERY, 0.4),
        (bool(reading.emails), PEOPLE, 0.2),
        (bool(reading.quotes), CONTENT | QUERY, 0.1),
    )
    return sum(bonus for given, names, bonus in wanted if given and tool.names & names)


def first_words(reading: Reading) -> str:
    """The first query: the step's own words; a single word is joined by its synonyms.

    What is merely told stays a sentence: of its words alone a search could not see that nothing is asked.
    """
    if is_statement(reading.text):
        return reading.text[:_LONGEST]
    words = [*reading.capability]
    if len(words) == 1:
        words += _synonyms(reading)
    if reading.topic:
        words.append("search")
    return " ".join(dict.fromkeys(words)) or reading.text[:80]


def other_words(reading: Reading) -> str:
    """A second query for a search that found nothing useful: synonyms, and the step's own values."""
    # The first word is mostly the verb, but no abbreviation (PDF) is one.
    kept = [word for at, word in enumerate(reading.capability) if at or word.isupper()]
    words = [*kept, *_synonyms(reading), *reading.topic.split()]
    return " ".join(dict.fromkeys(words)) or reading.text[:80]


def _synonyms(reading: Reading) -> list[str]:
    return [other for term in reading.terms for other in _other_names(term)]


def _other_names(term: str) -> tuple[str, ...]:
    return _synonyms_by_stem().get(term, ())


@lru_cache
def _synonyms_by_stem() -> Mapping[str, tuple[str, ...]]:
    return {stem(word): tuple(others.split()) for word, others in _SYNONYMS.items()}
