"""Fuzzy matching of the query against a tool's whole text (the ToolSearchTool document, “Scoring algorithm”).

    score = SequenceMatcher(None, query, haystack).ratio() + token bonus x token_hits

The haystack is the lower-case name, description and prompt instructions; MCP has no prompt instructions, so
the tool's title replaces them. At most 400 characters of the query and 2,000 of the haystack are compared.

The published flaws are kept unless `repaired`: in a haystack of 200 characters or more, difflib's `autojunk`
ignores every character that makes up more than 1 % of it, and “a” or “do” match inside other words.
"""

from collections.abc import Sequence

import numpy as np

from inspector.domain.ranking import Part, Score, Signal
from inspector.domain.settings import DiscoverySettings
from inspector.domain.tool import Tool
from inspector.engine.discovery.rankers.ranker import Ranking
from inspector.engine.discovery.rankers.sequence_match import ratio
from inspector.engine.discovery.vocabulary import words

MAX_QUERY = 400
MAX_HAYSTACK = 2_000
BONUS = DiscoverySettings().token_bonus
FLOOR = DiscoverySettings().fuzzy_floor


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
        self._haystacks = tuple(map(_haystack, tools))
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


def _haystack(tool: Tool) -> str:
    return _text(tool).lower()
