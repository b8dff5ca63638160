"""Intent-Schema Overlap (Tool Attention, section 4.2, equation 5): cosine of query and tool summary."""

import numpy as np

from inspector.domain.ranking import Part, Score, Signal
from inspector.engine.discovery.document import SUMMARY
from inspector.engine.discovery.index import ToolIndex
from inspector.engine.discovery.rankers.ranker import Ranking, Scores

# From appendix A.1 of the paper. It does not transfer to other catalogs: calibrate it.
THRESHOLD = 0.28
NOT_EMBEDDED = "no tool is embedded yet, so there are no cosines"


class DenseRanker:
    """Keeps tools whose cosine with the query reaches `threshold` (equation 6)."""

    name = "dense"

    def __init__(self, index: ToolIndex, *, threshold: float = THRESHOLD) -> None:
        self._index = index
        self.threshold = threshold

    def terms(self, query: str) -> tuple[str, ...]:  # noqa: ARG002 - compares meaning, not words
        return ()

    def rank(self, query: str) -> Ranking:
        vector = self._index.query_vector(query)
        if vector is None:
            nothing = np.zeros(len(self._index.tools))
            return Ranking(nothing, nothing > 0, self._nothing, note=NOT_EMBEDDED)
        cosines = np.nan_to_num(self._index.similarities(vector)[SUMMARY], nan=0.0)
        kept = cosines >= self.threshold
        return Ranking(cosines, kept, lambda position: self._explain(position, cosines))

    def _nothing(self, position: int) -> Score:
        return Score(self._index.tools[position].id, 0.0)

    def _explain(self, position: int, cosines: Scores) -> Score:
        value = float(cosines[position])
        part = Part(Signal.SEMANTIC, "summary", value, {"cosine": value, "threshold": self.threshold})
        return Score(self._index.tools[position].id, value, (part,))
