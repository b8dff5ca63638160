"""What past requests add to the tools that were called after them.

    bonus  =  0.3 * (cosine - 0.6) / 0.4      if the cosine is above 0.6

with the cosine of the query and the closest past request of the tool. Nothing is standardized over the tools
that were called, and nothing is ever subtracted: the score of a tool without past requests stays as it is.

0.3 is a third of the deviation of a query's scores. That decides between tools that are close to each other
and brings none from far below. From 0.5 on, tools that nobody has called yet are found less often in some
published set, and at 1 the first place is lost to tools with a past (`tests/benchmark/learn.py`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from inspector.core.ranking import ASKED_BEFORE, Part, Score, Signal
from inspector.search.document import key_of
from inspector.search.history import PastRequests
from inspector.search.index import ToolIndex
from inspector.search.query.parsed import parse
from inspector.search.rankers.ranker import Ranking
from inspector.search.vector_table import ABSENT

WEIGHT, FLOOR = 0.3, 0.6
# A longer request is not quoted.
_MOST_QUOTED = 60


@dataclass(frozen=True, slots=True)
class Closest:
    """The past request of a tool that is closest to a query."""

    text: str
    cosine: float
    requests: int

    @property
    def bonus(self) -> float:
        return WEIGHT * min((self.cosine - FLOOR) / (1 - FLOOR), 1.0)

    @property
    def part(self) -> Part:
        quoted = f"{ASKED_BEFORE}: “{self.text}”" if len(self.text) <= _MOST_QUOTED else ASKED_BEFORE
        inputs = {
            "cosine": self.cosine,
            "past requests": float(self.requests),
            "weight": WEIGHT,
            "floor": FLOOR,
        }
        return Part(Signal.HISTORY, quoted, self.bonus, inputs)


class AskedBefore:
    """Adds to the scores of one catalog's tools what their past requests say."""

    def __init__(self, index: ToolIndex, past: PastRequests) -> None:
        self._index = index
        self._past = past
        known = [(index.position[tool], text) for tool, text in past.of(index.position)]
        rows = past.vectors.rows(key_of(text) for _position, text in known)
        there = np.flatnonzero(rows != ABSENT)
        self._rows = rows[there]
        self._known = [known[number] for number in there]

    def added(self, base: Ranking, query: str) -> Ranking:
        """The ranking with what was asked before; the same one if that is nothing like the query."""
        if self._past.problem:
            note = f"past requests ignored: {self._past.problem}"
            return replace(base, note="; ".join(filter(None, (base.note, note))))
        found = self._closest(query)
        if not found:
            return base
        values = base.values.copy()
        for position, closest in found.items():
            values[position] += closest.bonus

        def explain(position: int) -> Score:
            score = base.explain(position)
            if position not in found:
                return score
            return Score(score.tool_id, float(values[position]), (*score.parts, found[position].part))

        kept = base.kept.copy()
        kept[[position for position in found if values[position] > 0]] = True
        return replace(base, values=values, kept=kept, explain=explain)

    def _closest(self, query: str) -> Mapping[int, Closest]:
        """By position, the closest past request of each tool that has one above FLOOR."""
        vector = self._index.query_vector(parse(query).wordings[0]) if self._known else None
        if vector is None:
            return {}
        cosines = self._past.vectors.similarity(vector)[self._rows]
        found: dict[int, Closest] = {}
        for number in np.flatnonzero(cosines > FLOOR):
            position, text = self._known[number]
            cosine = float(cosines[number])
            if position not in found or cosine > found[position].cosine:
                tool = self._index.tools[position].id
                found[position] = Closest(text, cosine, len(self._past.texts[tool]))
        return found
