"""Finds confusable tools: pairs that a search or a model may mistake for one another."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import combinations, islice

import numpy as np
from numpy.typing import NDArray

from inspector.core.ranking import Answer, Hit, Outcome, SearchRequest
from inspector.core.summary_pool import first_sentence
from inspector.core.tool import Tool
from inspector.search.document import MAX_EMBEDDED
from inspector.search.explanation.closeness import CLOSE, Closeness
from inspector.search.explanation.standing import Standings, position_of
from inspector.search.index import ToolIndex
from inspector.search.rankers.catalog_rankers import CatalogRankers
from inspector.search.rankers.ranker import ranking_for
from inspector.search.rules import Places, SearchRules
from inspector.search.vocabulary import split_words

# Without vectors, the weighted Jaccard index of the terms from which two tools count as close.
ALIKE = 0.5
SHARED_TERMS = 8
# Cosines held at once: 32 MB.
_CELLS = 4_000_000
# Without vectors only tools that share a rare term are compared, in at most this many pairs.
_RARE, _RARE_SHARE, _PAIRS = 8, 50, 100_000

_Pair = tuple[int, int]


class Reason(StrEnum):
    """Why two tools are confusable; the first reason that holds."""

    SAME_NAME = "same name on two servers"
    MEANING = "close in meaning"
    WORDS = "the same words"


@dataclass(frozen=True, slots=True)
class Confusable:
    """Two confusable tools in catalog order.

    `closeness` (0 to 1) is the cosine of their summaries, or their weighted Jaccard index if `cosine` is
    None. `shared` holds at most SHARED_TERMS terms that both have, highest idf first.
    """

    first: str
    second: str
    reason: Reason
    closeness: float
    cosine: float | None
    shared: tuple[str, ...]


def confusables(index: ToolIndex, *, limit: int = 50) -> tuple[Confusable, ...]:
    """Pairs of confusable tools, closest first, equally close ones in catalog order.

    If there are more than `limit` pairs, tools with the same name on different servers are chosen first,
    however different they are; then pairs with a cosine of at least CLOSE, or without vectors a Jaccard index
    of at least ALIKE.
    """
    limit = max(limit, 0)
    closeness = Closeness(index)
    pairs = _by_meaning(closeness, limit) if index.is_semantic else _by_words(index, closeness, limit)
    named, others = pairs
    chosen = [*((pair, True) for pair in named), *((pair, False) for pair in others)][:limit]
    entries = [(pair, _confusable(index, closeness, pair, same)) for pair, same in chosen]
    ordered = sorted(entries, key=lambda entry: (-entry[1].closeness, entry[0]))
    return tuple(confusable for _, confusable in ordered)


def own_words(tool: Tool) -> str:
    """The first sentence of a tool's description, or the words of its name without one."""
    sentence = first_sentence(tool.description.strip()[:MAX_EMBEDDED])
    return sentence or " ".join(split_words(tool.name)) or tool.name


def _confusable(index: ToolIndex, closeness: Closeness, pair: _Pair, same_name: bool) -> Confusable:
    first, second = pair
    cosine = float(closeness.cosines(slice(first, first + 1), slice(second, second + 1))[0, 0])
    known = not np.isnan(cosine)
    reason = Reason.SAME_NAME if same_name else Reason.MEANING if known else Reason.WORDS
    return Confusable(
        first=index.tools[first].id,
        second=index.tools[second].id,
        reason=reason,
        closeness=min(max(cosine, 0.0), 1.0) if known else closeness.jaccard(first, second),
        cosine=cosine if known else None,
        shared=closeness.shared(first, second)[:SHARED_TERMS],
    )


