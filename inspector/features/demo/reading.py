"""Splits a request into steps, reads a step: its values and what it says to do, and finds tools that fit."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.ports import SystemClock
from inspector.core.ranking import Answer, SearchRequest
from inspector.core.settings import DiscoverySettings
from inspector.core.tool import Tool
from inspector.features.demo.declared import declared
from inspector.schema.json_value import JsonObject, compact
from inspector.schema.schema import SchemaField, elements, fields
from inspector.search.answer.search import SearchRules, ToolSearch
from inspector.search.index.packaged_model import WordLlamaEmbedder
from inspector.search.index.query import STEP_VERBS
from inspector.search.index.tool_index import ToolIndex
from inspector.search.index.vocabulary import STOP_WORDS, stem, terms, written_words
from inspector.search.ranker.catalog_rankers import CatalogRankers
from inspector.tokens.manifest import RUN_SCRIPT, SEARCH_TOOLS

MAX_STEPS = 5
MAX_CHARACTERS = 4_000


def word_set(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


@lru_cache
def stems(words: frozenset[str]) -> frozenset[str]:
    """The stems of some words, computed on first use because importing the stemmer is slow."""
    return frozenset(map(stem, words))


_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|(?<!\w)'[^']*(?:'\w[^']*)*'(?!\w)")
_SENTENCE = re.compile(r"(?<=[.!?])[\"'”’)]?\s+|\s*;\s*|\n+")
_VERBS = STEP_VERBS | word_set("count dim disable draft enable forward label lock notify pin play unlock")
# A noun can look like a verb ("orders and mail"), so a verb counts only before its object.
_JOINT = re.compile(
    r"(?i:,?\s+(?:and(?:\s+(?:then|also|please))?|then|afterwards|after that)|,)\s+"
    rf"(?=(?i:{'|'.join(sorted(_VERBS))})\s+"
    r"(?:(?i:the|a|an|it|them|that|this|these|those|my|me|us|our|all|each|every|any|on|off|up"
    r"|down|to|for|in|out|how|what|which|whether)\b|[\dA-Z\x00\"'“‘/~]|\S+[./]\w))"
)
_LEADING = re.compile(r"^(?:and|also|please|then|,)\s+", re.IGNORECASE)


def split(text: str) -> tuple[str, ...]:
    """The steps in order, at most MAX_STEPS; quoted text is never split."""
    quotes: list[str] = []

    def hide(match: re.Match[str]) -> str:
        quotes.append(match.group())
        return f"\0{len(quotes) - 1}\0"

    hidden = _QUOTED.sub(hide, text.replace("\0", " ")[:MAX_CHARACTERS])
    pieces = [piece for sentence in _SENTENCE.split(hidden) for piece in _JOINT.split(sentence)]
    bare = [_LEADING.sub("", piece.strip()).strip(" ,") for piece in pieces]
    steps = [re.sub(r"\0(\d+)\0", lambda match: quotes[int(match[1])], step) for step in bare]
    return tuple(step for step in steps if any(char.isalnum() for char in step))[:MAX_STEPS]


# Arithmetic written in words.
_OPERATORS = (
    (r"\bdivided\s+by\b|\bover\b|÷", "/"),
    (r"\bmultiplied\s+by\b|\btimes\b|×", "*"),
    (r"\bplus\b", "+"),
    (r"\bminus\b|−", "-"),
    (r"\bsquared\b", "** 2"),
    (r"(\d)\s*(?:%|percent)\s+of\b", r"\1 / 100 *"),
    (r"(?<=\d)\s*x\s*(?=\d)", " * "),
)
_EXPRESSION = re.compile(r"[-(]*\d[\d.]*(?:[\s()]*(?:\*\*|[-+*/^%])[\s()-]*\d[\d.]*)+\)*")
# A day and a range look like subtractions.
_DAY = re.compile(r"\d{4}-\d{2}(?:-\d{2})?(?:T[\d:]+)?")


def expression(text: str) -> str:
    """The arithmetic in a text as an expression, or an empty string: `6 times 7` is `6 * 7`."""
    written = _DAY.sub(" ", text)
    for pattern, symbol in _OPERATORS:
        written = re.sub(pattern, symbol, written, flags=re.IGNORECASE)
    longest = max(_EXPRESSION.findall(written), key=len, default="")
    return " ".join(longest.split()).rstrip(".")


READING_VERBS = word_set("get list find search show read fetch look query check view")
_FILLERS = word_set("tell give need want like all any first second third last one please using use also")
_REFERENCES = word_set("it them that this those these list result results one ones")
_EMAIL = re.compile(r"[^\s@<>()\"',;:]+@[^\s@<>()\"',;:]*[^\s@<>()\"',;:.!?]")
_DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?)?\b")
_TIME = re.compile(r"(?<![\w:-])(?:[01]?\d|2[0-3]):[0-5]\d(?![\w:])")
_NUMBER = re.compile(r"(?<![\w.-])-?\d+(?:\.\d+)?(?![\w-]*[A-Za-z]\d)")
_TOPIC = re.compile(
    r"\b(?:about|containing|mentioning|matching|regarding|concerning|called|named)\s+(.+)", re.IGNORECASE
)
_CAPITALISED = r"[A-Z][\w'’-]*(?:\s+[A-Z][\w'’-]*)*"
_AND_ANOTHER = r"(?:\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or)\s+)"
_PLACES = re.compile(
    rf"\b(?:in|for|at|near|from|to|of|around)\s+({_CAPITALISED}(?:{_AND_ANOTHER}{_CAPITALISED})*)"
)
_CODE = re.compile(r"\b(?=[\w.-]*\d)(?=[\w.-]*[A-Za-z])[\w.-]*\w|\S+/\S+|\b[\w-]+\.[a-z]{2,5}\b")
_QUESTION = re.compile(
    r"^(?:what|which|who|whom|where|when|how|is|are|was|were|do|does|did|has|have|any)\b", re.IGNORECASE
)
_UNITS = {"%": "percent", "°": "degree", "°c": "degree", "€": "euro", "$": "dollar", "km": "kilometer"}


class Number(Struct, frozen=True):
    """A number, with the stems of the words before and after it."""

    value: int | float
    before: str
    after: str


class Reading(Struct, frozen=True):
    """A step's values and words. `capability` are the words to search a tool by, `terms` their stems."""

    text: str
    quotes: tuple[str, ...]
    emails: tuple[str, ...]
    dates: tuple[str, ...]
    times: tuple[str, ...]
    numbers: tuple[Number, ...]
    places: tuple[str, ...]
    codes: tuple[str, ...]
    topic: str
    expression: str
    capability: tuple[str, ...]
    terms: tuple[str, ...]
    words: frozenset[str]
    refers: bool

    @property
    def values(self) -> tuple[str, ...]:
        """The values that the step states: quotes, addresses, days, times, numbers and places."""
        numbers = (str(number.value) for number in self.numbers)
        return (*self.quotes, *self.emails, *self.dates, *self.times, *numbers, *self.places)


