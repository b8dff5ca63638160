"""How Codex searches, and the ToolSearchTool document.

Sources, and which weights are assumed, are in `clients/known/`.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct, field

from inspector.core.ranking import Part, Score, Signal
from inspector.core.tool import Tool
from inspector.schema.schema import fields
from inspector.search.index.embedded_text import MAX_INDEXED
from inspector.search.index.vocabulary import MAX_QUERY_LENGTH, word_lines
from inspector.search.ranker.ranker import Ranking, Scores

if TYPE_CHECKING:
    from py_rust_stemmers import SnowballStemmer

# Fuzzy matching with a tool's whole text (the ToolSearchTool document, “Scoring algorithm”):
#
#     score = SequenceMatcher(None, query, haystack).ratio() + token bonus x token_hits
#
# The haystack is the lower-case name, description and prompt instructions; MCP has no prompt instructions, so
# the tool's title replaces them. At most 400 characters of the query and 2,000 of the haystack are compared.
#
# The published flaws are kept: in a haystack of 200 characters or more difflib ignores every character that
# makes up more than 1 % of it, and “a” or “do” match inside other words.

MAX_QUERY = 400
MAX_HAYSTACK = 2_000
BONUS = 0.12
# The reference filters anything below as noise.
FLOOR = 0.05


class FuzzyRanker:
    """Scores from 0 up; scores of at least FLOOR are kept. Each word of the query adds BONUS."""

    name = "fuzzy"

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._ids = tuple(tool.id for tool in tools)
        texts = (filter(None, (tool.name, tool.description, tool.title)) for tool in tools)
        self._haystacks = tuple(" ".join(text).lower() for text in texts)

    def terms(self, query: str) -> tuple[str, ...]:
        return tuple(Counter(_query_words(query)))

    def rank(self, query: str) -> Ranking:
        text, asked = query.lower()[:MAX_QUERY], Counter(_query_words(query))
        ratios = [SequenceMatcher(None, text, hay[:MAX_HAYSTACK]).ratio() for hay in self._haystacks]
        hits = [sum(asked[word] for word in asked if word in hay) for hay in self._haystacks]
        values = np.array(ratios, dtype=np.float64) + BONUS * np.array(hits, dtype=np.float64)

        def explain(position: int) -> Score:
            haystack = self._haystacks[position]
            length = float(len(haystack[:MAX_HAYSTACK]))
            inputs = {"ratio": ratios[position], "haystack length": length}
            parts = [Part(Signal.FUZZY, "ratio", ratios[position], inputs)]
            for word, count in asked.items():
                if word in haystack:
                    inputs = {"token bonus": BONUS, "times in query": float(count)}
                    parts.append(Part(Signal.FUZZY, word, BONUS * count, inputs))
            return Score(self._ids[position], float(values[position]), tuple(parts))

        return Ranking(values, values >= FLOOR, explain)


def _query_words(query: str) -> list[str]:
    """The words of the query, including repetitions."""
    return query.lower()[:MAX_QUERY].split()


# Codex searches with BM25 over one text a tool, without weights, as the Rust crate bm25 2.3.2 does it.
#
# With tf a word's occurrences in the text, L its length in words and M the mean length:
#
#     score = sum over the query's words of  idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * L / M))
#     idf = ln(1 + (N - n + .5) / (n + .5)),  k1 = 1.2,  b = .75
#
# A word that the query repeats counts again. The text joins a tool's names, its server's name, its title, its
# description, the server's instructions and the names of its parameters. An underscore is part of a word, so
# `list_orders` is one, which “orders” does not find. Sources and dates are in `clients/known/codex.toml`.

CODEX = "codex"
K1, B = 1.2, 0.75
# Words as UAX 29 separates them in ASCII: . ' : join letters, and . ' , ; join digits.
_WORD = re.compile(
    r"[a-z0-9_]+(?:(?:(?<=[a-z])[.':](?=[a-z])|(?<=[0-9])[.',;](?=[0-9]))[a-z0-9_]+)*", re.ASCII
)
# NLTK's English stop words: what stands before n't is one too, as “doesn” of “doesn't”.
NLTK_STOP_WORDS = frozenset(" ".join(word_lines("nltk_stop_words")).split())

Counts = Mapping[Signal, Counter[str]]


class OtherTexts(Struct, frozen=True):
    """What is searched as well and is no server's: so many texts, of so many words together.

    `holders` says in how many of them a word stands.
    """

    count: int = 0
    length: int = 0
    holders: Mapping[str, int] = field(default_factory=dict)


class OneTextRanker:
    """Scores tools by the words a query shares with their texts; scores above zero are kept."""

    name: str
    double: tuple[Signal, ...] = ()
    """The fields whose words count double, wherever they stand."""

    def __init__(
        self,
        tools: Sequence[Tool],
        counts: Sequence[Counts],
        others: OtherTexts | None = None,
        alphabet: Scores | None = None,
    ) -> None:
        """`alphabet` is taken from the scores; without it equal tools are in the order of the catalog."""
        self._alphabet = np.zeros(len(tools)) if alphabet is None else alphabet
        self._ids = tuple(tool.id for tool in tools)
        self._counts, self._others = counts, others or OtherTexts()
        self._size = len(counts) + self._others.count
        lengths = [sum(count.total() for count in counts.values()) for counts in self._counts]
        mean = (sum(lengths) + self._others.length) / self._size if self._size else 0.0
        self._norms = [K1 * (1 - B + B * length / mean) if mean else K1 for length in lengths]
        self._holders: dict[str, list[int]] = {}
        for position, counts_of in enumerate(self._counts):
            for word in dict.fromkeys(word for count in counts_of.values() for word in count):
                self._holders.setdefault(word, []).append(position)

    def _asked(self, query: str) -> Counter[str]:
        """The words of a query, and how often each counts."""
        return Counter(_stems(query[:MAX_QUERY_LENGTH]))

    def terms(self, query: str) -> tuple[str, ...]:
        return tuple(self._asked(query))

    def rank(self, query: str) -> Ranking:
        words = self._asked(query)
        values = np.zeros(len(self._ids))
        for position in {position for word in words for position in self._holders.get(word, ())}:
            found = sum(part.value for part in self._parts(words, position))
            values[position] = found - self._alphabet[position]

        def explain(position: int) -> Score:
            return Score(self._ids[position], float(values[position]), tuple(self._parts(words, position)))

        return Ranking(values, values > 0, explain)

    def _parts(self, words: Counter[str], position: int) -> Iterator[Part]:
        """What each word adds, split between the fields by its occurrences."""
        counts, norm = self._counts[position], self._norms[position]
        for word, times in words.items():
            tf = sum(count[word] for count in counts.values())
            if not tf:
                continue
            df = len(self._holders[word]) + self._others.holders.get(word, 0)
            idf = float(np.log1p((self._size - df + 0.5) / (df + 0.5)))
            weight = times * (2 if any(counts[signal][word] for signal in self.double) else 1)
            value = weight * idf * tf * (K1 + 1) / (tf + norm)
            inputs = {"tf": float(tf), "idf": idf, "df": float(df)}
            if times > 1:
                inputs["times in query"] = float(times)
            for signal, count in counts.items():
                if count[word]:
                    yield Part(signal, word, value * count[word] / tf, inputs)


class CodexRanker(OneTextRanker):
    """Codex's tool_search."""

    name = CODEX

    def __init__(self, tools: Sequence[Tool], instructions: Mapping[str, str]) -> None:
        """`instructions` are those of the servers."""
        super().__init__(tools, [_counts(tool, instructions.get(tool.server, "")) for tool in tools])


