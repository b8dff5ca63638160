"""Sentence vectors from any model that fastembed knows, by name; its files were downloaded before."""

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.domain.closest import closest
from inspector.domain.error import ModelError

if TYPE_CHECKING:
    import numpy as np
    from fastembed import TextEmbedding

_GIGABYTE = 1_000_000_000
_HINT_DAMAGED = "Delete its folder and download it again."


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A model of fastembed's list: the repository it comes from, and about how many bytes it has."""

    name: str
    repository: str
    files: tuple[str, ...]
    size: int

    def folder(self, cache: Path) -> Path:
        """Where huggingface_hub keeps the repository within its cache."""
        return cache / f"models--{self.repository.replace('/', '--')}"

    def is_whole(self, cache: Path) -> bool:
        """Whether its download came to its end: fastembed writes the list of a model's files last of all."""
        from fastembed import TextEmbedding

        folder = self.folder(cache)
        try:
            sizes = json.loads((folder / TextEmbedding.METADATA_FILE).read_bytes())
            # Two models may share a repository, as nomic-embed-text-v1.5 and its quantised form do.
            present = {
                path.split("/", 2)[2]
                for path, meta in sizes.items()
                if (folder / path).stat().st_size == meta["size"]
            }
        except (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError):
            return False
        return present.issuperset(self.files)


def named_model(name: str) -> NamedModel:
    """The model of that name, in any case. Raises ModelError, with the nearest names as its hint."""
    from fastembed import TextEmbedding

    known = {
        model["model"]: model for model in TextEmbedding.list_supported_models() if model["sources"]["hf"]
    }
    found = next((known[key] for key in known if key.lower() == name.lower()), None)
    if found is None:
        near = closest(name, known)
        hint = f"Did you mean {' or '.join(near)}?" if near else f"Known are {', '.join(sorted(known))}."
        raise ModelError(f"fastembed knows no embedding model {name!r}", hint=hint)
    return NamedModel(
        name=found["model"],
        repository=found["sources"]["hf"],
        files=(found["model_file"], *found["additional_files"]),
        size=round(found["size_in_GB"] * _GIGABYTE),
    )


class NamedEmbedder:
    """Unit vectors of the dimensions that the model has. It is loaded on first use, never downloaded."""

    def __init__(self, name: str, folder: Path) -> None:
        """`folder` is the cache that holds the downloaded models. Raises ModelError for an unknown name."""
        self._known = named_model(name)
        self._folder = folder
        self._model: TextEmbedding | None = None
        self._loading = threading.Lock()

    @property
    def name(self) -> str:
        """The model's name as fastembed writes it."""
        return self._known.name

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector a text, in order. Raises ModelError where the model is not there or is damaged."""
        if not texts:
            return []
        with self._loading:
            if self._model is None:
                self._model = self._load()
        # Lone surrogates are no text to a tokenizer.
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        try:
            # One text at a time: a batch pads each to its longest.
            return [_unit(vector) for vector in self._model.embed(clean, batch_size=1)]
        except Exception as error:
            raise ModelError(f"the embedding model {self.name} failed: {error}") from error

    def _load(self) -> "TextEmbedding":
        from fastembed import TextEmbedding

        if not self._known.is_whole(self._folder):
            size = max(self._known.size // 1_000_000, 1)
            hint = f"Download it first (about {size} MB), or use the model that comes with Toolsight."
            raise ModelError(f"the embedding model {self.name} is not downloaded", hint=hint)
        try:
            return TextEmbedding(self.name, cache_dir=str(self._folder), local_files_only=True)
        except Exception as error:
            message = f"the embedding model {self.name} cannot be loaded: {error}"
            raise ModelError(message, hint=_HINT_DAMAGED) from error


def _unit(vector: "np.ndarray") -> list[float]:
    """The vector at length 1. A text without any token has no direction: it gets the first axis."""
    import numpy as np

    exact = np.nan_to_num(vector.astype(np.float64), posinf=0.0, neginf=0.0)
    length = float(np.linalg.norm(exact))
    if length == 0.0:
        exact[0] = length = 1.0
    scaled: list[float] = (exact / length).tolist()
    return scaled
