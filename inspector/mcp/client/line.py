"""Splits what a server writes into lines; of one that is too long only both ends are kept."""

from collections.abc import Iterator
from dataclasses import dataclass

LONGEST_LINE = 20_000_000
"""Bytes of a message that is read. Reading one takes some seven times as much memory for a moment."""
HEAD, TAIL = 190_000, 4_000


@dataclass(frozen=True, slots=True)
class CutLine:
    """Both ends of a line that was too long, and how many bytes it had."""

    head: bytes
    tail: bytes
    size: int


class Lines:
    """Takes the output in pieces, and gives each line once it is whole."""

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self._longest = longest
        self._parts: list[bytes] = []
        self._size = 0
        self._tail = b""
        self._is_cut = False

    @property
    def is_cut(self) -> bool:
        """Whether the line that comes now is too long already."""
        return self._is_cut

    @property
    def rest(self) -> bytes:
        """The beginning of the line that is not whole yet."""
        return b"".join(self._parts)

    def feed(self, data: bytes) -> Iterator[bytes | CutLine]:
        """The lines that a piece completes."""
        first, *others = data.split(b"\n")
        self._add(first)
        for part in others:
            yield self._taken()
            self._add(part)

    def _add(self, part: bytes) -> None:
        self._size += len(part)
        if self._is_cut:
            self._tail = (self._tail + part)[-TAIL:]
            return
        self._parts.append(part)
        if self._size > self._longest:
            whole = b"".join(self._parts)
            self._parts, self._tail, self._is_cut = [whole[:HEAD]], whole[-TAIL:], True

    def _taken(self) -> bytes | CutLine:
        """The line so far, which is whole now."""
        line = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        whole = CutLine(line, self._tail, self._size) if self._is_cut else line
        self._parts, self._tail, self._size, self._is_cut = [], b"", 0, False
        return whole
