"""Shortens the names of a whole list, so that no two of them come to look alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from widgets.terminal_text import ELLIPSIS
from widgets.text import cells, head, middle, tail


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
