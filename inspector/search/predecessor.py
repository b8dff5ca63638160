"""The index before a change, as far as the next one can use it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.search.document import Document
from inspector.search.vector_table import ABSENT


class Predecessor:
    """What an index takes over from the one before it, each once, and only what that one had made."""

    def __init__(
        self, made: dict[str, Any], documents: Sequence[Document], position: Mapping[str, int]
    ) -> None:
        self._made = made
        self._documents = documents
        self._position = position

    def take(self, name: str) -> Any:
        """What the index before had under that name, or None."""
        return self._made.pop(name, None)

    def rows(self, documents: Sequence[Document]) -> NDArray[np.intp]:
        """Where each document was in the index before, or ABSENT."""
        # Most documents keep their position; only the others are looked up by id.
        pairs = enumerate(zip(documents, self._documents, strict=False))
        kept = [at if new is old else ABSENT for at, (new, old) in pairs]
        rows = np.full(len(documents), ABSENT)
        rows[: len(kept)] = kept
        for at in np.flatnonzero(rows == ABSENT).tolist():
            before = self._position.get(documents[at].tool.id, ABSENT)
            if before != ABSENT and self._documents[before] is documents[at]:
                rows[at] = before
        return rows