def _by_meaning(closeness: Closeness, limit: int) -> tuple[list[_Pair], list[_Pair]]:
    """The closest `limit` pairs with the same name, and of the others, by blocks of the upper triangle."""
    size = len(closeness.names)
    height = max(1, _CELLS // max(size, 1))
    named, others = _Closest(limit), _Closest(limit)
    for start in range(0, size, height):
        rows, columns = slice(start, start + height), slice(start, size)
        cosines = np.nan_to_num(closeness.cosines(rows, columns), nan=0.0).clip(0.0, 1.0)
        later = np.arange(cosines.shape[1])[None, :] > np.arange(cosines.shape[0])[:, None]
        same = closeness.same_name(rows, columns)
        named.add(cosines, later & same, start)
        others.add(cosines, later & ~same & (cosines >= CLOSE), start)
    return named.pairs(), others.pairs()


class _Closest:
    """Keeps the closest pairs of those added; equally close ones by position."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._values: NDArray[np.float64] = np.zeros(0)
        self._positions: NDArray[np.intp] = np.zeros((0, 2), np.intp)

    def add(self, values: NDArray[np.float64], wanted: NDArray[np.bool_], start: int) -> None:
        """Add a block of pairs whose first row and column are both `start`."""
        positions = np.argwhere(wanted) + start
        self._values = np.concatenate([self._values, values[wanted]])
        self._positions = np.concatenate([self._positions, positions])
        best = self._best()
        self._values, self._positions = self._values[best], self._positions[best]

    def pairs(self) -> list[_Pair]:
        return [(int(first), int(second)) for first, second in self._positions]

    def _best(self) -> NDArray[np.intp]:
        values, limit = self._values, self._limit
        candidates = np.arange(len(values))
        if 0 < limit < len(values):
            # Of a million equally close pairs only the first few are considered.
            last = np.partition(values, -limit)[-limit]
            ties = np.flatnonzero(values == last)[:limit]
            candidates = np.sort(np.concatenate([np.flatnonzero(values > last), ties]))
        return candidates[np.argsort(-values[candidates], kind="stable")][:limit]


def _by_words(index: ToolIndex, closeness: Closeness, limit: int) -> tuple[list[_Pair], list[_Pair]]:
    """The closest `limit` pairs with the same name, and of others with a rare term in common, by Jaccard."""
    named = set(islice(_same_names(closeness), _PAIRS))
    others = set(islice(_sharing_a_rare_term(index), _PAIRS)) - named
    measured = {pair: closeness.jaccard(*pair) for pair in (*named, *others)}

    def closest(pairs: set[_Pair]) -> list[_Pair]:
        return sorted(pairs, key=lambda pair: (-measured[pair], pair))[:limit]

    return closest(named), closest({pair for pair in others if measured[pair] >= ALIKE})


def _same_names(closeness: Closeness) -> Iterator[_Pair]:
    groups: defaultdict[int, list[int]] = defaultdict(list)
    for position, name in enumerate(closeness.names.tolist()):
        groups[name].append(position)
    servers = closeness.servers
    for group in groups.values():
        yield from (pair for pair in combinations(group, 2) if servers[pair[0]] != servers[pair[1]])


def _sharing_a_rare_term(index: ToolIndex) -> Iterator[_Pair]:
    """Pairs of tools that share a rare term, rarest terms first; a pair repeats for each such term."""
    postings = index.postings
    most = max(_RARE, len(index.tools) // _RARE_SHARE)
    spans = [postings.span(number) for number in index.vocabulary.values()]
    rare = [span for span in spans if 2 <= span.stop - span.start <= most]
    for span in sorted(rare, key=lambda span: (span.stop - span.start, span.start)):
        yield from combinations(postings.documents[span].tolist(), 2)


@dataclass(frozen=True)
class Verdict:
    """A request over ranked tools; `standings` are the ranks for its query."""

    rankers: CatalogRankers
    request: SearchRequest
    standings: Standings
    rules: SearchRules

    @property
    def answer(self) -> Answer:
        """What the search may say at most; a lookup by name, server or tags is sure."""
        return Answer.FOUND if self.is_lookup else self.rules.answer(self.standings.ranking)

    @property
    def told(self) -> Answer:
        """What the search says in the end: nothing, where no result is left."""
        return self.answer if self.results else Answer.NOTHING

    @property
    def is_lookup(self) -> bool:
        """Whether names, server or tags alone answer the request, without a ranking."""
        return bool(self.named) or not self.request.query.strip()

    @cached_property
    def named(self) -> tuple[int, ...]:
        """The positions of the tools that the request names."""
        find, server = self.rankers.names.find, self.request.server_name
        tools = [tool for name in self.request.tool_names for tool in find(name, server=server)]
        return tuple(dict.fromkeys(self.rankers.index.position[tool.id] for tool in tools))

    @cached_property
    def matches(self) -> tuple[int, ...]:
        """The positions that the request could return without limit and threshold, best first."""
        tools = self.rankers.index.tools
        if self.request.is_empty or (self.is_lookup and self.request.tool_names):
            return self.named
        pool = range(len(tools)) if self.is_lookup else self.standings.kept()
        return tuple(p for p in pool if self.rules.outside(tools[p], self.request) is None)

    @cached_property
    def results(self) -> tuple[int, ...]:
        """The positions of the results; if the answer is `nothing`, of what they would have been."""
        return tuple(position for position, refused in self._placed.items() if refused is None)

    @cached_property
    def _placed(self) -> Mapping[int, Outcome | None]:
        """Of each match why it is no result, or None if it is one."""
        if self.is_lookup:
            return dict.fromkeys(self.matches)
        places, tools = Places(self.rules, self.standings.ranking), self.rankers.index.tools
        query = self.standings.ranking.read or self.request.query
        return {
            position: Outcome.WITHHELD
            if places.end is None and self.rules.withholds(tools[position], query, self.answer)
            else places.take(tools[position], position)
            for position in self.matches
        }

    def rivals(self, tool: Tool) -> Sequence[str]:
        """The matches that compete with a tool for a place, itself included, best first."""
        matches = [self.rankers.index.tools[position].id for position in self.matches]
        is_pinned = tool.id in self.rules.pinned
        return [tool_id for tool_id in matches if (tool_id in self.rules.pinned) is is_pinned]

    def missing_tags(self, tool: Tool) -> tuple[str, ...]:
        """The tags of the request that the tool does not have."""
        return self.rules.tags.missing(tool, self.request.tags)

    def cut(self, position: int) -> Outcome | None:
        """Why a tool is not returned, or None if it is; in a lookup, an unnamed tool is below the floor."""
        if position in self._placed:
            return Outcome.NOTHING_FITS if self.answer is Answer.NOTHING else self._placed[position]
        outside = self.rules.outside(self.rankers.index.tools[position], self.request)
        if outside is not None or self.is_lookup:
            return outside or Outcome.BELOW_FLOOR
        return self.rules.missed(self.standings.ranking, position)

    def rival(self, position: int) -> int | None:
        """The result directly before this one; for a tool that is not a result, the last result."""
        results = self.results
        if self.is_lookup or not results:
            return None
        if position not in results:
            return results[-1]
        index = results.index(position)
        return results[index - 1] if index else None


def hit_of(
    rankers: CatalogRankers, ranker_name: str, request: SearchRequest, tool_id: str, rules: SearchRules
) -> Hit:
    """One tool's line of a search report, however far down. Raises ToolsightError for an unknown tool."""
    position = position_of(rankers.index, tool_id)
    request = rankers.names.resolved(request)
    ranking = ranking_for(rankers.get(ranker_name), request)
    verdict = Verdict(rankers, request, Standings(ranking, rules.likely(ranking, request)), rules)
    cut = verdict.cut(position)
    found = Outcome.CLOSEST if verdict.answer is Answer.CLOSEST else Outcome.FOUND
    return Hit(verdict.standings[position].rank, ranking.explain(position), cut or found)
