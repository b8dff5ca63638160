"""The index before a change, as far as the next one can use it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.engine.discovery.document import Document
from inspector.engine.discovery.vector_table import ABSENT


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
        positions = (self._position.get(document.tool.id, ABSENT) for document in documents)
        same = (
            position if position != ABSENT and self._documents[position] is document else ABSENT
            for position, document in zip(positions, documents, strict=True)
        )
        return np.fromiter(same, np.intp, len(documents))
