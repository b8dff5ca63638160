"""Static vectors: the mean of a text's token vectors, from the table that the package `wordllama` ships.

The table and its vocabulary are read as files. The package itself is never imported: it would configure the
root logger, and looks for its vocabulary on a model hub.
"""

import importlib.util
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.core.error import ModelError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

_PACKAGE = "wordllama"
_TABLE = "weights/l2_supercat_256.safetensors"
_VOCABULARY = "tokenizers/l2_supercat_tokenizer_config.json"
_BATCH = 1_024


class WordLlamaEmbedder:
    """Unit vectors of 256 dimensions. The table (16 MB) is read on first use."""

    dimensions = 256

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def packaged(cls) -> "WordLlamaEmbedder | None":
        """The table of the installed package; None if it is not installed."""
        spec = importlib.util.find_spec(_PACKAGE)
        folder = Path(spec.origin).parent if spec and spec.origin else None
        return cls(folder) if folder and (folder / _TABLE).is_file() else None

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """One unit vector per text, in order, whatever the other texts are. Raises ModelError."""
        import numpy as np

        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for start in range(0, len(texts), _BATCH):
            # The tokenizer rejects lone surrogates.
            clean = [text.encode("utf-8", "replace").decode() for text in texts[start : start + _BATCH]]
            for row, encoded in enumerate(
                self._tokenizer.encode_batch(clean, add_special_tokens=False), start
            ):
                if encoded.ids:
                    vectors[row] = _unit(self._table[encoded.ids])
        return vectors

    @cached_property
    def _table(self) -> "NDArray[np.float16]":
        from safetensors.numpy import load_file

        try:
            table: NDArray[np.float16] = load_file(self._folder / _TABLE)["embedding.weight"]
        except Exception as error:
            raise ModelError(f"the table of static vectors cannot be read: {error}", hint=_HINT) from error
        return table

    @cached_property
    def _tokenizer(self) -> "Tokenizer":
        from tokenizers import Tokenizer

        try:
            tokenizer = Tokenizer.from_file(str(self._folder / _VOCABULARY))
        except Exception as error:
            raise ModelError(
                f"the vocabulary of static vectors cannot be read: {error}", hint=_HINT
            ) from error
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return tokenizer


_HINT = "Reinstall the package `wordllama`."


def _unit(rows: "NDArray[np.float16]") -> "NDArray[np.float32]":
    import numpy as np

    mean: NDArray[np.float32] = rows.mean(axis=0, dtype=np.float32)
    length = np.linalg.norm(mean)
    return np.divide(mean, length, dtype=np.float32) if length else mean
