"""The embedding models that fastembed knows, and whether their files are there."""

import json
from dataclasses import dataclass
from pathlib import Path

from inspector.domain.closest import closest
from inspector.domain.error import ModelError

_GIGABYTE = 1_000_000_000


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
