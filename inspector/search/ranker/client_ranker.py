"""How real clients search; sources, and which weights are assumed, are in `clients/known/`."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from string import punctuation

import numpy as np

from inspector.core.ranking import Part, Score, Signal
from inspector.core.settings import DiscoverySettings
from inspector.core.tool import ALWAYS_LOAD, SEARCH_HINT, Tool
from inspector.search.index.vocabulary import MAX_QUERY_LENGTH, words
from inspector.search.ranker.ranker import Ranking

# Claude Code's ToolSearch compares each word of the query with a tool in four steps; the first that matches
# counts:
#
#     4  a whole word of the server's or the tool's name, which _ separates, and capitals do not
#     3  a part of such a word
#     2  a word of `_meta["anthropic/searchHint"]`
#     1  a whole word of the description
#
# Equal tools are in the order of the alphabet. Several words add up. A query that is a tool's
# name, and a name in `select:A,B`, scores 100. `+word` has to match in one of the steps. Of a description the
# first 4,096 characters are read. No tool is searched for that is loaded at once
# (`_meta["anthropic/alwaysLoad"]`).

CLAUDE_CODE = "claude-code"
EXACT, WHOLE, WITHIN, HINTED, DESCRIBED = 100.0, 4.0, 3.0, 2.0, 1.0
_SELECT = "select:"
_READ = 4_096
# All steps of the alphabet together: too little to change any other order, or a score's parts.
_ALPHABET = 5e-10
_FORBIDDEN = re.compile("[^A-Za-z0-9_-]")
_BETWEEN = re.compile(r"[\s_]+")


@dataclass(frozen=True, slots=True)
class _NamedTexts:
    """What is compared of a tool, in lower case; of a text its words, with a space on each side."""

    id: str
    sent: str
    names: frozenset[str]
    parts: frozenset[str]
    hint: str
    described: str

    def parts_for(self, query: "_Query") -> Iterator[Part]:
        """What each part of the query adds to the score."""
        for name in query.names:
            if name in self.names:
                yield Part(Signal.EXACT, name, EXACT, {"weight": EXACT})
        if not all(self._step(word)[1] for word in query.required):
            return
        for word in query.words:
            signal, value = self._step(word)
            if value:
                yield Part(signal, word, value, {"weight": value})

    def _step(self, word: str) -> tuple[Signal, float]:
        """The first of the four steps in which a word matches; 0 for none."""
        if word in self.parts:
            return Signal.NAME, WHOLE
        if any(word in part for part in self.parts):
            return Signal.NAME, WITHIN
        whole = _spaced(word)
        if whole.strip() and whole in self.hint:
            return Signal.KEYWORD, HINTED
        return Signal.DESCRIPTION, DESCRIBED if whole.strip() and whole in self.described else 0.0


@dataclass(frozen=True, slots=True)
class _Query:
    """A query: tools by `names`, `words` that count, and those of them that are `required` to match."""

    names: tuple[str, ...]
    words: tuple[str, ...] = ()
    required: tuple[str, ...] = ()


class ClaudeCodeRanker:
    """Scores from 0; scores above zero are kept."""

    name = CLAUDE_CODE

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._texts = tuple(map(_named_texts, tools))
        self._deferred = np.array([tool.meta.get(ALWAYS_LOAD) is not True for tool in tools], dtype=bool)
        order = sorted(range(len(tools)), key=lambda position: self._texts[position].sent)
        self._alphabet = np.zeros(len(tools))
        self._alphabet[order] = np.linspace(0, _ALPHABET, len(tools))

    def terms(self, query: str) -> tuple[str, ...]:
        read = _query(query)
        return read.words or read.names

    def rank(self, query: str) -> Ranking:
        read = _query(query)
        values = np.array([sum(part.value for part in texts.parts_for(read)) for texts in self._texts])
        values = np.where(self._deferred, values, 0.0)
        kept = values > 0
        values = np.where(kept, values - self._alphabet, values)

        def explain(position: int) -> Score:
            texts = self._texts[position]
            parts = tuple(texts.parts_for(read)) if kept[position] else ()
            return Score(texts.id, float(values[position]), parts)

        return Ranking(values, kept, explain)


def _query(query: str) -> _Query:
    text = query[:MAX_QUERY_LENGTH].strip().lower()
    if text.startswith(_SELECT):
        wanted = (name.strip() for name in text.removeprefix(_SELECT).split(","))
        return _Query(tuple(dict.fromkeys(name for name in wanted if name)))
    given = [each.strip(punctuation.replace("+", "")) for each in text.split()]
    words = dict.fromkeys(word for each in given for word in _BETWEEN.split(each.lstrip("+")) if word)
    required = (each[1:] for each in given if each.startswith("+"))
    return _Query((text,), tuple(words), tuple(word for word in required if word))


def _named_texts(tool: Tool) -> _NamedTexts:
    sent = _FORBIDDEN.sub("_", f"{tool.server}__{tool.name}").lower()
    names = (tool.name, tool.id, f"mcp__{tool.server}__{tool.name}", f"mcp__{sent}")
    hint = tool.meta.get(SEARCH_HINT)
    return _NamedTexts(
        tool.id,
        sent,
        frozenset(name.lower() for name in names),
        frozenset(filter(None, sent.split("_"))),
        _spaced(hint if isinstance(hint, str) else ""),
        _spaced(tool.description[:_READ]),
    )


def _spaced(text: str) -> str:
    words = " ".join(re.findall(r"\w+", text.lower()))
    return f" {words} "


# Fuzzy matching with a tool's whole text (the ToolSearchTool document, “Scoring algorithm”):
#
#     score = SequenceMatcher(None, query, haystack).ratio() + token bonus x token_hits
#
# The haystack is the lower-case name, description and prompt instructions; MCP has no prompt instructions, so
# the tool's title replaces them. At most 400 characters of the query and 2,000 of the haystack are compared.
#
# The published flaws are kept unless `repaired`: in a haystack of 200 characters or more, `autojunk` ignores
# every character that makes up more than 1 % of it, and “a” or “do” match inside other words.

# `difflib.SequenceMatcher.ratio`, computed by substring searches: the same result, many times faster.

POPULAR_LENGTH = 200


def ratio(a: str, b: str, autojunk: bool = True) -> float:
    """Twice the matching characters divided by all characters, in [0, 1]; 1 for two empty texts.

    Not symmetric: with `autojunk` and a `b` of 200 characters or more, characters that make up more than 1 %
    of `b` cannot start a match.
    """
    length = len(a) + len(b)
    if not length:
        return 1.0
    return 2.0 * _matching(a, _without_popular(a, b) if autojunk else a, b) / length


def _without_popular(a: str, b: str) -> str:
    """`a` with every character that `autojunk` ignores replaced by one that does not occur in `b`."""
    if len(b) < POPULAR_LENGTH:
        return a
    counts = Counter(b)
    absent = next(chr(code) for code in range(len(counts) + 1) if chr(code) not in counts)
    most = len(b) // 100 + 1
    return "".join(absent if counts[character] > most else character for character in a)


def _matching(a: str, searched: str, b: str) -> int:
    """The number of characters in matching blocks: the longest match, then the same on both sides of it."""
    total = 0
    known: dict[str, bool] = {}
    queue = [(0, len(a), 0, len(b))]
    while queue:
        a_low, a_high, b_low, b_high = queue.pop()
        i, j, size = _longest(a, searched, b, (a_low, a_high, b_low, b_high), known)
        if not size:
            continue
        total += size
        if a_low < i and b_low < j:
            queue.append((a_low, i, b_low, j))
        if i + size < a_high and j + size < b_high:
            queue.append((i + size, a_high, j + size, b_high))
    return total


def _longest(
    a: str, searched: str, b: str, bounds: tuple[int, int, int, int], known: dict[str, bool]
) -> tuple[int, int, int]:
    """The longest match as (start in a, start in b, size): the first one in `a`, then in `b`.

    A match is found in `searched`, then extended over the characters of `a` that `autojunk` ignores; without
    a match, difflib extends from the lower bounds. `known` caches which pieces occur in `b`, since repetitive
    texts look up the same few pieces again and again.
    """
    a_low, a_high, b_low, b_high = bounds
    best_i, best_j, size = a_low, b_low, 0
    for start in range(a_low, a_high):
        if start + size >= a_high:
            break
        while start + size < a_high:
            piece = searched[start : start + size + 1]
            if piece not in known:
                known[piece] = piece in b
            at = b.find(piece, b_low, b_high) if known[piece] else -1
            if at < 0:
                break
            best_i, best_j, size = start, at, size + 1
    while best_i > a_low and best_j > b_low and a[best_i - 1] == b[best_j - 1]:
        best_i, best_j, size = best_i - 1, best_j - 1, size + 1
    while best_i + size < a_high and best_j + size < b_high and a[best_i + size] == b[best_j + size]:
        size += 1
    return best_i, best_j, size


MAX_QUERY = 400
MAX_HAYSTACK = 2_000
BONUS = DiscoverySettings().token_bonus
# The reference filters anything below as noise.
FLOOR = 0.05


class FuzzyRanker:
    """Scores from 0 up; scores of at least `floor` are kept. Each word of the query adds `bonus`.

    `repaired` compares without `autojunk` and counts only whole words, with names split and stop words left
    out.
    """

    def __init__(
        self, tools: Sequence[Tool], *, repaired: bool = False, bonus: float = BONUS, floor: float = FLOOR
    ) -> None:
        self.name = "fuzzy-repaired" if repaired else "fuzzy"
        self._ids = tuple(tool.id for tool in tools)
        self._haystacks = tuple(_text(tool).lower() for tool in tools)
        self._words = tuple(frozenset(words(_text(tool))) for tool in tools) if repaired else ()
        self._repaired = repaired
        self._bonus = bonus
        self._floor = floor

    def terms(self, query: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._query_words(query)))

    def rank(self, query: str) -> Ranking:
        text = query.lower()[:MAX_QUERY]
        query_words = self._query_words(query)
        ratios = [ratio(text, haystack[:MAX_HAYSTACK], not self._repaired) for haystack in self._haystacks]
        hits = [sum(self._hits(position, word) for word in query_words) for position in range(len(self._ids))]
        values = np.array(ratios, dtype=np.float64) + self._bonus * np.array(hits, dtype=np.float64)

        def explain(position: int) -> Score:
            length = float(len(self._haystacks[position][:MAX_HAYSTACK]))
            inputs = {"ratio": ratios[position], "haystack length": length}
            parts = [Part(Signal.FUZZY, "ratio", ratios[position], inputs)]
            for word in dict.fromkeys(query_words):
                if self._hits(position, word):
                    count = query_words.count(word)
                    inputs = {"token bonus": self._bonus, "times in query": float(count)}
                    parts.append(Part(Signal.FUZZY, word, self._bonus * count, inputs))
            return Score(self._ids[position], float(values[position]), tuple(parts))

        return Ranking(values, values >= self._floor, explain)

    def _query_words(self, query: str) -> list[str]:
        """The words of the query, including repetitions."""
        return words(query[:MAX_QUERY]) if self._repaired else query.lower()[:MAX_QUERY].split()

    def _hits(self, position: int, word: str) -> bool:
        return word in (self._words if self._repaired else self._haystacks)[position]


def _text(tool: Tool) -> str:
    return " ".join(filter(None, (tool.name, tool.description, tool.title)))
