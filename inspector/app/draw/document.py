"""A report as one HTML file for any browser and for print: no script, nothing loaded, light and dark."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import groupby
from pathlib import Path

from msgspec import Struct

from inspector import __version__
from inspector.core.number import count, shown_moment
from inspector.core.redaction import clean
from inspector.core.report import Block, Facts, Table
from widgets import visible

# The most characters of a text and of a cell, rows of a table, and characters of all rows.
_TEXT, _CELL, ROWS, _ALL = 20_000, 4_000, 5_000, 4_000_000
PAGE = ".html"
# A cell with no more than a sign, and one of a grid that need not wrap.
_SIGN, _SHORT = 2, 40
# A table of more columns is a grid of short cells, which scrolls to the side on a telephone.
_FEW = 9
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_MARKS = {
    **dict.fromkeys("✓▲", "good"),
    **dict.fromkeys("✕∅▼", "bad"),
    **dict.fromkeys("~⚠‖", "part"),
    **dict.fromkeys("–○", "none"),
    "●": "good",
}
# They say how sure a text is, too: only alone they are coloured.
_ALONE = "●○"


class Document(Struct, frozen=True):
    """What is sent to somebody: a report, and the words after `toolsight` that show it again.

    `at` is when it was made, in seconds since 1970.
    """

    title: str
    report: Iterable[Block]
    words: Sequence[str]
    at: float

    def html(self) -> bytes:
        """The file. Texts are without secrets, hidden characters are visible in them, and nothing is markup.

        Long texts and tables are cut, and say so.
        """
        style = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")
        title = _text(self.title)
        head = (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="color-scheme" content="light dark">\n'
            f"<title>{title} · Toolsight</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
            f"<header>\n<h1>{title}</h1>\n<dl>\n"
            f"<dt>made</dt><dd>{shown_moment(self.at)} UTC by Toolsight {__version__}</dd>\n"
            f"<dt>again</dt><dd><code>{_text(shlex.join(('toolsight', *self.words)))}</code></dd>\n"
            "</dl>\n</header>\n<main>\n"
        )
        return "".join((head, *_body(self.report), "</main>\n</body>\n</html>\n")).encode()


def _text(text: str, limit: int = _TEXT) -> str:
    return escape(visible(clean(text), limit=limit))


def _body(report: Iterable[Block]) -> Iterator[str]:
    left = _ALL
    for is_aligned, blocks in groupby(report, _is_aligned):
        if is_aligned:
            yield f"<pre>{_text(chr(10).join(map(str, blocks)))}</pre>\n"
            continue
        for block in blocks:
            if isinstance(block, Table):
                part = "".join(_table(block, left))
                left -= len(part)
                yield part
            elif isinstance(block, Facts):
                yield from _facts(block)
            elif block.strip():
                yield f"<p>{_text(block.strip(chr(10)))}</p>\n"


def _is_aligned(block: Block) -> bool:
    """Whether it is a text in columns, which loses its sense without them."""
    return isinstance(block, str) and "  " in block.strip("\n")


def _titled(title: str) -> str:
    return f"<h2>{_text(title.strip())}</h2>\n" if title.strip() else ""


def _facts(facts: Facts) -> Iterator[str]:
    yield _titled(facts.title)
    if facts.facts:
        yield "<dl>\n"
        for fact in facts.facts:
            mark = ' class="part"' if fact.warns else ""
            yield f"<dt>{_text(fact.label)}</dt><dd{mark}>{_text(fact.text)}</dd>\n"
        yield "</dl>\n"


def _table(table: Table, left: int) -> Iterator[str]:
    """The table, as many of its rows as fit into what is `left` of all characters."""
    heads = [_text(header, _CELL) for header in table.headers]
    is_few = len(heads) <= _FEW
    kinds = ["n" if at in table.right else "w" if at in table.whole else "" for at in range(len(heads))]
    # A name needs no label before it, a number does.
    labels = [
        f' data-of="{head}"' if is_few and head and (at or kinds[0]) else "" for at, head in enumerate(heads)
    ]
    yield _titled(table.title)
    yield f'<div class="scroll" tabindex="0"><table class="{"rows" if is_few else "grid"}">\n<thead><tr>'
    yield from (
        f'<th scope="col" class="{kind}">{head}</th>' for kind, head in zip(kinds, heads, strict=True)
    )
    yield "</tr></thead>\n<tbody>\n"
    shown = 0
    for row in table.rows[:ROWS]:
        if left <= 0:
            break
        made = "".join(map(_cell, row, kinds, labels))
        left -= len(made)
        shown += 1
        yield f"<tr>{made}</tr>\n"
    yield "</tbody></table></div>\n"
    notes = [*table.notes]
    if shown < len(table.rows):
        notes.append(f"{count(len(table.rows) - shown, 'more row')} left out: this page has its limits.")
    yield from (f'<p class="note">{_text(note)}</p>\n' for note in notes)


def _cell(text: str, kind: str, label: str) -> str:
    shown = _text(text, _CELL)
    mark = "" if text[:1] in _ALONE and len(text) > _SIGN else _MARKS.get(text[:1], "")
    names = " ".join(filter(None, (kind or ("t" if len(text) > _SHORT else ""), mark)))
    return f"<td{f' class={chr(34)}{names}{chr(34)}' if names else ''}{label if shown else ''}>{shown}</td>"
