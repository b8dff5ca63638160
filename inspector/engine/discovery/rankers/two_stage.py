"""Selects servers first, then tools (layered composition, layers 1 and 3; MCP-Zero's hierarchical routing).

Stage 1 compares the query with each server's aggregate description, stage 2 with the tools of the best
servers. A tool's score is its own similarity t plus 1 if its server was chosen, or with `product` the
published (s * t) * max(s, t), where s is the server's similarity. Similarities are cosines; without vectors
they are BM25 scores as a share of the best one.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from inspector.domain.ranking import Part, Score, Signal
from inspector.domain.tool import Tool
from inspector.engine.discovery.document import SUMMARY
from inspector.engine.discovery.index import ToolIndex
from inspector.engine.discovery.rankers.bm25 import Bm25Ranker
from inspector.engine.discovery.rankers.ranker import Ranking, Scores

SERVERS_KEPT = 3


@dataclass(frozen=True)
class _Stages:
    """The similarity of every tool and of its server, and whether the server was chosen."""

    server: Scores
    tool: Scores
    chosen: NDArray[np.bool_]
    note: str = ""


class TwoStageRanker:
    """Ranks the tools of the `servers` best servers; other tools are not returned."""

    def __init__(
        self, index: ToolIndex, lexical: Bm25Ranker, *, servers: int = SERVERS_KEPT, product: bool = False
    ) -> None:
        self.name = "two-stage-product" if product else "two-stage"
        self._index = index
        self._lexical = lexical
        self._servers = servers
        self._product = product
        number = {server: i for i, server in enumerate(index.servers)}
        self._server_of = np.fromiter((number[tool.server] for tool in index.tools), np.intp)

    def terms(self, query: str) -> tuple[str, ...]:
        return self._lexical.terms(query) if not self._index.is_semantic else ()

    def rank(self, query: str) -> Ranking:
        stages = self._stages(query)
        if self._product:
            values = stages.server * stages.tool * np.maximum(stages.server, stages.tool)
        else:
            values = stages.tool + stages.chosen
        kept = stages.chosen & (stages.tool > 0)
        return Ranking(values, kept, lambda p: self._explain(p, values, stages), note=stages.note)

    def _stages(self, query: str) -> _Stages:
        if not self._index.tools:
            nothing = np.zeros(0)
            return _Stages(nothing, nothing, nothing > 0)
        vector = self._index.query_vector(query)
        if vector is None:
            tools = _share(self._lexical.rank(query).values)
            servers = _share(self._server_lexical.rank(query).values)
            note = "words only in both stages"
        else:
            tools = np.nan_to_num(self._index.similarities(vector)[SUMMARY], nan=0.0).clip(min=0.0)
            servers = np.nan_to_num(self._index.server_similarities(vector), nan=0.0).clip(min=0.0)
            note = ""
        best = np.argsort(-servers, kind="stable")[: self._servers]
        return _Stages(servers[self._server_of], tools, np.isin(self._server_of, best), note)

    @cached_property
    def _server_lexical(self) -> Bm25Ranker:
        """BM25 over one document per server."""
        texts = self._index.server_texts.items()
        return Bm25Ranker(ToolIndex([Tool(server, server, text) for server, text in texts]))

    def _explain(self, position: int, values: Scores, stages: _Stages) -> Score:
        s, t = float(stages.server[position]), float(stages.tool[position])
        inputs = {"server": s, "tool": t}
        value = float(values[position])
        if self._product:
            parts: tuple[Part, ...] = (Part(Signal.SEMANTIC, "(s * t) * max(s, t)", value, inputs),)
        else:
            chosen = bool(stages.chosen[position])
            server = (Part(Signal.SERVER, "server chosen", 1.0, inputs),) if chosen else ()
            parts = (*server, Part(Signal.SEMANTIC, "tool", t, inputs))
        return Score(self._index.tools[position].id, value, parts)


def _share(values: Scores) -> Scores:
    best = float(values.max(initial=0.0))
    return values / best if best > 0 else values
