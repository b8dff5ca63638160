"""What is known of one text for every tool: the signals behind a score."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from inspector.search.document import PASSAGES, TEXTS
from inspector.search.rankers.bm25 import Asked
from inspector.search.rankers.ranker import Mask, Ranking, Scores
from inspector.search.rankers.standardised import Standardised

STATIC, SUMMARY_TERM, BEST = "static vectors", "summary", "best passage"


@dataclass(frozen=True, slots=True)
class Words:
    """What one list of words says of a text: its terms, its ranking, and its scores standardized."""

    asked: Asked
    ranking: Ranking
    scores: Standardised


@dataclass(frozen=True)
class Evidence:
    """The signals of one text for all tools, and the score of each tool, the sum of them.

    `cosines` are by name, those of the model only where it was asked: `passages` are all of its cosines, of
    shape (passages, tools), NaN for what is not embedded yet. `absent` marks the tools that are not embedded
    yet; None if all are.
    """

    words: tuple[Words, ...]
    cosines: Mapping[str, Standardised]
    values: Scores
    passages: NDArray[np.float32] | None = None
    absent: Mask | None = None

    @property
    def best(self) -> Standardised | None:
        return self.cosines.get(BEST)

    @property
    def is_lexical(self) -> bool:
        return not self.cosines

    @cached_property
    def text_cosine(self) -> Scores | None:
        """The mean cosine of a tool's texts (without parameters), 0 if they are not embedded."""
        if self.passages is None:
            return None
        mean: Scores = self.passages[TEXTS].mean(axis=0, dtype=np.float64)
        return mean if self.absent is None else np.nan_to_num(mean)

    def is_absent(self, positions: Sequence[int]) -> list[bool]:
        """Whether these tools are not embedded yet."""
        if self.absent is None:
            return [False] * len(positions)
        absent: list[bool] = self.absent[positions].tolist()
        return absent

    def best_passages(self, positions: Sequence[int]) -> list[str]:
        """The passage of each of these tools that has the highest cosine."""
        if self.passages is None:
            return [""] * len(positions)
        known = self.passages[:, positions]
        return [PASSAGES[number] for number in np.where(np.isnan(known), -np.inf, known).argmax(axis=0)]
