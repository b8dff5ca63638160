"""What a terminal shows after some bytes: as much of one as Textual needs, which places every text."""

import re
from collections.abc import Iterator

from rich.cells import cell_len

_SEQUENCE = re.compile(
    rb"\x1b\[(?P<where>\d*;?\d*)H|\x1b\[[0-9;:?<=>!$ ]*[@-~]|\x1b[\]P_][^\x07\x1b]*(?:\x07|\x1b\\)"
    rb"|\x1b[()*+].|\x1b[0-9=>A-Za-z]|(?P<text>[^\x1b\x00-\x1f]+)|(?P<control>[\x00-\x1f])",
    re.DOTALL,
)
# The beginning of a sequence or of a character; the rest comes with the next bytes, or never after a kill.
_CUT = re.compile(rb"(?:\x1b[^A-Za-z]{0,40}|[\xc0-\xff][\x80-\xbf]{0,2})$")


class Screen:
    """The cells of a terminal; colors are left out."""

    def __init__(self, columns: int, rows: int) -> None:
        self._cells = [[" "] * columns for _ in range(rows)]
        self._row = self._column = 0
        self._cut = b""

    def write(self, data: bytes) -> None:
        """Draw what a program wrote next; it may end anywhere."""
        data = self._cut + data
        cut = _CUT.search(data)
        self._cut = cut[0] if cut else b""
        data = data.removesuffix(self._cut)
        for found in _SEQUENCE.finditer(data):
            if (where := found["where"]) is not None:
                row, _, column = where.decode().partition(";")
                self._row, self._column = int(row or 1) - 1, int(column or 1) - 1
            elif found["control"] == b"\n":
                self._row, self._column = self._row + 1, 0
            elif found["control"] == b"\r":
                self._column = 0
            elif found["text"] is not None:
                self._draw(found["text"].decode("utf-8", "ignore"))

    def _draw(self, text: str) -> None:
        for character in text:
            width = cell_len(character)
            if self._row < len(self._cells) and self._column + width <= len(self._cells[0]):
                self._cells[self._row][self._column : self._column + width] = [character, ""][:width]
            self._column += width

    def lines(self) -> Iterator[str]:
        """What stands in each row."""
        return ("".join(row) for row in self._cells)
