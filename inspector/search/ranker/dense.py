"""Rankers of cosines: plain, fused with words by rank, and of servers first."""

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np
from msgspec import Struct

from inspector.core.ranking import Part, Score, Signal
from inspector.core.tool import Tool
from inspector.search.index.document import SUMMARY
from inspector.search.index.tool_index import ToolIndex, unembedded, words_alone
from inspector.search.ranker.bm25 import Bm25Ranker
from inspector.search.ranker.query_fusion import ServerPrior
from inspector.search.ranker.ranker import Ranker, Ranking, Scores
from inspector.search.ranker.ranker_list import DENSE, ISO

# From appendix A.1 of the paper. It does not transfer to other catalogs: calibrate it.
THRESHOLD = 0.28
NO_LINES = "summary lines are not embedded, so whole descriptions are compared"


class DenseRanker:
    """Keeps tools whose cosine with the query reaches `threshold` (equation 6).

    Intent-Schema Overlap (Tool Attention, section 4.2, equation 5): `iso` compares with the tool's line in
    the summary pool, as published; `dense` with everything it says of itself.
    """

    def __init__(
        self, index: ToolIndex, *, threshold: float = THRESHOLD, lines: bool = False, name: str = ""
    ) -> None:
        """With `lines` it compares with summary lines, if the index has them."""
        self.name = name or (ISO if lines else DENSE)
        self.threshold = threshold
        self._index = index
        self._lines = lines and index.lined
        self._note = NO_LINES if lines and not index.lined else ""

    def terms(self, query: str) -> tuple[str, ...]:  # noqa: ARG002 - compares meaning, not words
        return ()

    def rank(self, query: str) -> Ranking:
        vector = self._index.query_vector(query)
        if vector is None:
            nothing, why = np.zeros(len(self._index.tools)), unembedded(self._index)
            note = f"finds nothing: {why}" if why else ""
            return Ranking(nothing, nothing > 0, lambda n: Score(self._index.ids[n], 0.0), note=note)
        if self._lines:
            found = self._index.line_similarities(vector)
        else:
            found = self._index.similarities(vector)[SUMMARY]
        cosines = np.nan_to_num(found, nan=0.0)
        kept = cosines >= self.threshold

        def explain(position: int) -> Score:
            return self._explain(position, cosines)

        return Ranking(cosines, kept, explain, note=self._note, similarity=cosines)

    def _explain(self, position: int, cosines: Scores) -> Score:
        value = float(cosines[position])
        term = "summary line" if self._lines else "summary"
        part = Part(Signal.SEMANTIC, term, value, {"cosine": value, "threshold": self.threshold})
        return Score(self._index.ids[position], value, (part,))


# The paper's constant, which keeps a single first rank from deciding alone.
K = 60


class RrfRanker:
    """Adds up 1 / (60 + rank) over both rankers, for the tools that each of them returns."""

    name = "rrf"

    def __init__(self, index: ToolIndex, lexical: Bm25Ranker) -> None:
        self._index = index
        self._sources: tuple[Ranker, ...] = (lexical, DenseRanker(index, threshold=-1.0))

    def terms(self, query: str) -> tuple[str, ...]:
        return self._sources[0].terms(query)

    def rank(self, query: str) -> Ranking:
        rankings = [source.rank(query) for source in self._sources]
        ranks = [_ranks(ranking) for ranking in rankings]
        values = np.sum([np.where(rank > 0, 1 / (K + rank), 0.0) for rank in ranks], axis=0)
        note = "; ".join(filter(None, (ranking.note for ranking in rankings)))
        return Ranking(values, values > 0, lambda p: self._explain(p, values, ranks), note=note)

    def _explain(self, position: int, values: Scores, ranks: list[Scores]) -> Score:
        parts = tuple(
            Part(
                Signal.FUSION, source.name, 1 / (K + rank[position]), {"rank": float(rank[position]), "k": K}
            )
            for source, rank in zip(self._sources, ranks, strict=True)
            if rank[position] > 0
        )
        return Score(self._index.ids[position], float(values[position]), parts)


def _ranks(ranking: Ranking) -> Scores:
    """Each tool's rank from 1; 0 for tools that the ranker does not return."""
    order = np.array(ranking.order(), np.intp)
    ranks = np.zeros(len(order))
    ranks[order] = np.arange(1, len(order) + 1)
    return np.where(ranking.kept, ranks, 0.0)


# Servers first, then their tools (layered composition, layers 1 and 3; MCP-Zero's hierarchical routing).
#
# Stage 1 compares the query with each server's aggregate description (s), stage 2 with each tool (t).
# Similarities are cosines; without vectors they are BM25 scores as a share of the best one.
#
# `two-stage-product` is as published: stage 2 looks only at the tools of the servers that stage 1 chose and
# scores them (s * t) * max(s, t). The number of servers is that of the authors' code. `two-stage` is ours and
# chooses no servers: a tool's score is t plus a share of how well its server fits. A server whose description
# says little costs its tools some ranks, where a cut would lose them altogether.
SERVERS_KEPT = 5
SERVER_SHARE = 0.5