def _counts(tool: Tool, instructions: str) -> Counts:
    """A tool's words by field: the flat, the called and the plain name are indexed one beside the other."""
    name = called(tool.name)
    texts = {
        Signal.NAME: f"mcp__{called(tool.server)}__{name} {name} {tool.name} {tool.title}",
        Signal.DESCRIPTION: tool.description,
        Signal.SERVER: f"{tool.server} {instructions}",
        Signal.PARAMETERS: " ".join(sorted(field.name for field in fields(tool.input_schema))),
    }
    counts, joined = {}, ""
    for signal, text in texts.items():
        cut = text[:MAX_INDEXED]
        counts[signal] = Counter(_stems(cut, follows=joined))
        joined += cut
    return counts


def called(name: str) -> str:
    """A name as it is called: of letters, digits and _ alone."""
    return re.sub(r"\W", "_", name, flags=re.ASCII)


def _stems(text: str, follows: str = "") -> list[str]:
    """The stemmed words of a text that `follows` another one."""
    words = (word for word in _WORD.findall(_transliterated(text, follows).lower()) if word.strip("_"))
    stems: list[str] = _stemmer().stem_words([word for word in words if word not in NLTK_STOP_WORDS])
    return stems


@cache
def _stemmer() -> "SnowballStemmer":
    """The crate that Codex stems with: the Snowball English of 2019."""
    from py_rust_stemmers import SnowballStemmer

    return SnowballStemmer("english")


def _transliterated(text: str, follows: str) -> str:
    """The text in ASCII. From its first other character on, ends of lines vanish and join two words."""
    if text.isascii() and follows.isascii():
        return text
    from anyascii import anyascii

    plain = re.match(r"[\x00-\x7f]*", text if follows.isascii() else "")
    head = plain.group() if plain else ""
    return head + anyascii(re.sub(r"[\x00-\x1f\x7f]", "", text[len(head) :]))
