"""Which of the known names someone may have meant."""

import re
from collections import Counter
from collections.abc import Collection, Iterable
from itertools import chain
from math import log

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_CUTOFF = 0.2


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
    wanted = _words(name)
    known = _by_words(candidates, set(wanted))
    likeness = _Likeness(wanted, known.values())
    scored = [
        (-score, position, candidate)
        for position, (candidate, words) in enumerate(known.items())
        if (score := likeness.to(words)) >= cutoff
    ]
    return tuple(candidate for _score, _position, candidate in sorted(scored)[: max(limit, 0)])


class _Likeness:
    """How like one name is to each of the candidates, all given as their words: from 0 to 1."""

    def __init__(self, wanted: list[str], known: Collection[list[str]]) -> None:
        counts = Counter(chain.from_iterable(map(set, known)))
        self._weights = {word: log(1 + len(known) / count) for word, count in counts.items()}
        rare = log(1 + len(known))
        self._wanted = {word: self._weights.get(word, rare) for word in wanted}
        self._total = sum(self._wanted.values())
        self._text = "".join(wanted)
        self._trigrams = _trigrams(self._text)

    def to(self, words: list[str]) -> float:
        text = "".join(words)
        if text == self._text:
            return 1.0
        trigrams = _trigrams(text)
        letters = 2 * len(self._trigrams & trigrams) / (len(self._trigrams) + len(trigrams))
        weights = {word: self._weights[word] for word in words}
        shared = sum(weights[word] for word in self._wanted if word in weights)
        return letters / 2 + shared / (self._total + sum(weights.values()))


def _by_words(candidates: Iterable[str], wanted: set[str]) -> dict[str, list[str]]:
    """The words of each candidate, without a server in front that is not asked for."""
    servers: dict[str, list[str]] = {"": []}
    found: dict[str, list[str]] = {}
    for candidate in dict.fromkeys(candidates):
        server, _, name = candidate.rpartition(":")
        if server not in servers:
            words = _words(server)
            servers[server] = words if not wanted.isdisjoint(words) else []
        found[candidate] = servers[server] + _words(name) if _WORD.search(name) else _words(candidate)
    return found


def _words(name: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(name)] or [name.casefold()]


def _trigrams(text: str) -> set[str]:
    # Two spaces in front, one behind: the first letters count more, as people seldom err in them.
    padded = f"  {text} "
    return set(map("".join, zip(padded, padded[1:], padded[2:], strict=False)))
