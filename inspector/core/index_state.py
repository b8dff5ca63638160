"""The state of the search index."""

from dataclasses import dataclass
from enum import StrEnum


class IndexPhase(StrEnum):
    """Searches work in every phase; before READY some tools are matched by words alone."""

    OFF = "words only"
    DOWNLOADING = "downloading the model"
    LOADING = "loading the model"
    EMBEDDING = "embedding"
    READY = "ready"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class IndexState:
    """`embedded` of `total` texts (several per tool) have a vector from `model`; `reason` says what failed.

    During a download both count bytes.
    """

    phase: IndexPhase = IndexPhase.OFF
    model: str = ""
    embedded: int = 0
    total: int = 0
    reason: str = ""
    hint: str = ""