def read(text: str) -> Reading:
    """Parse a step."""
    plain = _QUOTED.sub(" ", text)
    dateless = _DATE.sub(" ", _EMAIL.sub(" ", plain))
    bare = _TIME.sub(" ", dateless)
    match = _TOPIC.search(bare)
    places = [place for found in _PLACES.findall(bare) for place in re.split(_AND_ANOTHER, found)]
    lower = [word.lower() for word in re.findall(r"\w+", bare)]
    said = _CODE.sub(" ", bare[: match.start()] if match else bare)
    capability = tuple(_capability(said, places))[:12]
    return Reading(
        text=text.strip(),
        quotes=tuple(filter(None, (quote[1:-1].strip() for quote in _QUOTED.findall(text)))),
        emails=tuple(dict.fromkeys(_EMAIL.findall(plain))),
        dates=tuple(dict.fromkeys(_DATE.findall(plain))),
        times=tuple(f"{found:0>5}" for found in _TIME.findall(dateless)),
        numbers=tuple(_numbers(bare))[:20],
        places=tuple(dict.fromkeys(places)),
        codes=tuple(code.rstrip(".?!,") for code in _CODE.findall(bare)),
        topic=match.group(1).strip(" .?!:,") if match else "",
        expression=expression(bare),
        capability=capability,
        terms=tuple(dict.fromkeys(stem(word.lower()) for word in capability)),
        words=frozenset(map(stem, lower)),
        refers=bool(_REFERENCES.intersection(lower)),
    )


def _capability(text: str, places: list[str]) -> Iterator[str]:
    """The words that are neither values nor common ones."""
    for place in places:
        text = text.replace(place, " ")
    is_first = True
    for word in re.findall(r"[^\W\d_]+", re.sub(r"\b\w+['’]\w+\b", " ", text)):
        lower = word.lower()
        is_common = lower in STOP_WORDS or stem(lower) in stems(_FILLERS) or len(word) < 2
        # “List the files” begins with a verb that elsewhere refers to a result.
        if not is_common and (is_first or lower not in _REFERENCES):
            is_first = False
            yield word


def _numbers(text: str) -> Iterator[Number]:
    for match in _NUMBER.finditer(text):
        digits = match.group()
        before = re.findall(r"\w+", text[: match.start()])[-1:]
        after = re.match(r"\s*([%°€$][cCfF]?|\w+)", text[match.end() :])
        unit = after.group(1).lower() if after else ""
        value = float(digits) if "." in digits else int(digits[:18])
        yield Number(value, stem(before[0].lower()) if before else "", stem(_UNITS.get(unit, unit)))


