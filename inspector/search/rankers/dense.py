"""Intent-Schema Overlap (Tool Attention, section 4.2, equation 5): the cosine of a query and a tool's text.

`iso` compares with the tool's line in the summary pool, as published; `dense` with everything it says of
itself.
"""

import numpy as np

from inspector.core.ranking import Part, Score, Signal
from inspector.search.document import SUMMARY
from inspector.search.index import ToolIndex
from inspector.search.rankers.ranker import Ranking, Scores
from inspector.search.rankers.ranker_list import DENSE, ISO

# From appendix A.1 of the paper. It does not transfer to other catalogs: calibrate it.
THRESHOLD = 0.28
NOT_EMBEDDED = "no tool is embedded yet, so there are no cosines"
NO_LINES = "summary lines are not embedded, so whole descriptions are compared"


class DenseRanker:
    """Keeps tools whose cosine with the query reaches `threshold` (equation 6)."""

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
            nothing = np.zeros(len(self._index.tools))
            return Ranking(nothing, nothing > 0, self._nothing, note=NOT_EMBEDDED)
        if self._lines:
            found = self._index.line_similarities(vector)
        else:
            found = self._index.similarities(vector)[SUMMARY]
        cosines = np.nan_to_num(found, nan=0.0)
        kept = cosines >= self.threshold

        def explain(position: int) -> Score:
            return self._explain(position, cosines)

        return Ranking(cosines, kept, explain, note=self._note, similarity=cosines)

    def _nothing(self, position: int) -> Score:
        return Score(self._index.tools[position].id, 0.0)

    def _explain(self, position: int, cosines: Scores) -> Score:
        value = float(cosines[position])
        term = "summary line" if self._lines else "summary"
        part = Part(Signal.SEMANTIC, term, value, {"cosine": value, "threshold": self.threshold})
        return Score(self._index.tools[position].id, value, (part,))
