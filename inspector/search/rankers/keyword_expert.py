"""Keyword matching with weighted scoring, as for expert-configured tools (paper, section 4.1).

The paper gives the signals and their order but no numbers. Here:

    score = 100 [query = name] + 50 [name in query or query in name]
          + 30 (weight of the query's words among the tool's words) / (weight of the query's words)
          + 10 (query's words that are substrings of the description) / (query's words)

A word weighs 1, a word in the curated vocabulary 2.
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from inspector.core.ranking import Part, Score, Signal
from inspector.core.tool import Tool
from inspector.search.rankers.ranker import Mask, Ranking
from inspector.search.vocabulary import MAX_QUERY_LENGTH, MINIMUM_LENGTH, is_domain_term, query_words, words

EXACT_NAME = 100.0
NAME_CONTAINMENT = 50.0
KEYWORD_OVERLAP = 30.0
DESCRIPTION_SUBSTRING = 10.0
DOMAIN_WEIGHT = 2.0
PLAIN_WEIGHT = 1.0


class KeywordExpertRanker:
    """Scores from 0 to 190; a tool whose exact name is the query beats every other tool.

    Names and ids are compared case-insensitively. Containment needs at least three characters on each side.
    Only the first `MAX_QUERY_LENGTH` characters of a query count. Scores above zero are kept.
    """

    name = "keyword-expert"

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._ids = tuple(tool.id for tool in tools)
        self._names = tuple(tool.name.lower() for tool in tools)
        self._lower_ids = tuple(tool.id.lower() for tool in tools)
        self._descriptions = tuple(tool.description.lower() for tool in tools)
        positions: defaultdict[str, list[int]] = defaultdict(list)
        for position, tool in enumerate(tools):
            for word in {*words(tool.name), *words(tool.description)}:
                positions[word].append(position)
        self._positions = {word: np.array(holders) for word, holders in positions.items()}

    def terms(self, query: str) -> tuple[str, ...]:
        return query_words(query)

    def rank(self, query: str) -> Ranking:
        text = query[:MAX_QUERY_LENGTH].strip().lower()
        query_terms = self.terms(query)
        weights = [_weight(word) for word in query_terms]
        total = sum(weights)
        exact, contained = self._exact(text), self._contained(text)
        values = EXACT_NAME * exact + NAME_CONTAINMENT * contained
        for word, weight in zip(query_terms, weights, strict=True):
            values[self._having(word)] += KEYWORD_OVERLAP * weight / total
            values[self._describing(word)] += DESCRIPTION_SUBSTRING / len(query_terms)

        def explain(position: int) -> Score:
            parts = [Part(Signal.EXACT, text, EXACT_NAME)] if exact[position] else []
            parts += [Part(Signal.NAME, text, NAME_CONTAINMENT)] if contained[position] else []
            for word, weight in zip(query_terms, weights, strict=True):
                parts += self._parts(position, word, weight, total, len(query_terms))
            return Score(self._ids[position], float(values[position]), tuple(parts))

        return Ranking(values, values > 0, explain)

    def _exact(self, text: str) -> Mask:
        names = zip(self._names, self._lower_ids, strict=True)
        return np.array([bool(text) and text in pair for pair in names], dtype=bool)

    def _contained(self, text: str) -> Mask:
        """The tools whose name contains the query or is contained in it, including exact names."""
        if len(text) < MINIMUM_LENGTH:
            return np.zeros(len(self._names), dtype=bool)
        return np.array(
            [len(name) >= MINIMUM_LENGTH and (name in text or text in name) for name in self._names],
            dtype=bool,
        )

    def _having(self, word: str) -> NDArray[np.intp]:
        return self._positions.get(word, np.array([], dtype=np.intp))

    def _describing(self, word: str) -> NDArray[np.intp]:
        return np.array([i for i, text in enumerate(self._descriptions) if word in text], dtype=np.intp)

    def _parts(self, position: int, word: str, weight: float, total: float, count: int) -> list[Part]:
        parts = []
        if position in self._having(word):
            inputs = {"weight": weight, "total weight": total}
            parts.append(Part(Signal.KEYWORD, word, KEYWORD_OVERLAP * weight / total, inputs))
        if word in self._descriptions[position]:
            inputs = {"query words": float(count)}
            parts.append(Part(Signal.DESCRIPTION, word, DESCRIPTION_SUBSTRING / count, inputs))
        return parts


def _weight(word: str) -> float:
    return DOMAIN_WEIGHT if is_domain_term(word) else PLAIN_WEIGHT
