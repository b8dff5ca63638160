"""Names that are close to another one, and texts shortened for summaries."""

import re
from bisect import insort
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any, cast

_CUTOFF = 0.55


class _Pattern:
    """Compiles an expression when it is first used, and then has its methods for its own."""

    def __init__(self, *given: Any) -> None:
        self._given = given

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(*self._given), name)
        setattr(self, name, found)
        return found


def expression(text: str, flags: int = 0) -> "re.Pattern[str]":
    """An expression of a module that many import and few use: compiling them all took a tenth of a start."""
    return cast("re.Pattern[str]", _Pattern(text, flags))


_WORD = expression(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_UNSAFE = expression(r"[^A-Za-z0-9_.-]+")


def closest(
    name: str, candidates: Iterable[str], limit: int = 3, *, cutoff: float = _CUTOFF
) -> tuple[str, ...]:
    """The candidates most similar to `name`, best first, with a similarity of at least `cutoff` (0 to 1).

    Case and separators are ignored (`getWeather`, `get-weather` and `get_weather` are one name), and so are
    word order and a server prefix, unless the name mentions the server.
    """
    from difflib import SequenceMatcher

    wanted, known = _words(name), tuple(dict.fromkeys(candidates))
    joined = "".join(wanted)
    in_order, sorted_words = SequenceMatcher(b=joined), SequenceMatcher(b="".join(sorted(wanted)))
    letters = tuple(Counter(joined).items())
    read = []
    for place, candidate in enumerate(known):
        server, _, own = candidate.rpartition(":")
        mentioned = [word for word in _words(server) if word in wanted] if server else []
        words = mentioned + _words(own)
        text = "".join(words)
        # Words in any order have no more in common than their letters.
        common = sum([min(times, text.count(letter)) for letter, times in letters if letter in text])
        length = len(joined) + len(text)
        read.append((2 * common / length if length else 1.0, place, words))
    best: list[tuple[float, int]] = []
    for most, place, words in sorted(read, key=itemgetter(0), reverse=True):
        if most < (max(cutoff, -best[limit - 1][0]) if len(best) >= limit else cutoff):
            break
        in_order.set_seq1("".join(words))
        sorted_words.set_seq1("".join(sorted(words)))
        likeness = max(in_order.ratio(), sorted_words.ratio())
        if likeness >= cutoff:
            insort(best, (-likeness, place))
    return tuple(known[place] for _, place in best[:limit])


def did_you_mean(what: str, name: str, known: Sequence[str]) -> str:
    """A hint with the known names closest to a wrong one, or all of them; "" if there are none."""
    near = ", ".join(closest(name, known) or known)
    return f"{what}: {near}." if near else ""


@lru_cache(maxsize=8_192)
def _words(name: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(name)] or [name.casefold()]


_BREAK = expression(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_PARAGRAPH_END = expression(r"\n\s*\n")
_SENTENCE_END = expression(r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)\s|(?<=[。！？])")
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
    if one == other:
        return len(one)
    pairs = zip(one, other, strict=False)
    return next((i for i, (left, right) in enumerate(pairs) if left != right), min(len(one), len(other)))
