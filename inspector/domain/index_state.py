"""How far the search index is."""

from dataclasses import dataclass
from enum import StrEnum


class IndexPhase(StrEnum):
    """Searches work in every phase; before READY some go by words alone."""

    OFF = "words only"
    LOADING = "loading the model"
    EMBEDDING = "embedding"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class IndexState:
    """`embedded` of `total` texts (several a tool) have a vector of `model`. `reason` says what failed."""

    phase: IndexPhase = IndexPhase.OFF
    model: str = ""
    embedded: int = 0
    total: int = 0
    reason: str = ""
    hint: str = ""
