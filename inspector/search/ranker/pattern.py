"""Case-insensitive search by regular expression over id, name, description and parameter names.

    score = 3 [in the name] + 2 [in the id, starting in its server] + 1 [in the description]
          + 0.5 [in a parameter's name]

Python's `re` backtracks and cannot be interrupted, so each text is searched only as far as the worst case
stays small (see `safe_length`). Any other query is searched for as literal text.
"""

import re
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from inspector.core.ranking import Part, Score, Signal
from inspector.core.tool import Tool
from inspector.schema.schema import fields
from inspector.search.ranker.ranker import Ranking

# An upper bound on the cost of a backtracking search for a regular expression.

MAX_STEPS = 20_000_000
MIN_LENGTH = 60

# What a pattern is made of, as far as it matters: a part that may match `many` characters or one, one that
# `doubled` the ways to match, and what is `refused` since it may multiply them without end: a repeated group,
# a reference to a group, and rarer extensions.
_GROUP = r"P<\w+>|<[=!]|[:=!>]|[aiLmsu]+\)"
_PIECE = re.compile(
    rf"(?P<refused>\\[1-9]|\)(?:[*+]|\{{)|\(\?(?!{_GROUP}))"
    rf"|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?(?:{_GROUP})"
    r"|(?P<many>[*+]|\{\d*,\d*\})[?+]?|(?P<doubled>\?[?+]?|\|)",
    re.ASCII | re.DOTALL,
)


def safe_length(pattern: str, longest: int) -> int:
    """The longest text, by halving from `longest`, in which the pattern may be searched; 0 for none."""
    found = Counter(piece.lastgroup for piece in _PIECE.finditer(pattern))
    length = 0 if found["refused"] else longest
    while length >= MIN_LENGTH:
        # From each position there are so many ways to match at most.
        if length * length ** found["many"] * 2 ** found["doubled"] <= MAX_STEPS:
            return length
        length //= 2
    return 0


MAX_PATTERN = 200
MAX_TEXT = 2_000
WEIGHTS = {Signal.NAME: 3.0, Signal.SERVER: 2.0, Signal.DESCRIPTION: 1.0, Signal.PARAMETERS: 0.5}


@dataclass(frozen=True, slots=True)
class _Texts:
    """The searched texts of one tool."""

    id: str
    server_length: int
    name: str
    description: str
    parameters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Search:
    """A compiled pattern, how much of each text it searches, and a note on limitations."""

    pattern: re.Pattern[str]
    length: int
    note: str = ""

    def row(self, texts: _Texts) -> tuple[bool, bool, bool, bool]:
        """Whether the pattern matches the name, the server, the description, a parameter's name."""
        search, length = self.pattern.search, self.length
        in_id = search(texts.id[:length])
        return (
            search(texts.name[:length]) is not None,
            in_id is not None and in_id.start() < texts.server_length,
            search(texts.description[:length]) is not None,
            any(search(name[:length]) for name in texts.parameters),
        )


class PatternRanker:
    """Scores from 0 to 6.5; scores above zero are kept. `note` says if a query was taken literally."""

    name = "regex"

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._texts = tuple(map(_texts, tools))
        self._ids = tuple(tool.id for tool in tools)

    def terms(self, query: str) -> tuple[str, ...]:
        return (query,) if query.strip() else ()

    def rank(self, query: str) -> Ranking:
        matched = np.zeros((len(self._texts), len(WEIGHTS)), dtype=bool)
        note = ""
        if self._texts and query.strip():
            search = _search(query)
            matched[:] = [search.row(texts) for texts in self._texts]
            note = search.note
        values = matched @ np.array(tuple(WEIGHTS.values()))

        def explain(position: int) -> Score:
            parts = tuple(
                Part(signal, query, weight, {"weight": weight})
                for (signal, weight), hit in zip(WEIGHTS.items(), matched[position], strict=True)
                if hit
            )
            return Score(self._ids[position], float(values[position]), parts)

        return Ranking(values, values > 0, explain, note=note)


def _texts(tool: Tool) -> _Texts:
    parameters: list[str] = []
    room = MAX_TEXT
    for field in fields(tool.input_schema):
        parameters.append(field.name[:room])
        room -= len(field.name)
        if room <= 0:
            break
    return _Texts(
        tool.id[:MAX_TEXT],
        len(tool.server),
        tool.name[:MAX_TEXT],
        tool.description[:MAX_TEXT],
        tuple(parameters),
    )


def _search(query: str) -> _Search:
    if len(query) > MAX_PATTERN:
        return _literal(query[:MAX_PATTERN], f"is longer than {MAX_PATTERN} characters, so its start")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pattern = re.compile(query, re.IGNORECASE)
    except (re.error, OverflowError, RecursionError, ValueError) as error:
        return _literal(query, f"is not a regular expression ({error}), so it")
    length = safe_length(query, MAX_TEXT)
    if not length:
        return _literal(query, "could backtrack for too long, so it")
    cut = f"Only the first {length:,} characters of each text were searched." if length < MAX_TEXT else ""
    return _Search(pattern, length, cut)


def _literal(text: str, reason: str) -> _Search:
    note = f"The pattern {reason} was searched for as literal text."
    return _Search(re.compile(re.escape(text), re.IGNORECASE), MAX_TEXT, note)
