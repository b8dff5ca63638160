"""How close texts are to tools: cosines of sentence vectors and of TF-IDF. Each text is embedded once."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inspector.search.embedding import BATCH
from inspector.search.ports import Embedder
from inspector.search.term import terms

Matrix = NDArray[np.float64]


class KnownVectors:
    """An Embedder with a memory: it embeds no text twice."""

    def __init__(self, embedder: Embedder) -> None:
        self.name = embedder.name
        self._embedder = embedder
        self._known: dict[str, Sequence[float]] = {}

    def prepare(self, progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> None:
        self._embedder.prepare(progress, cancelled)

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """One unit vector per text, in order. Raises ModelError."""
        self.learn(texts)
        return [self._known[text] for text in texts]

    def words(self) -> Sequence[str]:
        """See `Embedder`."""
        return self._embedder.words()

    def learn(
        self,
        texts: Iterable[str],
        progress: Callable[[int, int], None] = lambda _done, _total: None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Embed the texts that are not known yet; false if it was stopped early. Raises ModelError."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        for start in range(0, len(missing), BATCH):
            if stopped():
                return False
            batch = missing[start : start + BATCH]
            self._known.update(zip(batch, self._embedder.embed(batch), strict=True))
            progress(start + len(batch), len(missing))
        return True


@dataclass(frozen=True)
class Ranked:
    """For each text, the tools from the closest down, and their similarities in that order."""

    by_text: Mapping[str, tuple[Sequence[str], Sequence[float]]]

    def active(
        self, text: str, threshold: float, top_k: int, closed: frozenset[str] = frozenset()
    ) -> list[str]:
        """The first `top_k` tools of at least `threshold` that are not closed (section 4.2, equation 7)."""
        active: list[str] = []
        for tool_id, score in zip(*self.by_text[text], strict=True):
            if score < threshold or len(active) == top_k:
                break
            if tool_id not in closed:
                active.append(tool_id)
        return active


def ranked(scores: Matrix, texts: Sequence[str], ids: Sequence[str]) -> Ranked:
    """Rank the tools by similarities of shape (texts, tools); ties keep the tools' order."""
    orders = np.argsort(-scores, axis=1, kind="stable")
    return Ranked(
        {
            text: ([ids[int(i)] for i in order], row[order].tolist())
            for text, order, row in zip(texts, orders, scores, strict=True)
        }
    )


def cosines(embedder: Embedder, texts: Sequence[str], passages: Sequence[str]) -> Matrix:
    """The cosine of every text with every passage, shape (texts, passages). Raises ModelError."""
    first, second = (np.asarray(embedder.embed(side), np.float64) for side in (texts, passages))
    return np.asarray(first @ second.T)


def tf_idf(texts: Sequence[str], passages: Sequence[str]) -> Matrix:
    """Cosines of TF-IDF vectors, shape (texts, passages): tf (1 + ln N/df), df over the passages."""
    split = [Counter(terms(passage)) for passage in passages]
    frequency = Counter(term for counts in split for term in counts)
    column = {term: number for number, term in enumerate(frequency)}
    weights = np.array([1 + math.log(len(passages) / count) for count in frequency.values()])
    asked = _unit([Counter(terms(text)) for text in texts], column, weights)
    return np.asarray(asked @ _unit(split, column, weights).T)


def _unit(rows: Sequence[Counter[str]], column: Mapping[str, int], weights: Matrix) -> Matrix:
    """Unit rows of weighted counts; a row without a known term is zero."""
    table = np.zeros((len(rows), len(column)))
    for row, counts in zip(table, rows, strict=True):
        for term, count in counts.items():
            if term in column:
                row[column[term]] = count * weights[column[term]]
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    return table / np.where(lengths > 0, lengths, 1.0)
