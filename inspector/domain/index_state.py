"""How far the search index is."""

from dataclasses import dataclass
from enum import StrEnum


class IndexPhase(StrEnum):
    """Searches work in every phase; before READY some go by words alone."""

    OFF = "words only"
    DOWNLOADING = "downloading the model"
    LOADING = "loading the model"
    EMBEDDING = "embedding"
    READY = "ready"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class IndexState:
    """`embedded` of `total` texts (several a tool) have a vector of `model`; `reason` says what failed.

    While the model is downloaded these are bytes.
    """

    phase: IndexPhase = IndexPhase.OFF
    model: str = ""
    embedded: int = 0
    total: int = 0
    reason: str = ""
    hint: str = ""
