"""Builds the index on which rankers are measured, and measures the build."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from inspector.access.reach import EvalSet
from inspector.core.ports import Clock
from inspector.search.document import Key, key_of, texts_by_key
from inspector.search.embedding import BATCH
from inspector.search.index import ToolIndex
from inspector.search.semantics import Semantics

_START = 8


@dataclass(frozen=True, slots=True)
class Prepared:
    """An index over the tools of a data set.

    `seconds` is the time to build it, including embedding the `embedded` texts whose vectors were not stored,
    but not loading the model. `bytes` is the size of its arrays: documents, postings and vectors, without the
    model. If canceled, vectors are missing.
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
    lined: bool = False,
) -> Prepared:
    """Build the index and, with `semantics`, its vectors: stored ones are loaded, the rest embedded.

    A `lined` index has the tools' summary lines too, which the ranker iso needs.

    `cancelled` is checked before each batch and `progress(done, total)` counts texts after it. Raises
    ModelError or StoreError.
    """
    if semantics is not None and evalset.tools:
        # Loads the model, which is not part of building an index.
        semantics.query("warm up")
    started = clock.monotonic()
    index = ToolIndex(evalset.tools, semantics=semantics, lined=lined)
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
    """Embed missing texts; return how many were embedded, and how many were left if canceled."""
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
    return {**texts_by_key(index.tools, lined=index.lined), **servers}


def _bytes(index: ToolIndex) -> int:
    """The size of all arrays, including one start position per term in the postings."""
    documents = sum(d.terms.nbytes + d.words.nbytes for d in index.documents)
    entries = index.postings.nbytes + index.word_postings.nbytes
    vectors = index.vectors.bytes + index.static_vectors.nbytes
    return documents + entries + 2 * (len(index.vocabulary) + 1) * _START + vectors