# Which tools fit a step: what a search found, in its order, else what shares most words.

QUERY = word_set("query q search term terms keyword keywords question pattern")
FORMULA = word_set("expression formula equation")
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


class Bound(Struct, frozen=True):
    """A tool of the model request, with the stems of its words, and the words that name its parameters.

    `returns` is the schema of its result, where that is declared.
    """

    wire: str
    schema: JsonObject
    name: frozenset[str]
    words: frozenset[str]
    takes: frozenset[str]
    about: str = ""
    returns: JsonObject = {}


def bound_tools(tools: Iterable[Any]) -> tuple[Bound, ...]:
    """The tools that can be called; entries that are not function definitions are skipped."""
    functions = (entry.get("function") for entry in tools if isinstance(entry, Mapping))
    return tuple(
        _bound(function["name"], function)
        for function in functions
        if isinstance(function, Mapping)
        and isinstance(function.get("name"), str)
        and function["name"] not in ("", SEARCH_TOOLS, RUN_SCRIPT)
    )


def declared_tools(text: str) -> tuple[Bound, ...]:
    """The tools that a text declares."""
    return tuple(
        replace(
            _bound(one.name, {"description": one.description, "parameters": one.takes}), returns=one.returns
        )
        for one in declared(text)
    )


def _bound(wire: str, function: Mapping[str, Any]) -> Bound:
    raw = function.get("parameters")
    schema = raw if isinstance(raw, Mapping) else {}
    name = wire.partition("__")[2] or wire
    parameters = list(_parameters(schema, schema))
    said = " ".join(f"{p.name} {p.description} {' '.join(map(str, p.choices))}" for p in parameters)
    about = str(function.get("description") or "")
    return Bound(
        wire,
        schema,
        frozenset(terms(name)),
        frozenset(terms(f"{name} {about} {said}")),
        frozenset(word for parameter in parameters for word in written_words(parameter.name)),
        about,
    )


def _parameters(schema: JsonObject, root: JsonObject, depth: int = _DEPTH) -> Iterator[SchemaField]:
    """The parameters, including those inside objects and arrays of objects."""
    for parameter in fields(schema, root):
        yield parameter
        if depth:
            inner = elements(parameter, root) if "items" in parameter.schema else parameter
            yield from _parameters(inner.schema, root, depth - 1)


def found_among(tools: Iterable[Bound], query: str) -> dict[str, bool]:
    """The tools that a search by words finds, by name, best first, and whether it is sure of them.

    Without `search_tools` nothing else orders bound tools by what people say.
    """
    search = _search_of(compact([(tool.wire, tool.about, tool.schema) for tool in tools]))
    report = search.run(SearchRequest(query), load=False).report
    return dict.fromkeys((hit.tool_id.lstrip(":") for hit in report.results), report.answer is Answer.FOUND)


@lru_cache(maxsize=2)
def _search_of(tools: str) -> ToolSearch:
    settings = DiscoverySettings()
    named = [(*wire.rpartition("__"), about, schema) for wire, about, schema in json.loads(tools)]
    known = [Tool(server, name, about, schema) for server, _, name, about, schema in named]
    rankers = CatalogRankers(ToolIndex(known, static=WordLlamaEmbedder.packaged()), settings)
    rules = SearchRules.of(settings)
    return ToolSearch(rankers.index, rankers.names, rankers.get(settings.ranker), rules, SystemClock())


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
            scored.append((fit + max(0.0, _FOUND - _NEXT * place.get(tool.wire, len(_WRITING_VERBS))), tool))
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
    """The share of the tool's name that the step says, or that every question says; its verb counts more."""
    says_verb = not tool.name.isdisjoint(reading.terms[:1])
    return len(tool.name & ({*reading.terms} | stems(READING_VERBS))) / max(1, len(tool.name)) + says_verb


def _kind(tool: Bound, reading: Reading) -> float:
    """A bonus or penalty: topics fit tools that search, questions those that read, orders those that act.

    What a step names by path, address or number is for no tool that takes nothing.
    """
    if reading.codes and not tool.takes:
        return -0.8
    if reading.topic and tool.takes & QUERY:
        return 0.4
    # With numbers alone, "add" neither asks nor changes anything.
    if len(reading.numbers) > 1 and stems(_ARITHMETIC).issuperset(reading.terms):
        return 0.1
    asks = _QUESTION.match(reading.text) is not None or not stems(READING_VERBS).isdisjoint(reading.terms[:1])
    if stems(READING_VERBS).isdisjoint(tool.name) != asks:
        return 0.1
    writes = tool.name if asks else reading.terms[:1]
    return -0.1 if stems(_WRITING_VERBS).isdisjoint(writes) else -0.8
