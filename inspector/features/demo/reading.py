"""Splits a request into steps, one action each, and reads a step: its values, and what it says to do."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from inspector.search.index.query import STEP_VERBS
from inspector.search.index.vocabulary import stem, terms

MAX_STEPS = 5
MAX_CHARACTERS = 4_000


def word_set(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


@lru_cache
def stems(words: frozenset[str]) -> frozenset[str]:
    """The stems of some words, computed on first use because importing the stemmer is slow."""
    return frozenset(map(stem, words))


_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|‘[^’]*’|(?<!\w)'[^']*(?:'\w[^']*)*'(?!\w)|`[^`]*`")
_SENTENCE = re.compile(r"(?<=[.!?])[\"'”’)]?\s+|\s*;\s*|\n+")
# A noun can look like a verb ("orders and mail"), so a verb counts only before its object.
_JOINT = re.compile(
    r"(?i:,?\s+(?:and(?:\s+(?:then|also|please))?|then|afterwards|after that)|,)\s+"
    r"(?=([A-Za-z]+)\s+(?:(?i:the|a|an|it|them|that|this|these|those|my|me|us|our|all|each|every|any|on|off|up"
    r"|down|to|for|in|out|how|what|which|whether)\b|[\dA-Z\x00\"'“‘]))"
)
_LEADING = re.compile(r"^(?:and|also|please|then|,)\s+", re.IGNORECASE)
_VERBS = STEP_VERBS | word_set("count dim disable draft enable forward label lock notify pin play unlock")


def split(text: str) -> tuple[str, ...]:
    """The steps in order, at most MAX_STEPS; quoted text is never split."""
    quotes: list[str] = []

    def hide(match: re.Match[str]) -> str:
        quotes.append(match.group())
        # A sentence may end inside its last quote.
        follows = re.match(r"\s+[A-Z]", match.string[match.end() :])
        end = "\n" if follows and match.group()[-2:-1] in {".", "!", "?"} else ""
        return f"\0{len(quotes) - 1}\0{end}"

    hidden = _QUOTED.sub(hide, text.replace("\0", " ")[:MAX_CHARACTERS])
    pieces = [piece for sentence in _SENTENCE.split(hidden) for piece in _pieces(sentence)]
    steps = [_tidy(piece, quotes) for piece in pieces]
    return tuple(step for step in steps if any(char.isalnum() for char in step))[:MAX_STEPS]


def _pieces(sentence: str) -> Iterator[str]:
    start = 0
    for joint in _JOINT.finditer(sentence):
        if joint[1].lower() in _VERBS:
            yield sentence[start : joint.start()]
            start = joint.end()
    yield sentence[start:]


def _tidy(piece: str, quotes: list[str]) -> str:
    bare = _LEADING.sub("", piece.strip()).strip(" ,")
    return re.sub(r"\x00(\d+)\x00", lambda match: quotes[int(match.group(1))], bare).replace("\0", " ")


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
_ORDINALS = {"first": 0, "top": 0, "second": 1, "third": 2, "last": -1}
_EMAIL = re.compile(r"[^\s@<>()\"',;:]+@[^\s@<>()\"',;:]*[^\s@<>()\"',;:.!?]")
_DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?)?\b")
_DAY_AND_TIME = re.compile(r"\b(\d{4}-\d{2}-\d{2})(?:,?\s+at|,)?\s+(\d{1,2}):(\d{2})\b")
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


@dataclass(frozen=True, slots=True)
class Number:
    """A number, with the stems of the words before and after it."""

    value: int | float
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Reading:
    """A step's values and words. `capability` are the words to search a tool by, `terms` their stems.

    `row` is the position of the earlier row that it counts ("the second"); -1 is the last one.
    """

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
    row: int | None

    @property
    def values(self) -> tuple[str, ...]:
        """The values that the step states: quotes, addresses, days, times, numbers and places."""
        numbers = (str(number.value) for number in self.numbers)
        return (*self.quotes, *self.emails, *self.dates, *self.times, *numbers, *self.places)


def read(text: str) -> Reading:
    """Parse a step."""
    plain = _DAY_AND_TIME.sub(lambda found: f"{found[1]}T{found[2]:0>2}:{found[3]}", _QUOTED.sub(" ", text))
    dateless = _DATE.sub(" ", _EMAIL.sub(" ", plain))
    bare = _TIME.sub(" ", dateless)
    match = _TOPIC.search(bare)
    places = [place for found in _PLACES.findall(bare) for place in re.split(_AND_ANOTHER, found)]
    lower = [word.lower() for word in re.findall(r"\w+", bare)]
    capability = tuple(_capability(bare[: match.start()] if match else bare, places))[:12]
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
        is_question=bool(_QUESTION.match(text.strip())),
        refers=bool(_REFERENCES.intersection(lower)),
        row=next((row for word, row in _ORDINALS.items() if word in lower), None),
    )


def _capability(text: str, places: list[str]) -> Iterator[str]:
    """The words that are neither values nor common ones."""
    for place in places:
        # “to PDF” is no place.
        text = text if place.isupper() else text.replace(place, " ")
    is_first = True
    for word in re.findall(r"[^\W\d_]+", re.sub(r"\b\w+['’]\w+\b", " ", text)):
        lower = word.lower()
        is_common = terms(f"{lower} zz") == (stem("zz"),) or stem(lower) in stems(_FILLERS) or len(word) < 2
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
