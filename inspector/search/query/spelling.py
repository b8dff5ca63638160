"""Corrects misspelt words of a query: “turn of the lihgts” is read as “turn of the lights”.

A word is left as it is if the embedding model or the catalog knows it whole: it then means something to one
of the rankers. The correction is a known word at most one typing error away (Damerau 1964: a letter too many,
missing, wrong, or two swapped), in long words two if the catalog has it or it ends alike. It begins as the
word does: few people misspell the first letter.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Sequence

from rapidfuzz import process
from rapidfuzz.distance import OSA

LONG = 8
_HALF = 4
# No part of a name, a path, an address or a number.
_WORD = re.compile(r"(?<![\w@./#'’-])[A-Za-z]{4,30}(?![\w@/#'’-]|\.\w)")
_ENDINGS = ("s", "es", "ed", "d", "ing", "er", "ly")

Catalog = Callable[[], frozenset[str]]


class Spelling:
    """The words that an embedding model knows, commonest first. A catalog's are read when one is unknown."""

    def __init__(self, words: Sequence[str]) -> None:
        self._known = frozenset(words)
        self._by_beginning: dict[str, list[str]] = defaultdict(list)
        for word in words:
            self._by_beginning[word[0]].append(word)

    def corrected(self, text: str, catalog: Catalog) -> str:
        """The text with its misspelt words corrected; the same text if there are none."""
        return _WORD.sub(lambda match: self._read(match, catalog), text)

    def _read(self, match: re.Match[str], catalog: Catalog) -> str:
        word = match[0].lower()
        is_name = match[0] != word and match.start() > 0
        if is_name or _is_known(word, self._known) or _is_known(word, catalog()):
            return match[0]
        return self._nearest(word, catalog()) or match[0]

    def _nearest(self, word: str, catalog: frozenset[str]) -> str:
        """The nearest known word, of equally near ones the catalog's, then the commonest; "" for none."""
        own = sorted(other for other in catalog if _begins_as(word, other))
        common = [o for first in {word[0], word[1]} for o in self._by_beginning[first] if _begins_as(word, o)]
        cutoff = 2 if len(word) >= LONG else 1
        near = process.extract(word, own + common, scorer=OSA.distance, score_cutoff=cutoff, limit=None)
        allowed = [
            (errors, at, other)
            for other, errors, at in near
            if errors < 2 or at < len(own) or other[-1] == word[-1]
        ]
        return min(allowed)[2] if allowed else ""


def _is_known(word: str, words: frozenset[str]) -> bool:
    if word in words or any(word.endswith(end) and word.removesuffix(end) in words for end in _ENDINGS):
        return True
    # “homepage” is two words, and neither is wrong.
    return any(word[:at] in words and word[at:] in words for at in range(_HALF, len(word) - _HALF + 1))


def _begins_as(word: str, other: str) -> bool:
    """Whether another word begins with the same letter, or with the first two swapped."""
    return len(other) >= _HALF and (other[0] == word[0] or other[:2] == word[1::-1])
