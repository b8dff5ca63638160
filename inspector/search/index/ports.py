"""The interfaces of what makes vectors of texts, and of what keeps them."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """Turns texts into unit vectors."""

    @property
    def name(self) -> str: ...

    def prepare(self, progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> None:
        """Load the model, downloading it first if needed. May take minutes; may be called in any thread.

        `progress` receives the bytes so far and the approximate total. Raises ModelError.
        """

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return one unit vector per text, in order, whatever the other texts are. Raises ModelError."""

    def words(self) -> Sequence[str]:
        """The English words that the model knows whole, commonest first; empty if nobody can tell.

        Raises ModelError.
        """


class StaticEmbedder(Protocol):
    """Turns texts into unit vectors by looking their words up in a table: in microseconds, without a model.

    A text's vector does not depend on the texts beside it; a text without words has the zero vector.
    """

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """One vector a text, of shape (texts, dimensions). Does not raise for any text."""


class VectorStore(Protocol):
    """Stored vectors by model and content hash: float32, little-endian. Thread-safe.

    Each method raises StoreError.
    """

    def vectors(self, model: str, keys: Sequence[bytes]) -> Mapping[bytes, bytes]:
        """The stored vectors for the given keys; missing ones are left out."""

    def keep_vectors(self, model: str, vectors: Mapping[bytes, bytes]) -> None: ...
