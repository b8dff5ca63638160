"""The index that rankers are measured on, and what making it took."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from inspector.domain.evaluation import EvalSet
from inspector.engine.discovery.document import Key, key_of, texts_by_key
from inspector.engine.discovery.embedding import BATCH
from inspector.engine.discovery.index import ToolIndex
from inspector.engine.discovery.semantics import Semantics
from inspector.engine.ports import Clock

_START = 8


@dataclass(frozen=True, slots=True)
class Prepared:
    """An index over the tools of a data set.

    `seconds` is from the tools to the index, with the `embedded` texts of whose vectors the store had none
    and without loading the model. `bytes` is that of its arrays: documents, postings and vectors, without
    the model. Where it was cancelled, vectors are missing.
    """

    index: ToolIndex
    seconds: float
    bytes: int
    embedded: int = 0
    is_complete: bool = True


def prepare(
    evalset: EvalSet,
    semantics: Semantics | None,
    *,
    clock: Clock,
    progress: Callable[[int, int], None],
    cancelled: Callable[[], bool],
) -> Prepared:
    """Build the index, with `semantics` also its vectors: those of the store, and the rest embedded.

    `progress(done, total)` counts texts after each batch, and `cancelled` is asked before it. Raises
    ModelError and StoreError.
    """
    if semantics is not None and evalset.tools:
        # Loads the model, which is no part of making an index.
        semantics.query("warm up")
    started = clock.monotonic()
    index = ToolIndex(evalset.tools, semantics=semantics)
    embedded, missing = 0, 0
    if semantics is not None:
        embedded, missing = _embed(index, semantics, progress, cancelled)
        index = index.with_new_vectors()
        semantics.settle(index.vectors)
    size = _bytes(index)
    return Prepared(index, clock.monotonic() - started, size, embedded, is_complete=not missing)


def _embed(
    index: ToolIndex,
    semantics: Semantics,
    progress: Callable[[int, int], None],
    cancelled: Callable[[], bool],
) -> tuple[int, int]:
    """How many texts were embedded, and how many were left when it was cancelled."""
    texts = _texts(index)
    known = semantics.recall(list(texts))
    wanted = [key for key in texts if key not in known]
    embedded = 0
    while embedded < len(wanted) and not cancelled():
        batch = wanted[embedded : embedded + BATCH]
        semantics.embed({key: texts[key] for key in batch})
        embedded += len(batch)
        progress(len(texts) - len(wanted) + embedded, len(texts))
    return embedded, len(wanted) - embedded


def _texts(index: ToolIndex) -> Mapping[Key, str]:
    servers = {key_of(text): text for text in index.server_texts.values()}
    return {**texts_by_key(index.tools), **servers}


def _bytes(index: ToolIndex) -> int:
    """Of all arrays; where each term's postings start is one more number a term."""
    postings = index.postings
    documents = sum(d.term_ids.nbytes + d.frequencies.nbytes + d.lengths.nbytes for d in index.documents)
    entries = postings.documents.nbytes + postings.frequencies.nbytes + postings.lengths.nbytes
    return documents + entries + (len(index.vocabulary) + 1) * _START + index.vectors.bytes
