"""Which of the known names someone may have meant."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import chain
from math import log

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_CUTOFF = 0.2
# Queries differ in the servers that they name; most name none.
_REMEMBERED = 4


def closest(
    name: str, candidates: Iterable[str], limit: int = 3, *, cutoff: float = _CUTOFF
) -> tuple[str, ...]:
    """The candidates most like `name`, best first, down to a likeness of `cutoff` (0 to 1).

    Case and separators do not count (`getWeather`, `get-weather` and `get_weather` are one name), nor does
    the order of words; a server's prefix is no obstacle.

    Names that differ in no more than case and separators have the likeness 1. That of others is the mean of
    two Dice coefficients (Dice 1945), 2 |A and B| / (|A| + |B|): of their words, each weighing ln(1 + N / n)
    where n of the N candidates have it (after Sparck Jones 1972), and of the trigrams of their letters.
    """
    return Names(candidates).closest(name, limit, cutoff=cutoff)


class Names:
    """Names that are asked for more than once: words and trigrams are taken apart the first time."""

    def __init__(self, candidates: Iterable[str]) -> None:
        self._candidates = tuple(dict.fromkeys(candidates))
        servers = dict.fromkeys(candidate.rpartition(":")[0] for candidate in self._candidates)
        self._servers = {server: _words(server) for server in servers if server}
        self._index = lru_cache(maxsize=_REMEMBERED)(self._indexed)

    def closest(self, name: str, limit: int = 3, *, cutoff: float = _CUTOFF) -> tuple[str, ...]:
        """As the function `closest`, among these names."""
        wanted = _words(name)
        asked_for = (server for server, words in self._servers.items() if not set(wanted).isdisjoint(words))
        scores = self._index(frozenset(asked_for)).likeness(wanted)
        # What shares neither a word nor a trigram has no score: it is not like the name at all.
        places = range(len(self._candidates)) if cutoff <= 0 else scores
        scored = [(-scores.get(place, 0.0), place) for place in places if scores.get(place, 0.0) >= cutoff]
        return tuple(self._candidates[place] for _, place in sorted(scored)[: max(limit, 0)])

    def _indexed(self, asked_for: frozenset[str]) -> "_Index":
        """The candidates by their words, without a server in front that is not asked for."""
        known = []
        for candidate in self._candidates:
            server, _, name = candidate.rpartition(":")
            front = self._servers[server] if server in asked_for else []
            known.append(front + _words(name) if _WORD.search(name) else _words(candidate))
        return _Index(known)


class _Index:
    """Names by their words and trigrams, so that a query meets only the names it shares some with."""

    def __init__(self, known: list[list[str]]) -> None:
        counts = Counter(chain.from_iterable(map(set, known)))
        self._weights = {word: log(1 + len(known) / count) for word, count in counts.items()}
        self._rare = log(1 + len(known))
        self._texts = ["".join(words) for words in known]
        self._totals = [sum(self._weights[word] for word in dict.fromkeys(words)) for words in known]
        trigrams = [_trigrams(text) for text in self._texts]
        self._sizes = [len(one) for one in trigrams]
        self._with_word = _places(known)
        self._with_trigram = _places(trigrams)

    def likeness(self, wanted: list[str]) -> dict[int, float]:
        """How like a name, given as its words, is to each that shares some with it: by place, up to 1."""
        weights = {word: self._weights.get(word, self._rare) for word in wanted}
        total, text = sum(weights.values()), "".join(wanted)
        shared: dict[int, float] = defaultdict(float)
        for word, weight in weights.items():
            for place in self._with_word.get(word, ()):
                shared[place] += weight
        trigrams = _trigrams(text)
        same = Counter(chain.from_iterable(self._with_trigram.get(one, ()) for one in trigrams))
        found = {}
        for place in {**shared, **same}:
            letters = 2 * same[place] / (len(trigrams) + self._sizes[place])
            words = shared.get(place, 0) / (total + self._totals[place])
            found[place] = 1.0 if self._texts[place] == text else letters / 2 + words
        return found


def _places(rows: Iterable[Iterable[str]]) -> Mapping[str, list[int]]:
    """By member the places of the rows that have it."""
    found: dict[str, list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        for member in dict.fromkeys(row):
            found[member].append(place)
    return found


def _words(name: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(name)] or [name.casefold()]


def _trigrams(text: str) -> set[str]:
    # Two spaces in front, one behind: the first letters count more, as people seldom err in them.
    padded = f"  {text} "
    return set(map("".join, zip(padded, padded[1:], padded[2:], strict=False)))