class _Similarities(Struct, frozen=True, dict=True):
    """The similarity of every tool, of every server, and of every tool's server."""

    tool: Scores
    server: Scores
    server_of_tool: Scores
    note: str = ""


class Stages:
    """What both rankers compare with a query over one index."""

    def __init__(self, index: ToolIndex, lexical: Bm25Ranker, prior: ServerPrior) -> None:
        self.ids = index.ids
        self.prior = prior
        self._index = index
        self._lexical = lexical

    def terms(self, query: str) -> tuple[str, ...]:
        return self._lexical.terms(query) if not self._index.is_semantic else ()

    def compare(self, query: str, server_query: str = "") -> _Similarities:
        """Compare tools with the query, and servers with theirs or with the same."""
        server_query = server_query if server_query.strip() else query
        vector, server_vector = self._index.query_vector(query), self._index.query_vector(server_query)
        if vector is None or server_vector is None:
            tools = _of_best(self._lexical.rank(query).values)
            servers = _of_best(self._server_lexical.rank(server_query).values)
            note = words_alone(self._index)
        else:
            tools = np.nan_to_num(self._index.similarities(vector)[SUMMARY], nan=0.0).clip(min=0.0)
            servers = np.nan_to_num(self._index.server_similarities(server_vector), nan=0.0).clip(min=0.0)
            note = ""
        return _Similarities(tools, servers, servers[self.prior.server_of], note)

    @cached_property
    def _server_lexical(self) -> Bm25Ranker:
        """BM25 over one document per server."""
        texts = self._index.server_texts.items()
        return Bm25Ranker(ToolIndex([Tool(server, server, text) for server, text in texts]))


class _Staged(ABC):
    """A ranker that looks at servers, too."""

    def __init__(self, stages: Stages) -> None:
        self._stages = stages
        self.terms = stages.terms

    def rank(self, query: str) -> Ranking:
        return self.rank_on("", query)

    @abstractmethod
    def rank_on(self, server_query: str, query: str) -> Ranking:
        """Rank tools for a query, and servers for another; without one for the query itself."""


class TwoStageRanker(_Staged):
    """Adds to each tool's similarity a share of how well its server fits; every tool is a candidate.

    A server's fit is the mean of two: the similarity of its description, and that of its three best tools. A
    server alone finds no tool: one that is not similar itself scores nothing and is not kept.
    """

    name = "two-stage"

    def __init__(self, stages: Stages) -> None:
        super().__init__(stages)
        # The same for all tools of one server, it would only lift every score.
        self._share = SERVER_SHARE if stages.prior.is_informative else 0.0

    def rank_on(self, server_query: str, query: str) -> Ranking:
        found = self._stages.compare(query, server_query)
        best_tools = self._stages.prior.best_three(found.tool)
        fit = (found.server_of_tool + best_tools) / 2
        kept = found.tool > 0
        values = np.where(kept, found.tool + self._share * fit, 0.0)

        def explain(position: int) -> Score:
            own = float(found.tool[position])
            parts = [Part(Signal.SEMANTIC, "tool", own, {"tool": own})] if kept[position] else []
            if kept[position] and self._share:
                inputs = {
                    "best 3": float(best_tools[position]),
                    "text": float(found.server_of_tool[position]),
                    "share": self._share,
                }
                parts.append(Part(Signal.SERVER, "server", self._share * float(fit[position]), inputs))
            return Score(self._stages.ids[position], float(values[position]), tuple(parts))

        return Ranking(values, kept, explain, note=found.note, similarity=found.tool)


class TwoStageProductRanker(_Staged):
    """Multiplies the similarities of a tool and its server; keeps the tools of the best servers."""

    name = "two-stage-product"

    def rank_on(self, server_query: str, query: str) -> Ranking:
        found = self._stages.compare(query, server_query)
        s, t = found.server_of_tool, found.tool
        values = s * t * np.maximum(s, t)
        chosen = np.argsort(-found.server, kind="stable")[:SERVERS_KEPT]
        kept = np.isin(self._stages.prior.server_of, chosen) & (t > 0)

        def explain(position: int) -> Score:
            value = float(values[position])
            inputs = {"server": float(s[position]), "tool": float(t[position])}
            part = Part(Signal.SEMANTIC, "(s * t) * max(s, t)", value, inputs)
            return Score(self._stages.ids[position], value, (part,))

        return Ranking(values, kept, explain, note=found.note, similarity=found.tool)


def _of_best(values: Scores) -> Scores:
    best = float(values.max(initial=0.0))
    return values / best if best > 0 else values
