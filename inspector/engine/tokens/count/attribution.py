"""Which tokens of a text belong to which part of it: a token belongs to the part in which it begins."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate


def attribute(lengths: Sequence[int], spans: Sequence[tuple[int, int]]) -> list[int]:
    """Tokens that begin in each span (from, to, in bytes; in order, without overlap); one more for the rest.

    `lengths` are the bytes of the tokens. All numbers together are the number of tokens.
    """
    counts = [0] * (len(spans) + 1)
    starts = [start for start, _ in spans]
    for begin in accumulate(lengths[:-1], initial=0) if lengths else ():
        place = bisect_right(starts, begin) - 1
        inside = place >= 0 and begin < spans[place][1]
        counts[place if inside else -1] += 1
    return counts


def span(text: str, part: str, start: int = 0) -> tuple[int, int]:
    """Where a part stands in a text, in bytes of UTF-8, from a character on; (0, 0) where it does not."""
    found = text.find(part, start) if part else -1
    if found < 0:
        return 0, 0
    begin = size(text[:found])
    return begin, begin + size(part)


def size(text: str) -> int:
    """Bytes as UTF-8; a lone surrogate is one, the question mark in its place."""
    return len(text.encode("utf-8", "replace"))
