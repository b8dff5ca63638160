"""Case-insensitive search by regular expression over id, name, description and parameter names.

    score = 3 [in the name] + 2 [in the id, starting in its server] + 1 [in the description]
          + 0.5 [in a parameter's name]

Python's `re` backtracks and cannot be interrupted, so each text is searched only as far as the worst case
stays small (see `safe_length`). Any other query is searched for as literal text.
"""

import re
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from inspector.core.ranking import Part, Score, Signal
from inspector.core.tool import Tool
from inspector.schema.schema import fields
from inspector.search.index.embedded_text import MAX_INDEXED
from inspector.search.ranker.ranker import Ranking
from inspector.search.ranker.step_ranker import by_alphabet

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


class _Texts(Struct, frozen=True):
    """The searched texts of one tool."""

    id: str
    server_length: int
    name: str
    description: str
    parameters: tuple[str, ...]


class _Search(Struct, frozen=True):
    """A compiled pattern, how much of each text it searches, a note on limitations, whether it was one."""

    pattern: re.Pattern[str]
    length: int
    note: str = ""
    is_pattern: bool = True

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
    weights: Mapping[Signal, float] = WEIGHTS
    longest = MAX_TEXT
    takes_text = True

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._texts = tuple(map(self._read, tools))
        self._ids = tuple(tool.id for tool in tools)
        self._alphabet = np.zeros(len(tools))

    def _read(self, tool: Tool) -> _Texts:
        return _Texts(
            tool.id[:MAX_TEXT],
            len(tool.server),
            tool.name[:MAX_TEXT],
            tool.description[:MAX_TEXT],
            _parameters(tool, MAX_TEXT),
        )

    def _row(self, search: _Search, texts: _Texts) -> tuple[bool, ...]:
        """Where the pattern matches, in the order of the weights."""
        return search.row(texts)

    def terms(self, query: str) -> tuple[str, ...]:
        return (query,) if query.strip() else ()

    def rank(self, query: str) -> Ranking:
        matched = np.zeros((len(self._texts), len(self.weights)), dtype=bool)
        note = ""
        if self._texts and query.strip():
            search = _search(query, self.longest)
            note = search.note
            if search.is_pattern or self.takes_text:
                matched[:] = [self._row(search, texts) for texts in self._texts]
            else:
                note = "This is no pattern that the client takes, so it finds nothing."
        values = matched @ np.array(tuple(self.weights.values()))
        values = np.where(values > 0, values - self._alphabet, values)

        def explain(position: int) -> Score:
            parts = tuple(
                Part(signal, query, weight, {"weight": weight})
                for (signal, weight), hit in zip(self.weights.items(), matched[position], strict=True)
                if hit
            )
            return Score(self._ids[position], float(values[position]), parts)

        return Ranking(values, values > 0, explain, note=note)


class CopilotRanker(PatternRanker):
    """Copilot CLI's tool_search_tool: a pattern in the name, else the description, else a parameter.

    The name is the one that is sent, server and all; of parameters, names and descriptions are searched.
    Equal tools are in the order of the alphabet; what is no regular expression finds nothing.
    """

    name = "copilot-cli"
    weights: Mapping[Signal, float] = {Signal.NAME: 3.0, Signal.DESCRIPTION: 2.0, Signal.PARAMETERS: 1.0}
    longest = MAX_INDEXED
    takes_text = False

    def __init__(self, tools: Sequence[Tool]) -> None:
        super().__init__(tools)
        self._alphabet = by_alphabet([texts.name for texts in self._texts])

    def _read(self, tool: Tool) -> _Texts:
        name = re.sub("[^A-Za-z0-9_-]", "-", f"{tool.server}-{tool.name}")[:64]
        return _Texts(
            name, 0, name, tool.description[: self.longest], _parameters(tool, self.longest, described=True)
        )

    def _row(self, search: _Search, texts: _Texts) -> tuple[bool, ...]:
        in_name, _server, described, parameter = search.row(texts)
        return in_name, described and not in_name, parameter and not (in_name or described)


def _parameters(tool: Tool, room: int, *, described: bool = False) -> tuple[str, ...]:
    """The names of the parameters, and what describes them if that is wanted, up to `room` characters."""
    parameters: list[str] = []
    for field in fields(tool.input_schema):
        for text in (field.name, field.description)[: 1 + described]:
            parameters.append(text[:room])
            room = max(room - len(text), 0)
        if room <= 0:
            break
    return tuple(parameters)


def _search(query: str, longest: int) -> _Search:
    if len(query) > MAX_PATTERN:
        return _literal(
            query[:MAX_PATTERN], f"is longer than {MAX_PATTERN} characters, so its start", longest
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pattern = re.compile(query, re.IGNORECASE)
    except (re.error, OverflowError, RecursionError, ValueError) as error:
        return _literal(query, f"is not a regular expression ({error}), so it", longest)
    length = safe_length(query, longest)
    if not length:
        found = _literal(query, "could backtrack for too long, so it", longest)
        return replace(found, is_pattern=True)
    cut = f"Only the first {length:,} characters of each text were searched." if length < longest else ""
    return _Search(pattern, length, cut)


def _literal(text: str, reason: str, longest: int) -> _Search:
    note = f"The pattern {reason} was searched for as literal text."
    return _Search(re.compile(re.escape(text), re.IGNORECASE), longest, note, is_pattern=False)
