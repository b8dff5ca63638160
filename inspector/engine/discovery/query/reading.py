"""A query as it is meant: with words corrected that neither the tools nor the model know."""

from functools import cached_property
from itertools import chain
from weakref import WeakKeyDictionary

from inspector.engine.discovery.index import ToolIndex


class _Words:
    """The words of an index's tools, and what was read last: a search asks for it more than once."""

    def __init__(self, index: ToolIndex) -> None:
        self._documents, self._vocabulary = index.documents, index.vocabulary
        self.last = "", ""

    @cached_property
    def known(self) -> frozenset[str]:
        """As written; the vocabulary may hold the words of former tools too."""
        used = set(chain.from_iterable(document.words.ids.tolist() for document in self._documents))
        return frozenset(
            word for word, number in self._vocabulary.items() if number in used and word.isalpha()
        )


_words: WeakKeyDictionary[ToolIndex, _Words] = WeakKeyDictionary()


def spelt(index: ToolIndex, query: str) -> str:
    """The query with its misspelt words corrected; as it is without a model."""
    if index.semantics is None or not index.is_semantic:
        return query
    words = _words.setdefault(index, _Words(index))
    if words.last[0] != query:
        words.last = query, index.semantics.spelling.corrected(query, lambda: words.known)
    return words.last[1]
