"""Keyword rankers, and the tiers that they are made for (semantic tool discovery, section 4).

For expert-configured tools (4.1) the paper gives the signals and their order but no numbers. Here:

    score = 100 [query = name] + 50 [name in query or query in name]
          + 30 (weight of the query's words among the tool's words) / (weight of the query's words)
          + 10 (query's words that are substrings of the description) / (query's words)

A word weighs 1, a word in the curated vocabulary 2. For system tools, of which keywords are precomputed and
matched in both directions (4.2), it gives no formula. Here, with Q the words of the query and K the keywords:

    score = 1/2 |Q and K| / |Q|  +  1/2 |Q and K| / |K|
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from fnmatch import fnmatchcase

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from inspector.core.ranking import Part, Score, Signal
from inspector.core.tool import Tool
from inspector.search.index.tool_index import ToolIndex, words_alone
from inspector.search.index.vocabulary import (
    MAX_QUERY_LENGTH,
    MINIMUM_LENGTH,
    is_domain_term,
    query_words,
    words,
)
from inspector.search.ranker.bm25 import Bm25Ranker
from inspector.search.ranker.dense import DenseRanker
from inspector.search.ranker.ranker import TIER_STEP, Mask, Ranker, Ranking

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
        self._positions = _holders([{*words(tool.name), *words(tool.description)} for tool in tools])

    def terms(self, query: str) -> tuple[str, ...]:
        return query_words(query)

    def rank(self, query: str) -> Ranking:
        text = query[:MAX_QUERY_LENGTH].strip().lower()
        query_terms = self.terms(query)
        weights = [DOMAIN_WEIGHT if is_domain_term(word) else PLAIN_WEIGHT for word in query_terms]
        total = sum(weights)
        exact, contained = self._exact(text), self._contained(text)
        values = EXACT_NAME * exact + NAME_CONTAINMENT * contained
        for word, weight in zip(query_terms, weights, strict=True):
            values[self._having(word)] += KEYWORD_OVERLAP * weight / total
            described = [word in text for text in self._descriptions]
            values[described] += DESCRIPTION_SUBSTRING / len(query_terms)

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

    def _parts(self, position: int, word: str, weight: float, total: float, count: int) -> list[Part]:
        parts = []
        if position in self._having(word):
            inputs = {"weight": weight, "total weight": total}
            parts.append(Part(Signal.KEYWORD, word, KEYWORD_OVERLAP * weight / total, inputs))
        if word in self._descriptions[position]:
            inputs = {"query words": float(count)}
            parts.append(Part(Signal.DESCRIPTION, word, DESCRIPTION_SUBSTRING / count, inputs))
        return parts


def _holders(tools: Sequence[Collection[str]]) -> dict[str, NDArray[np.intp]]:
    """By word, the positions of the tools that have it."""
    positions: defaultdict[str, list[int]] = defaultdict(list)
    for position, own in enumerate(tools):
        for word in own:
            positions[word].append(position)
    return {word: np.array(holders) for word, holders in positions.items()}


HALF = 0.5


class KeywordSystemRanker:
    """Scores from 0 to 1; scores above zero are kept."""

    name = "keyword-system"

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._ids = tuple(tool.id for tool in tools)
        self._keywords = tuple(map(keywords, tools))
        self._sizes = np.array([max(1, len(own)) for own in self._keywords], dtype=np.float64)
        self._positions = _holders(self._keywords)

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


# The three tiers of semantic tool discovery in their order (section 4): expert, system, catalog.
#
#     expert tools    2000 + weighted keywords         (keyword-expert, section 4.1)
#     system tools    1000 + keywords in both directions (keyword-system, section 4.2)
#     the rest        cosine of query and summary, if it reaches the threshold (section 4.3)
#
# A tool is in one tier only, the first that it belongs to. Of tools with the same name, those of later tiers
# are left out (section 4.4). The paper gives no threshold; `discovery.iso_threshold` has one. While tools are
# not embedded, the rest needs words that cover half of the query instead.

# The share of a query that words must cover to count as a match on their own.
COVERED = 0.5


class Tiers(Struct, frozen=True):
    """The tools above the catalog: ids of expert tools (`*` and `?` match) and names of system servers."""

    expert: tuple[str, ...] = ()
    system: tuple[str, ...] = ()

    def of(self, index: ToolIndex) -> Iterator["Tier"]:
        """The tiers that have tools in an index, from the highest to the lowest; a tool may be in both."""
        expert = np.zeros(len(index.tools), bool)
        if self.expert:
            expert[:] = [any(fnmatchcase(t.id, p) for p in self.expert) for t in index.tools]
        if expert.any():
            yield Tier("expert", 2 * TIER_STEP, expert, KeywordExpertRanker(index.tools))
        if not set(self.system).isdisjoint(index.servers):
            system = np.array([tool.server in self.system for tool in index.tools], bool)
            yield Tier("system", TIER_STEP, system, KeywordSystemRanker(index.tools))


class Tier(Struct, frozen=True, dict=True):
    """A tier above the catalog, its tools and their ranker; `step` is what its tools get on top."""

    name: str
    step: float
    members: Mask
    ranker: Ranker


class ThreeTierRanker:
    """Expert tools, then system tools, then every other tool that is relevant enough."""

    name = "three-tier"

    def __init__(self, index: ToolIndex, lexical: Bm25Ranker, dense: DenseRanker, tiers: Tiers) -> None:
        self._index = index
        self._lexical = lexical
        self._dense = dense
        above = np.zeros(len(index.tools), bool)
        self._tiers: list[Tier] = []
        for tier in tiers.of(index):
            self._tiers.append(replace(tier, members=tier.members & ~above))
            above |= tier.members
        self._rest: Mask = ~above
        self._names = np.array([tool.name for tool in index.tools], dtype=object)

    def terms(self, query: str) -> tuple[str, ...]:
        return self._lexical.terms(query)

    def rank(self, query: str) -> Ranking:
        rest = self._relevant(query)
        values = np.where(self._rest, rest.values, 0.0)
        kept = self._rest & rest.kept
        entered: dict[int, tuple[Tier, Ranking]] = {}
        for tier in self._tiers:
            ranking = tier.ranker.rank(query)
            matched = tier.members & ranking.kept
            values[matched] = ranking.values[matched] + tier.step
            entered |= {int(position): (tier, ranking) for position in np.flatnonzero(matched)}
        kept[list(entered)] = True
        kept &= ~self._namesakes(entered)

        def explain(position: int) -> Score:
            tool_id = self._index.ids[position]
            if position in entered:
                tier, ranking = entered[position]
                parts = (Part(Signal.TIER, tier.name, tier.step), *ranking.explain(position).parts)
                return Score(tool_id, float(values[position]), parts)
            return rest.explain(position) if self._rest[position] else Score(tool_id, 0.0)

        return Ranking(values, kept, explain, note=rest.note)

    def _relevant(self, query: str) -> Ranking:
        """The catalog's tier: by cosine or, before the tools are embedded, by words."""
        if self._index.is_semantic:
            return self._dense.rank(query)
        found = self._lexical.rank(query)
        return replace(
            found, kept=found.kept & (self._lexical.coverage(query) >= COVERED), note=words_alone(self._index)
        )

    def _namesakes(self, entered: dict[int, tuple[Tier, Ranking]]) -> Mask:
        """The tools whose name a tool of an earlier tier has."""
        left_out = np.zeros(len(self._names), bool)
        above = np.zeros(len(self._names), bool)
        for tier in self._tiers:
            chosen = [position for position, (own, _) in entered.items() if own is tier]
            above |= tier.members
            left_out |= ~above & np.isin(self._names, self._names[chosen])
        return left_out
