"""Makes text from outside safe to show: nothing hidden, no terminal control, never markup."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from rich.cells import cell_len
from textual.content import Content, Span
from textual.style import Style

from widgets.terminal_text import ELLIPSIS, PILE, escape, visible


def plain(text: str, *, limit: int = 20_000, newlines: bool = True, exact: bool = False) -> Content:
    """Return `text` as safe content: hidden characters visible, never read as markup."""
    return Content(visible(text, limit=limit, newlines=newlines, exact=exact))


def link(text: str, action: str, style: str = "") -> Content:
    """Return `text` as safe content that runs an action of Textual when it is clicked."""
    content = plain(text, newlines=False)
    spans = [Span(0, len(content), Style.from_meta({"@click": action}))]
    return content.add_spans([Span(0, len(content), style), *spans] if style else spans)


def safe(content: Content | str, *, limit: int = 20_000, newlines: bool = True) -> Content:
    """Return `content` with its styles and its hidden characters visible; a string becomes plain content."""
    if isinstance(content, str):
        return plain(content, limit=limit, newlines=newlines)
    text = content.plain
    if len(text) <= limit and visible(text, limit=limit, newlines=newlines) == text:
        return content
    shown = [visible(character, newlines=newlines) for character in text[:limit]]
    probe = "".join(piece if len(piece) == 1 else "\\" for piece in shown)
    for pile in PILE.finditer(probe):
        shown[slice(*pile.span())] = map(escape, pile.group())
    offsets = [0]
    for piece in shown:
        offsets.append(offsets[-1] + len(piece))
    spans = [
        Span(offsets[span.start], offsets[min(span.end, len(shown))], span.style)
        for span in content.spans
        if span.start < len(shown)
    ]
    return Content("".join(shown) + visible(text[limit:], limit=0), spans)


def cells(line: str) -> int:
    """Return how many cells a visible line takes."""
    return len(line) if line.isascii() else cell_len(line)


def middle(text: str, width: int) -> str:
    """Cut the middle of `text` to fit `width` cells, so that a name keeps both ends."""
    if width <= 0:
        return ""
    reach = 6 * width + 64
    cut = len(text) > 2 * reach
    line = visible(text[:reach] + text[-reach:] if cut else text, newlines=False, limit=2 * reach)
    if not cut and cells(line) <= width:
        return line
    return _fitting(line, width // 2) + ELLIPSIS + _ending(line, (width - 1) // 2)


def head(line: str, width: int) -> str:
    """Cut the end of a visible line to fit `width` cells."""
    return line if cells(line) <= width else _fitting(line, width - 1) + ELLIPSIS * (width > 0)


def tail(line: str, width: int) -> str:
    """Cut the start of a visible line to fit `width` cells."""
    return line if cells(line) <= width else ELLIPSIS * (width > 0) + _ending(line, width - 1)


def _ending(line: str, width: int) -> str:
    """Return the longest suffix of `line` that fits into `width` cells."""
    if line.isascii():
        return line[-width:] if width > 0 else ""
    return _without_leading_marks(_fitting(line[::-1], width)[::-1])


def _fitting(text: str, width: int) -> str:
    """Return the longest prefix of `text` that fits into `width` cells."""
    if text.isascii():
        return text[: max(width, 0)]
    used = 0
    for index, character in enumerate(text):
        used += cell_len(character)
        if used > width:
            return text[:index]
    return text


def _without_leading_marks(text: str) -> str:
    """Drop marks whose letter was cut off: they would land on the ellipsis."""
    start = 0
    while start < len(text) and cell_len(text[start]) == 0:
        start += 1
    return text[start:]


def shortened(names: Iterable[str], width: int) -> dict[str, str]:
    """Fit names into `width` cells; names that differ stay different where `width` allows it at all.

    Of `server:tool` the server gives way first, then the tool, from its middle. If all tools are on one
    server and any does not fit, no name shows the server. Names that would still look alike show where they
    differ; what nothing tells apart gets a number.

    Args:
        names: Lines of visible text.
        width: The most cells of each.

    Returns:
        What to show for each name.
    """
    whole = dict.fromkeys(names)
    bare = _bare(whole, width)
    shown = {name: bare[name] for name in whole if cells(bare[name]) <= width}
    taken = set(shown.values())
    pending = {name: _forms(bare[name], width) for name in whole if name not in shown}
    alike: list[str] = []
    while pending:
        tried = {name: next(forms, "") for name, forms in pending.items()}
        times = Counter(tried.values())
        fresh = {
            name: text for name, text in tried.items() if text and times[text] == 1 and text not in taken
        }
        shown |= fresh
        taken.update(fresh.values())
        alike += [name for name, text in tried.items() if not text]
        pending = {name: pending[name] for name, text in tried.items() if text and name not in fresh}
    return shown | _numbered(alike, width, taken)


def _bare(names: Iterable[str], width: int) -> dict[str, str]:
    """Each name without its server, if that is one for all and any of them is too long."""
    split = {name: name.partition(":") for name in names}
    bare = {name: tool or name for name, (_, _, tool) in split.items()}
    is_one = len({server for server, _, _ in split.values()}) == 1 and len(set(bare.values())) == len(bare)
    return bare if is_one and any(cells(name) > width for name in bare) else {name: name for name in bare}


def _forms(name: str, width: int) -> Iterator[str]:
    """Yield what a name that is too long can become, the best first."""
    server, colon, tool = name.partition(":")
    if not colon:
        server, tool = "", name
    room = width - cells(tool) - 1
    if server and room > 0:
        for short in (head(server, room), middle(server, room), tail(server, room)):
            yield f"{short}:{tool}"
    if width > 0:
        yield middle(tool, width)
        yield middle(name, width)
        yield head(name, width)
        yield tail(name, width)
    if width > 2:
        for start in range(1, len(name), width - 2):
            yield ELLIPSIS + head(name[start:], width - 1)


def _numbered(names: Iterable[str], width: int, taken: set[str]) -> dict[str, str]:
    numbered: dict[str, str] = {}
    number = 1
    for name in names:
        while (text := _with_number(name, number, width)) in taken and len(f"{number}") < width:
            number += 1
        taken.add(text)
        numbered[name] = text
    return numbered


def _with_number(name: str, number: int, width: int) -> str:
    mark = f"#{number}"
    return head(name, width - len(mark)) + mark if len(mark) <= width else middle(name, width)


def shorten(content: Content, width: int, *, where: str = "end") -> Content:
    """Shorten one line of content to `width` cells, at the end or in the middle."""
    if width <= 0:
        return Content("")
    if content.cell_length <= width:
        return content
    if where == "end":
        return content.truncate(width, ellipsis=True)
    return restyled(content, middle(content.plain, width))


def restyled(content: Content, kept: str) -> Content:
    """Return `kept`, what is left of one line of content with an ellipsis, in the content's styles."""
    text = content.plain
    if kept == text:
        return content
    before, _, after = kept.partition(ELLIPSIS)
    if not (text.startswith(before) and text.endswith(after)):
        return Content(kept)
    end = content[len(text) - len(after) :] if after else Content("")
    return Content("").join([content[: len(before)], Content(ELLIPSIS), end])


def matcher(query: str) -> Callable[[str], bool]:
    """Return a test whether a case-folded text contains every word of `query`."""
    words = query.casefold().split()
    return lambda folded: all(word in folded for word in words)
