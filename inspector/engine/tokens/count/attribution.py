"""Attributes the tokens of a text to its parts: a token belongs to the part in which it begins."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate


def attribute(lengths: Sequence[int], spans: Sequence[tuple[int, int]]) -> list[int]:
    """Count the tokens that begin in each span, plus a last number for the rest.

    Spans are (from, to) in bytes, in order, without overlap. `lengths` are the bytes of the tokens. The
    numbers add up to the number of tokens.
    """
    counts = [0] * (len(spans) + 1)
    starts = [start for start, _ in spans]
    for begin in accumulate(lengths[:-1], initial=0) if lengths else ():
        index = bisect_right(starts, begin) - 1
        inside = index >= 0 and begin < spans[index][1]
        counts[index if inside else -1] += 1
    return counts


def span(text: str, part: str, start: int = 0) -> tuple[int, int]:
    """The span of `part` in UTF-8 bytes, searching from the character `start`; (0, 0) if absent."""
    index = text.find(part, start) if part else -1
    if index < 0:
        return 0, 0
    begin = size(text[:index])
    return begin, begin + size(part)


def size(text: str) -> int:
    """The length in UTF-8 bytes; a lone surrogate counts as one, for the question mark that replaces it."""
    return len(text.encode("utf-8", "replace"))
