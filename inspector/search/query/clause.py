"""The clauses of a query, its sentences without courtesies, and its steps, the things that it asks for.

A clause depends on nothing around it. What is judged clause by clause, as whether any tool fits, therefore
cannot be changed by what else is said.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from inspector.search.query.imperative import further_steps
from inspector.search.query.statement import is_statement
from inspector.search.term import STOP_WORDS, split_words

_COURTESY = re.compile(
    r"""\b(?:
      (?:would|do)\s+you\s+mind(?:\s+helping(?:\s+me)?(?:\s+(?:to|with|out))?)?
    | (?:could|can|would|will)\s+you(?:\s+(?:please|kindly|maybe|perhaps|possibly|also))*
        (?:\s+be\s+so\s+kind\s+as\s+to)?(?:\s+help\s+me(?:\s+(?:to|with|out))?)?
    | please | kindly | pls | (?:please\s+)?help\s+(?:me|us)(?:\s+(?:to|with|out))?
    | if\s+(?:it'?s\s+|it\s+is\s+|that'?s\s+)?(?:possible|you\s+(?:can|could|have\s+time|don[’']?t\s+mind))
    | (?:i|we)(?:[’']d|\s+would)\s+(?:also\s+|really\s+)?(?:like|love|appreciate)
        (?:\s+(?:you\s+)?to|\s+it\s+if\s+you\s+could)?
    | (?:i|we)\s+(?:also\s+|really\s+|just\s+)?(?:need|want|wish)(?:\s+you)?(?:\s+to)?
    | i(?:[’']m|\s+am)\s+(?:trying|looking|hoping|wondering)\s+(?:to|for|if\s+you\s+(?:could|can))
    | after\s+that | let\s+me\s+know | tell\s+me | for\s+(?:me|us)
    | thank(?:s|\s+you)(?:\s+(?:a\s+lot|so\s+much|very\s+much|in\s+advance|again|a\s+million))?
    | many\s+thanks(?:\s+in\s+advance)? | cheers | (?:much|greatly)\s+appreciated
    | (?:hi|hey|hello)(?:\s+there)? | good\s+(?:morning|afternoon|evening|day)
    | it(?:[’']s|\s+is)\s+(?:really\s+|very\s+|quite\s+|rather\s+)?urgent
    | as\s+soon\s+as\s+possible | asap | right\s+away | no\s+rush | take\s+your\s+time
    | when(?:ever)?\s+you\s+(?:get|have)\s+(?:a\s+)?(?:chance|time|moment|minute)
    | sorry(?:\s+to\s+bother\s+you)? | (?:best|kind)\s+regards
    | (?:and\s+)?have\s+a\s+(?:nice|good|great)\s+(?:day|weekend|evening|one)
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
_BLANKS = re.compile(r"[^\S\n]+")
_SENTENCE_END = re.compile(r"(?<=[.!?;])[\"”’')]*\s+|\n+")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|vs|mr|mrs|ms|dr|st|no|approx|[a-z])\.$", re.IGNORECASE)
_EDGES = " \t,;:.!?-–—\"'“”‘’()"


@dataclass(frozen=True, slots=True)
class Clause:
    """One sentence without courtesies. A statement asks for nothing."""

    text: str
    is_statement: bool = False


def clauses(text: str) -> tuple[Clause, ...]:
    """The distinct sentences in order; what is only courtesy or stop words is none."""
    return _distinct(_sentences(text))


def steps(text: str) -> tuple[str, ...]:
    """What is asked for, one thing after the other: sentences split where another verb follows."""
    found = _distinct(part for sentence in _sentences(text) for part in _parts(sentence))
    return tuple(clause.text for clause in found if not clause.is_statement)


@lru_cache(maxsize=256)
def asking(text: str) -> str:
    """What is left of a text without its mere statements; "" if it asks for nothing."""
    parts = [part for sentence in _sentences(text) for part in _parts(sentence)]
    asked = [part for part in parts if not is_statement(part)]
    return text if len(asked) == len(parts) else " ".join(asked)


def _distinct(parts: Iterable[str]) -> tuple[Clause, ...]:
    """What the parts say, each thing once."""
    found: dict[str, Clause] = {}
    for part in parts:
        said = without_courtesies(part)
        if _has_content(said):
            found.setdefault(said, Clause(said, is_statement(part)))
    return tuple(found.values())


def without_courtesies(text: str) -> str:
    """What is left of a clause without greetings, thanks, and forms of asking."""
    return " ".join(_COURTESY.sub(" ", text).split()).strip(_EDGES)


def _parts(sentence: str) -> Iterator[str]:
    """A sentence split before each verb that begins another step."""
    start = 0
    for match in further_steps(sentence):
        yield sentence[start : match.start()]
        start = match.end()
    yield sentence[start:]


def _sentences(text: str) -> Iterator[str]:
    # A run of blanks would be tried from each of its places.
    text = _BLANKS.sub(" ", text)
    start = 0
    for match in _SENTENCE_END.finditer(text):
        sentence = text[start : match.start()]
        if not _ABBREVIATION.search(sentence):
            yield sentence
            start = match.end()
    yield text[start:]


def _has_content(text: str) -> bool:
    return any(word.lower() not in STOP_WORDS for word in split_words(text))
