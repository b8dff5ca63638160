"""Names that are close to another one, and texts shortened for summaries."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from math import log

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")
_CUTOFF = 0.2
# An index is kept for each set of servers that a query mentions; most queries mention none.
_INDEX_CACHE_SIZE = 4


def closest(
    name: str, candidates: Iterable[str], limit: int = 3, *, cutoff: float = _CUTOFF
) -> tuple[str, ...]:
    """The candidates most similar to `name`, best first, with a similarity of at least `cutoff` (0 to 1).

    Case and separators are ignored (`getWeather`, `get-weather` and `get_weather` are one name), and so are
    word order and a server prefix.

    Names that differ only in case and separators have similarity 1. Otherwise it is the mean of two Dice
    coefficients (Dice 1945), 2 |A and B| / (|A| + |B|): one over words, each weighted ln(1 + N / n) where n
    of the N candidates contain it (after Sparck Jones 1972), and one over letter trigrams.
    """
    return Names(candidates).closest(name, limit, cutoff=cutoff)


def did_you_mean(what: str, name: str, known: Sequence[str]) -> str:
    """A hint with the known names closest to a wrong one, or all of them; "" if there are none."""
    near = ", ".join(closest(name, known) or known)
    return f"{what}: {near}." if near else ""


class Names:
    """Names to compare against repeatedly; their words and trigrams are indexed on first use."""

    def __init__(self, candidates: Iterable[str]) -> None:
        self._candidates = tuple(dict.fromkeys(candidates))
        servers = dict.fromkeys(candidate.rpartition(":")[0] for candidate in self._candidates)
        self._servers = {server: _words(server) for server in servers if server}
        self._index = lru_cache(maxsize=_INDEX_CACHE_SIZE)(self._indexed)

    def closest(self, name: str, limit: int = 3, *, cutoff: float = _CUTOFF) -> tuple[str, ...]:
        """Like the function `closest`, among these names."""
        wanted = _words(name)
        mentioned = (server for server, words in self._servers.items() if not set(wanted).isdisjoint(words))
        scores = self._index(frozenset(mentioned)).similarities(wanted)
        # A candidate that shares neither a word nor a trigram has no entry: its similarity is 0.
        positions = range(len(self._candidates)) if cutoff <= 0 else scores
        scored = [(-scores.get(i, 0.0), i) for i in positions if scores.get(i, 0.0) >= cutoff]
        return tuple(self._candidates[i] for _, i in sorted(scored)[: max(limit, 0)])

    def _indexed(self, mentioned: frozenset[str]) -> "_Index":
        """Index the candidates by their words; a server prefix counts only if the query mentions it."""
        known = []
        for candidate in self._candidates:
            server, _, name = candidate.rpartition(":")
            prefix = self._servers[server] if server in mentioned else []
            known.append(prefix + _words(name) if _WORD.search(name) else _words(candidate))
        return _Index(known)


class _Index:
    """Names by word and trigram, so that a query is compared only with names that share one."""

    def __init__(self, known: list[list[str]]) -> None:
        counts = Counter(chain.from_iterable(map(set, known)))
        self._weights = {word: log(1 + len(known) / count) for word, count in counts.items()}
        self._rare = log(1 + len(known))
        self._texts = ["".join(words) for words in known]
        self._totals = [sum(self._weights[word] for word in dict.fromkeys(words)) for words in known]
        trigrams = [_trigrams(text) for text in self._texts]
        self._sizes = [len(grams) for grams in trigrams]
        self._with_word = _positions(known)
        self._with_trigram = _positions(trigrams)

    def similarities(self, wanted: list[str]) -> dict[int, float]:
        """The similarity (0 to 1) of a name, given as words, to each name sharing a word or trigram.

        The keys are positions in the list of known names.
        """
        weights = {word: self._weights.get(word, self._rare) for word in wanted}
        total, text = sum(weights.values()), "".join(wanted)
        shared: dict[int, float] = defaultdict(float)
        for word, weight in weights.items():
            for i in self._with_word.get(word, ()):
                shared[i] += weight
        trigrams = _trigrams(text)
        same = Counter(chain.from_iterable(self._with_trigram.get(gram, ()) for gram in trigrams))
        similarities = {}
        for i in {**shared, **same}:
            letters = 2 * same[i] / (len(trigrams) + self._sizes[i])
            words = shared.get(i, 0) / (total + self._totals[i])
            similarities[i] = 1.0 if self._texts[i] == text else letters / 2 + words
        return similarities


def _positions(rows: Iterable[Iterable[str]]) -> Mapping[str, list[int]]:
    """For each member, the positions of the rows that contain it."""
    positions: dict[str, list[int]] = defaultdict(list)
    for position, row in enumerate(rows):
        for member in dict.fromkeys(row):
            positions[member].append(position)
    return positions


def _words(name: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(name)] or [name.casefold()]


def _trigrams(text: str) -> set[str]:
    # Two spaces before and one after give the first letters more weight: people rarely get them wrong.
    padded = f"  {text} "
    return set(map("".join, zip(padded, padded[1:], padded[2:], strict=False)))


_BREAK = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_PARAGRAPH_END = re.compile(r"\n\s*\n")
_SENTENCE_END = re.compile(r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)\s|(?<=[。！？])")
_ELLIPSIS = "…"


def first_sentence(text: str) -> str:
    """The first sentence of a text on one line; it ends with the first paragraph at the latest."""
    opening = _PARAGRAPH_END.split(text.strip(), maxsplit=1)[0]
    return _SENTENCE_END.split(one_line(opening), maxsplit=1)[0]


def sentences(text: str) -> list[str]:
    """The sentences of a text, each on one line; one ends with its line at the latest."""
    found = (piece for line in text.splitlines() for piece in _SENTENCE_END.split(one_line(line)))
    return [sentence for sentence in found if sentence]


def one_line(text: str) -> str:
    """The text with each run of whitespace and control characters replaced by one space, and stripped."""
    return " ".join(without_breaks(text).split())


def without_breaks(text: str) -> str:
    """The text with each control character and line separator replaced by a space."""
    return _BREAK.sub(" ", text)


def shortened(line: str, limit: int) -> str:
    """Shorten the line to at most `limit` characters, including the ellipsis.

    The cut is between words, unless that would lose more than half of the room.
    """
    if len(line) <= limit:
        return line
    if limit < 1:
        return ""
    boundary = line.rfind(" ", limit // 2, limit)
    return line[: boundary if boundary > 0 else limit - 1].rstrip(" ,;") + _ELLIPSIS


def file_name(name: str) -> str:
    """The name without what the name of a file should not have."""
    return _UNSAFE.sub("-", name)


def paragraphs(*texts: str) -> str:
    """The texts that say something, a paragraph each."""
    return "\n\n".join(filter(None, texts))


def common_start(one: Sequence[object], other: Sequence[object]) -> int:
    """How many items, or characters, two sequences have in common at their start."""
    pairs = zip(one, other, strict=False)
    return next((i for i, (left, right) in enumerate(pairs) if left != right), min(len(one), len(other)))
