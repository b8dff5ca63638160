"""Bidirectional matching of precomputed keywords, as for system tools (paper, section 4.2).

The paper gives no formula. Here, with Q the words of the query and K the keywords of the tool:

    score = 1/2 |Q and K| / |Q|  +  1/2 |Q and K| / |K|
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from inspector.core.ranking import Part, Score, Signal
from inspector.core.tool import Tool
from inspector.search.rankers.ranker import Ranking
from inspector.search.vocabulary import MINIMUM_LENGTH, is_domain_term, query_words, words

HALF = 0.5


class KeywordSystemRanker:
    """Scores from 0 to 1; scores above zero are kept."""

    name = "keyword-system"

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._ids = tuple(tool.id for tool in tools)
        self._keywords = tuple(map(keywords, tools))
        self._sizes = np.array([max(1, len(own)) for own in self._keywords], dtype=np.float64)
        positions: defaultdict[str, list[int]] = defaultdict(list)
        for position, own in enumerate(self._keywords):
            for word in own:
                positions[word].append(position)
        self._positions = {word: np.array(holders) for word, holders in positions.items()}

    def terms(self, query: str) -> tuple[str, ...]:
        return query_words(query)

    def rank(self, query: str) -> Ranking:
        query_terms = self.terms(query)
        shared = np.zeros(len(self._ids))
        for word in query_terms:
            if word in self._positions:
                shared[self._positions[word]] += 1
        values = shared * (HALF / max(1, len(query_terms)) + HALF / self._sizes)

        def explain(position: int) -> Score:
            size = float(self._sizes[position])
            inputs = {"query words": float(len(query_terms)), "tool keywords": size}
            parts = tuple(
                Part(Signal.KEYWORD, word, HALF / len(query_terms) + HALF / size, inputs)
                for word in query_terms
                if word in self._keywords[position]
            )
            return Score(self._ids[position], float(values[position]), parts)

        return Ranking(values, values > 0, explain)


def keywords(tool: Tool) -> frozenset[str]:
    """All words of the name, and the words of the description that are long enough and in the vocabulary."""
    described = {
        word for word in words(tool.description) if len(word) >= MINIMUM_LENGTH and is_domain_term(word)
    }
    return frozenset(words(tool.name)) | described
