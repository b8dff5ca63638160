"""An embedder and a store of vectors for tests: no model, no file, the same vectors on every machine."""

import math
from collections.abc import Mapping, Sequence
from hashlib import blake2b

from inspector.domain.settings import DiscoverySettings
from inspector.domain.tool import Tool
from inspector.engine.retrieval.catalog_rankers import CatalogRankers
from inspector.engine.retrieval.document import key_of, texts_by_key
from inspector.engine.retrieval.index import ToolIndex
from inspector.engine.retrieval.semantics import Semantics
from inspector.engine.retrieval.term import split_words

DIMENSION = 64


class HashEmbedder:
    """Bags of hashed words as unit vectors: texts that share words are close, others nearly orthogonal."""

    def __init__(self) -> None:
        self.embedded: list[str] = []

    @property
    def name(self) -> str:
        return "hash-64"

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        self.embedded += texts
        return [_vector(text) for text in texts]


class DictVectors:
    """A VectorStore in a dict."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, bytes], bytes] = {}

    def vectors(self, model: str, keys: Sequence[bytes]) -> Mapping[bytes, bytes]:
        return {key: self.kept[model, key] for key in keys if (model, key) in self.kept}

    def keep_vectors(self, model: str, vectors: Mapping[bytes, bytes]) -> None:
        self.kept |= {(model, key): data for key, data in vectors.items()}


def semantic_index(tools: Sequence[Tool], semantics: Semantics | None = None) -> ToolIndex:
    """An index with every passage and every server's text embedded."""
    semantics = semantics or Semantics(HashEmbedder(), DictVectors())
    semantics.embed(texts_by_key(tools))
    servers = ToolIndex(tools).server_texts.values()
    semantics.embed({key_of(text): text for text in servers})
    return ToolIndex(tools, semantics=semantics)


def rankers_of(
    tools: Sequence[Tool], *, semantic: bool = True, settings: DiscoverySettings | None = None
) -> CatalogRankers:
    """The rankers of a catalog; words alone where it is not `semantic`."""
    index = semantic_index(tools) if semantic else ToolIndex(tools)
    return CatalogRankers(index, settings or DiscoverySettings())


def _vector(text: str) -> list[float]:
    vector = [0.0] * DIMENSION
    for word in split_words(text) or ["\0"]:
        digest = blake2b(word.lower().encode("utf-8", "surrogatepass"), digest_size=8).digest()
        vector[digest[0] % DIMENSION] += 1.0 if digest[1] % 2 else -1.0
    length = math.hypot(*vector)
    return [value / length for value in vector] if length else [1.0, *vector[1:]]
