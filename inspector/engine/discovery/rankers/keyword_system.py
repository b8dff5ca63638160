"""Bidirectional matching of pre-computed keywords, as for system tools (paper, section 4.2).

The paper gives no formula. Here, with Q the words of the query and K the keywords of the tool:

    score = 1/2 |Q and K| / |Q|  +  1/2 |Q and K| / |K|
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from inspector.domain.ranking import Part, Score, Signal
from inspector.domain.tool import Tool
from inspector.engine.discovery.rankers.ranker import Ranking
from inspector.engine.discovery.vocabulary import MINIMUM_LENGTH, is_domain_term, query_words, words

HALF = 0.5


class KeywordSystemRanker:
    """Scores from 0 to 1; kept are scores above zero."""

    name = "keyword-system"

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._ids = tuple(tool.id for tool in tools)
        self._keywords = tuple(map(keywords, tools))
        self._sizes = np.array([max(1, len(found)) for found in self._keywords], dtype=np.float64)
        positions: defaultdict[str, list[int]] = defaultdict(list)
        for position, found in enumerate(self._keywords):
            for word in found:
                positions[word].append(position)
        self._positions = {word: np.array(found) for word, found in positions.items()}

    def terms(self, query: str) -> tuple[str, ...]:
        return query_words(query)

    def rank(self, query: str) -> Ranking:
        found = self.terms(query)
        shared = np.zeros(len(self._ids))
        for word in found:
            if word in self._positions:
                shared[self._positions[word]] += 1
        values = shared * (HALF / max(1, len(found)) + HALF / self._sizes)

        def explain(position: int) -> Score:
            size = float(self._sizes[position])
            inputs = {"query words": float(len(found)), "tool keywords": size}
            parts = tuple(
                Part(Signal.KEYWORD, word, HALF / len(found) + HALF / size, inputs)
                for word in found
                if word in self._keywords[position]
            )
            return Score(self._ids[position], float(values[position]), parts)

        return Ranking(values, values > 0, explain)


def keywords(tool: Tool) -> frozenset[str]:
    """All words of the name, and those of the description that are long enough and in the vocabulary."""
    described = {
        word for word in words(tool.description) if len(word) >= MINIMUM_LENGTH and is_domain_term(word)
    }
    return frozenset(words(tool.name)) | described
