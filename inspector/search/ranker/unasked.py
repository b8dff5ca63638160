"""Tools that destroy or end something come last among equals, unless that is asked for."""

from collections.abc import Sequence
from itertools import chain

import numpy as np
from msgspec.structs import replace

from inspector.core.ranking import Part, Score, Signal
from inspector.core.tool import destroying_verb
from inspector.search.index.query import asking, asks_for
from inspector.search.index.tool_index import ToolIndex
from inspector.search.ranker.ranker import Ranking

# What a tool loses that nobody asks for, in units of the fusion's score: a single signal can't make it first,
# several can.
UNASKED = 0.3


class Unasked:
    """The tools of one index that destroy or end something, by the verb that says so."""

    def __init__(self, index: ToolIndex) -> None:
        self._tools = index.tools
        self._by_verb: dict[str, list[int]] = {}
        for position in np.flatnonzero(index.destroys).tolist():
            self._by_verb.setdefault(destroying_verb(index.tools[position]), []).append(position)

    def last(self, base: Ranking, query: str) -> Ranking:
        """The ranking with UNASKED subtracted from each of these tools that the query does not ask for."""
        # What is merely told (“the parcel has gone out”) asks for nothing.
        asked = asking(query) or query
        positions = list(chain.from_iterable(self._positions(asked, verb) for verb in self._by_verb))
        if not positions:
            return base
        values, unasked = base.values.copy(), frozenset(positions)
        values[positions] -= UNASKED

        def explain(position: int) -> Score:
            score = base.explain(position)
            if position not in unasked:
                return score
            part = Part(Signal.UNASKED, destroying_verb(self._tools[position]), -UNASKED)
            return Score(score.tool_id, float(values[position]), (*score.parts, part))

        return replace(base, values=values, explain=explain)

    def _positions(self, asked: str, verb: str) -> Sequence[int]:
        """The tools with this verb that nobody asks for."""
        positions = self._by_verb[verb]
        # Where no word asks for the verb, the words of names, which count for nothing, need no look.
        if not asks_for(asked, "", verb):
            return positions
        return [position for position in positions if not asks_for(asked, self._tools[position].name, verb)]
