"""Parses a step: the values in it, and the words that say what to do."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from inspector.demo.planner.arithmetic import expression
from inspector.demo.planner.step import quoted, without_quotes
from inspector.search.vocabulary import stem, terms


def word_set(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


@lru_cache
def stems(words: frozenset[str]) -> frozenset[str]:
    """The stems of some words, computed on first use because importing the stemmer is slow."""
    return frozenset(map(stem, words))


def reading_verbs() -> frozenset[str]:
    """Stems of the verbs that ask to see something."""
    return stems(_READING_VERBS)


_READING_VERBS = word_set("get list find search show read fetch look query check view")
_FILLERS = word_set("tell give need want like all any first second third last one please using use also")
_REFERENCES = word_set("it them that this those these list result results one ones")
_PLURALS = word_set("them those these all each every ones")
_ORDINALS = {"first": 0, "top": 0, "second": 1, "third": 2, "last": -1}
_EMAIL = re.compile(r"[^\s@<>()\"',;:]+@[^\s@<>()\"',;:]*[^\s@<>()\"',;:.!?]")
_DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?)?\b")
_DAY_AND_TIME = re.compile(r"\b(\d{4}-\d{2}-\d{2})(?:,?\s+at|,)?\s+(\d{1,2}):(\d{2})\b")
_TIME = re.compile(r"(?<![\w:-])(?:[01]?\d|2[0-3]):[0-5]\d(?![\w:])")
_NUMBER = re.compile(r"(?<![\w.-])-?\d+(?:\.\d+)?(?![\w-]*[A-Za-z]\d)")
_TOPIC = re.compile(
    r"\b(?:about|containing|mentioning|matching|regarding|concerning|called|named)\s+(.+)", re.I
)
_CAPITALISED = r"[A-Z][\w'’-]*(?:\s+[A-Z][\w'’-]*)*"
_AND_ANOTHER = r"(?:\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or)\s+)"
_PLACES = re.compile(
    rf"\b(?:in|for|at|near|from|to|of|around)\s+({_CAPITALISED}(?:{_AND_ANOTHER}{_CAPITALISED})*)"
)
_CODE = re.compile(r"\b(?=[\w.-]*\d)(?=[\w.-]*[A-Za-z])[\w.-]*\w|\S+/\S+|\b[\w-]+\.[a-z]{2,5}\b")
_QUESTION = re.compile(
    r"^(?:what|which|who|whom|where|when|how|is|are|was|were|do|does|did|has|have|any)\b", re.I
)
_UNITS = {"%": "percent", "°": "degree", "°c": "degree", "€": "euro", "$": "dollar", "km": "kilometer"}


@dataclass(frozen=True, slots=True)
class Number:
    """A number, with the stems of the words before and after it."""

    value: int | float
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Reading:
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
    is_question: bool
    refers: bool
    is_plural: bool
    row: int | None

    @property
    def values(self) -> tuple[str, ...]:
        """The values that the step states: quotes, addresses, days, times, numbers and places."""
        numbers = (str(number.value) for number in self.numbers)
        return (*self.quotes, *self.emails, *self.dates, *self.times, *numbers, *self.places)


def read(text: str) -> Reading:
    """Parse a step."""
    plain = _DAY_AND_TIME.sub(lambda found: f"{found[1]}T{found[2]:0>2}:{found[3]}", without_quotes(text))
    dateless = _DATE.sub(" ", _EMAIL.sub(" ", plain))
    bare = _TIME.sub(" ", dateless)
    match = _TOPIC.search(bare)
    topic = match.group(1).strip(" .?!:,") if match else ""
    places = [place for found in _PLACES.findall(bare) for place in re.split(_AND_ANOTHER, found)]
    lower = [word.lower() for word in re.findall(r"\w+", bare)]
    capability = _capability(bare[: match.start()] if match else bare, places)
    return Reading(
        text=text.strip(),
        quotes=quoted(text),
        emails=tuple(dict.fromkeys(_EMAIL.findall(plain))),
        dates=tuple(dict.fromkeys(_DATE.findall(plain))),
        times=tuple(f"{found:0>5}" for found in _TIME.findall(dateless)),
        numbers=_numbers(bare),
        places=tuple(dict.fromkeys(places)),
        codes=tuple(code.rstrip(".?!,") for code in _CODE.findall(bare)),
        topic=topic,
        expression=expression(bare),
        capability=capability,
        terms=tuple(dict.fromkeys(stem(word.lower()) for word in capability)),
        words=frozenset(map(stem, lower)),
        is_question=bool(_QUESTION.match(text.strip())),
        refers=bool(_REFERENCES.intersection(lower)),
        is_plural=bool(_PLURALS.intersection(lower)),
        row=next((row for word, row in _ORDINALS.items() if word in lower), None),
    )


def _capability(text: str, places: Sequence[str]) -> tuple[str, ...]:
    for place in places:
        text = text.replace(place, " ")
    words = re.findall(r"[^\W\d_]+", re.sub(r"\b\w+['’]\w+\b", " ", text))
    kept: list[str] = []
    for word in words:
        lower = word.lower()
        if terms(f"{lower} zz") == (stem("zz"),) or stem(lower) in stems(_FILLERS) or len(word) < 2:
            continue
        if lower in _REFERENCES and kept:
            continue
        kept.append(word)
    return tuple(kept[:12])


def _numbers(text: str) -> tuple[Number, ...]:
    found = []
    for match in _NUMBER.finditer(text):
        digits = match.group()
        before = re.findall(r"\w+", text[: match.start()])[-1:]
        after = re.match(r"\s*([%°€$][cCfF]?|\w+)", text[match.end() :])
        unit = after.group(1).lower() if after else ""
        value = float(digits) if "." in digits else int(digits[:18])
        found.append(Number(value, stem(before[0].lower()) if before else "", stem(_UNITS.get(unit, unit))))
    return tuple(found[:20])
