"""Sentence vectors from any model that fastembed supports, by name."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.core.error import ModelError
from inspector.search.embedders.catalog import named_model
from inspector.search.embedders.fastembed import whole_words
from inspector.search.metric import side_by_side
from inspector.search.semantics import keep_to_one_thread

if TYPE_CHECKING:
    import numpy as np
    from fastembed import TextEmbedding

_HINT_DAMAGED = "Delete the model's folder and download it again."


class NamedEmbedder:
    """Unit vectors with as many dimensions as the model has. `prepare` downloads the model if needed."""

    def __init__(self, name: str, folder: Path) -> None:
        """`folder` is the cache of downloaded models. Nothing is looked up yet."""
        self.name = name
        self._folder = folder
        self._model: TextEmbedding | None = None
        self._loading = threading.Lock()

    def prepare(self, progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> None:
        """Download the model if it is missing, then load it. Raises ModelError, also for an unknown name."""
        # Imported here, because a start makes an embedder before the first page is drawn.
        from inspector.search.embedders.download import download

        download(self.name, self._folder, progress=progress, cancelled=cancelled)
        self.embed(["ready"])

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector per text, in order. Raises ModelError if the model is missing or damaged."""
        if not texts:
            return []
        self._loaded()
        # The tokenizer rejects lone surrogates.
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        try:
            return side_by_side(self._vector, clean)
        except Exception as error:
            raise ModelError(f"the embedding model {self.name} failed: {error}") from error

    def words(self) -> Sequence[str]:
        """The words of its vocabulary. Raises ModelError if the model is missing or damaged."""
        return whole_words(self._loaded())

    def _loaded(self) -> "TextEmbedding":
        with self._loading:
            if self._model is None:
                self._model = self._load()
            return self._model

    def _vector(self, text: str) -> list[float]:
        """One text at a time: what a quantized model makes of a batch depends on every text in it."""
        assert self._model is not None
        return _unit(next(iter(self._model.embed([text]))))

    def _load(self) -> "TextEmbedding":
        from fastembed import TextEmbedding

        known = named_model(self.name)
        if not known.is_whole(self._folder):
            size = max(known.size // 1_000_000, 1)
            hint = f"Download it first (about {size} MB), or use the model that comes with Toolsight."
            raise ModelError(f"the embedding model {self.name} has not been downloaded", hint=hint)
        keep_to_one_thread()
        try:
            return TextEmbedding(known.name, cache_dir=str(self._folder), local_files_only=True)
        except Exception as error:
            message = f"the embedding model {self.name} cannot be loaded: {error}"
            raise ModelError(message, hint=_HINT_DAMAGED) from error


def _unit(vector: "np.ndarray") -> list[float]:
    """The vector scaled to length 1. A text without tokens has no direction, so it gets the first axis."""
    import numpy as np

    exact = np.nan_to_num(vector.astype(np.float64), posinf=0.0, neginf=0.0)
    length = float(np.linalg.norm(exact))
    if length == 0.0:
        exact[0] = length = 1.0
    scaled: list[float] = (exact / length).tolist()
    return scaled
