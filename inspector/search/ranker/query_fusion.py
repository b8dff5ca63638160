"""What is known of one text for every tool: the signals behind a score."""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from inspector.core.ranking import Part, Score, Signal
from inspector.search.index.query import MANY_STEPS, ParsedQuery, many_steps
from inspector.search.index.tool_index import ToolIndex
from inspector.search.ranker.fusion import Evidence, FusionRanker
from inspector.search.ranker.ranker import Ranking, Scores

_BEST_TOOLS = 3


class ServerPrior:
    """The servers of one index as groups of tools; what each group has in common is computed per query."""

    def __init__(self, index: ToolIndex) -> None:
        self.server_of = index.server_of
        # The tools of a server lie next to each other in this order, the servers in that of the index.
        self._order = np.argsort(self.server_of, kind="stable")
        self._sizes = np.bincount(self.server_of, minlength=len(index.servers))
        self._starts = np.cumsum(self._sizes) - self._sizes

    @property
    def is_informative(self) -> bool:
        """Whether there is more than one server, so that servers can distinguish tools."""
        return len(self._sizes) > 1

    def best_three(self, values: Scores) -> Scores:
        """For each tool the mean of the three best values of its server, or of all if it has fewer tools.

        The values have to be finite. Only values count, not their order: equal ones are interchangeable.
        """
        if not len(values):
            return np.zeros(0)
        left = values[self._order]
        total = np.zeros(len(self._sizes))
        for taken in range(_BEST_TOOLS):
            best = np.maximum.reduceat(left, self._starts)
            total += np.where(self._sizes > taken, best, 0.0)
            left[self._first(left == np.repeat(best, self._sizes))] = -np.inf
        mean: Scores = total / np.minimum(self._sizes, _BEST_TOOLS)
        return mean[self.server_of]

    def _first(self, is_best: NDArray[np.bool_]) -> NDArray[np.intp]:
        """The first marked place of each server; every server has one."""
        marked = np.flatnonzero(is_best)
        first: NDArray[np.intp] = marked[np.searchsorted(marked, self._starts)]
        return first


# The fusion over a whole query: both its wordings, its steps, and the servers that fit it.
#
#     score  =  (1 - s) * mean of the wordings' scores  +  s * the best step's score  +  0.1 * server
#
# Literals mislead by what they are about, so the wording without them counts half. A query of n steps is
# also ranked step by step, with s = 0.1 n and at most 0.5: the mean of a long query's meanings is close to
# none of its tools. A text of MANY_STEPS or more is not embedded itself, its vector is the mean of theirs.
# `server` is the mean of the scores of a server's three best tools: siblings that fit count.
SERVER_PRIOR = "siblings that fit"


class QueryWeights(Struct, frozen=True):
    """The share of the steps for each of them and at most, and of the server's best tools.

    Without `literals` both wordings are one.
    """

    step: float = 0.1
    steps_at_most: float = 0.5
    server: float = 0.1
    literals: bool = True

    def steps(self, count: int) -> float:
        """The share of the best step of `count`."""
        return min(self.step * count, self.steps_at_most) if count > 1 else 0.0


class QueryEvidence(Struct, frozen=True, dict=True):
    """What is known of each text of a query."""

    parsed: ParsedQuery
    of: dict[str, Evidence]

    @property
    def whole(self) -> Evidence:
        return self.of[self.parsed.wordings[0]]


class _Scores(Struct, frozen=True, dict=True):
    """The score of each tool and what it was made of; `steps` of shape (steps, tools)."""

    values: Scores
    wordings: Sequence[str]
    steps: Scores
    share: float
    server: Scores


class QueryFusion:
    """Ranks the tools for a query of any number of steps."""

    def __init__(
        self, index: ToolIndex, fusion: FusionRanker, prior: ServerPrior, weights: QueryWeights | None = None
    ) -> None:
        self._index = index
        self._fusion = fusion
        self._prior = prior
        self._weights = weights or QueryWeights()

    def evidence(self, parsed: ParsedQuery) -> QueryEvidence:
        """The signals of a query's wordings, steps and clauses."""
        texts = dict.fromkeys((*parsed.wordings, *parsed.steps, *(clause.text for clause in parsed.clauses)))
        # No text has more steps than the query.
        long = [text for text in texts if text not in parsed.steps] if len(parsed.steps) >= MANY_STEPS else []
        return QueryEvidence(parsed, dict(zip(texts, self._evidence(list(texts), long), strict=True)))

    def evidence_of(self, text: str) -> Evidence:
        """The signals of one text."""
        return self._evidence([text], [text])[0]

    def _evidence(self, texts: Sequence[str], long: Sequence[str]) -> list[Evidence]:
        """`long` are the texts that may have many steps."""
        return self._fusion.evidence(texts, {text: steps for text in long if (steps := many_steps(text))})

    def ranking(self, evidence: QueryEvidence) -> Ranking:
        """The scores that follow from the evidence; by words alone only those of the query as it is."""
        whole = self._fusion.ranking(evidence.whole)
        if evidence.whole.is_lexical:
            return whole
        scores = self._scores(evidence)
        kept = whole.kept | (scores.values > 0)
        return Ranking(scores.values, kept, lambda at: self._explain(at, scores, evidence), note=whole.note)

    def _scores(self, evidence: QueryEvidence) -> _Scores:
        parsed = evidence.parsed
        wordings = parsed.wordings if self._weights.literals else parsed.wordings[:1]
        values = evidence.of[wordings[0]].values
        if len(wordings) > 1:
            values = np.mean([evidence.of[text].values for text in wordings], axis=0)
        share = self._weights.steps(len(parsed.steps))
        steps = np.zeros((0, len(values)))
        if share:
            steps = np.stack([evidence.of[text].values for text in parsed.steps])
            values = (1 - share) * values + share * steps.max(axis=0)
        server = np.zeros(len(values))
        if self._weights.server and self._prior.is_informative:
            server = self._weights.server * self._prior.best_three(values)
        return _Scores(values + server, wordings, steps, share, server)

    def _explain(self, position: int, scores: _Scores, evidence: QueryEvidence) -> Score:
        """The parts of the wordings, one for the best step and one for the server."""
        share = (1 - scores.share) / len(scores.wordings)
        wordings = [evidence.of[text] for text in scores.wordings]
        parts = (*self._fusion.parts(position, wordings, share), *self._others(position, scores, evidence))
        return Score(self._index.ids[position], float(scores.values[position]), parts)

    def _others(self, position: int, scores: _Scores, evidence: QueryEvidence) -> list[Part]:
        """The parts that no single text has."""
        parts = []
        if scores.share:
            best = int(scores.steps[:, position].argmax())
            step = float(scores.steps[best, position])
            inputs = {"score": step, "share": scores.share, "step": best + 1, "steps": len(scores.steps)}
            parts.append(Part(Signal.STEP, evidence.parsed.steps[best], scores.share * step, inputs))
        if scores.server[position]:
            server = float(scores.server[position])
            inputs = {"mean of three": server / self._weights.server, "weight": self._weights.server}
            parts.append(Part(Signal.SERVER, SERVER_PRIOR, server, inputs))
        return parts
