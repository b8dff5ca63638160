"""The embedding models that fastembed supports, and whether they are downloaded."""

import json
from dataclasses import dataclass
from pathlib import Path

from inspector.core.closest import closest
from inspector.core.error import ModelError

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
