"""Case-insensitive search by regular expression over id, name, description and parameter names.

    score = 3 [in the name] + 2 [in the id, starting in its server] + 1 [in the description]
          + 0.5 [in a parameter's name]

Python's `re` backtracks and cannot be interrupted, so each text is searched only as far as the worst case
stays small (see `pattern_cost`). Any other query is searched for as literal text.
"""

import re
import warnings
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

_GROUP_PREFIX = re.compile(r"\(\?(?:P<\w+>|<[=!]|[:=!>]|[aiLmsu-]*[:)])|\((?!\?)")
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_QUANTIFIER = re.compile(r"(?:([*+?])|\{(\d*),(\d*)\}|\{(\d+)\})[?+]?", re.ASCII)


class _Refused(Exception):
    """The pattern has a construct whose cost the scan cannot bound."""


class _Group:
    """An open group: the ways through its finished alternatives and through the current one."""

    def __init__(self) -> None:
        self.finished = 0.0
        self.ways = 1.0
        self.last = 1.0
        self.is_simple = True

    def add(self, ways: float) -> None:
        self.ways *= self.last
        self.last = ways

    def alternative(self) -> None:
        self.finished += self.ways * self.last
        self.ways = self.last = 1.0
        self.is_simple = False

    def total(self) -> float:
        return self.finished + self.ways * self.last


def safe_length(pattern: str, longest: int) -> int:
    """The longest text, by halving from `longest`, in which the pattern may be searched; 0 for none.

    Quantified groups that contain a quantifier or an alternation are refused, and so are references to
    groups.
    """
    length = longest
    try:
        while length >= MIN_LENGTH:
            if length * _ways(pattern, length) <= MAX_STEPS:
                return length
            length //= 2
    except _Refused:
        pass
    return 0


def _ways(pattern: str, length: int) -> float:
    """The most ways to match the pattern from one position in a text of `length`."""
    groups = [_Group()]
    closed: _Group | None = None
    at = 0
    while at < len(pattern):
        if quantifier := _QUANTIFIER.match(pattern, at):
            _repeat(groups[-1], closed, _choices(quantifier, length))
            closed, at = None, quantifier.end()
            continue
        closed = None
        if pattern[at] == "(":
            at = _open(groups, pattern, at)
        elif pattern[at] == ")":
            closed = _close(groups)
            at += 1
        elif pattern[at] == "|":
            groups[-1].alternative()
            at += 1
        else:
            groups[-1].add(1.0)
            at = _after_atom(pattern, at)
    while len(groups) > 1:
        _close(groups)
    return groups[0].total()


def _open(groups: list[_Group], pattern: str, at: int) -> int:
    prefix = _GROUP_PREFIX.match(pattern, at)
    if prefix is None:
        raise _Refused
    if not prefix.group().endswith(")"):
        groups.append(_Group())
    return prefix.end()


def _close(groups: list[_Group]) -> _Group | None:
    """Close the innermost group into the one around it; None if the parentheses do not match."""
    if len(groups) == 1:
        return None
    closed = groups.pop()
    groups[-1].add(closed.total())
    groups[-1].is_simple &= closed.is_simple
    return closed


def _after_atom(pattern: str, at: int) -> int:
    if pattern[at] == "\\":
        if pattern[at + 1 : at + 2] in tuple("123456789"):
            raise _Refused
        return at + 2
    in_class = _CLASS.match(pattern, at)
    return in_class.end() if in_class else at + 1


def _repeat(group: _Group, repeated: _Group | None, choices: tuple[float, float]) -> None:
    """Quantify the last item of a group; an optional group counts as one more alternative."""
    low, high = choices
    if high <= 1:
        group.last += 1 - low
    elif repeated is not None and not repeated.is_simple:
        raise _Refused
    else:
        group.last *= high - low + 1
    group.is_simple = False


def _choices(quantifier: re.Match[str], length: int) -> tuple[float, float]:
    """The fewest and the most repetitions in a text of `length`."""
    sign, low, high, exactly = quantifier.groups()
    if exactly is not None:
        count = float(min(int(exactly), length))
        return count, count
    if sign == "?":
        return 0.0, 1.0
    if sign is not None:
        return 0.0, float(length)
    most = min(int(high), length) if high else length
    return float(min(int(low or 0), most)), float(most)


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
