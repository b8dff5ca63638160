"""What a page shows as a report, and what its file has, by the ending of its name."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from msgspec import Struct
from textual.widget import Widget
from textual.widgets import Input, Static, Tabs

from inspector.app.draw.document import PAGE, ROWS, Document
from inspector.app.replay import Replay
from inspector.core.error import ConfigError
from inspector.core.number import count
from inspector.core.ports import SystemClock
from inspector.core.report import Block, Fact, Facts, Table
from inspector.store.shared_session import SUFFIX, packed
from widgets import Blocks, FilterBar, JsonTree, KeyBar, RecordList, TextView, ViewStrip

# Keys, and the names of what else could be shown. The lines on top are docked.
_AROUND = KeyBar, FilterBar, Tabs, ViewStrip


def page_report(shown: Widget) -> Iterator[Block]:
    """The texts, lists and trees in it that are in sight, in their order, each below its title."""
    # What Textual has: its markup would have to be read again, and not every title's can.
    title = str(getattr(shown, "_border_title", None) or "")
    match shown:
        case RecordList():
            yield _table(shown, title)
            return
        case Static():
            inner: Iterator[Block] = iter((str(shown.content),))
        case Blocks():
            inner = shown.texts()
        case TextView():
            inner = iter((shown.text or shown.empty,))
        case JsonTree():
            inner = iter((json.dumps(shown.value, indent=2, default=str) if shown.value else shown.empty,))
        case _:
            inner = _inside(shown)
    blocks = [one for one in inner if not isinstance(one, str) or one.strip()]
    if title and blocks:
        yield Facts((), title)
    yield from blocks


def _inside(shown: Widget) -> Iterator[Block]:
    """What its parts show; what is typed stands beside its label."""
    parts = [one for one in shown.children if _is_in_sight(one)]
    inputs = [one for one in parts if isinstance(one, Input)]
    labels = [one for one in parts if inputs and isinstance(one, Static)]
    named = zip(labels, inputs, strict=False)
    if typed := tuple(Fact(str(label.content), one.value) for label, one in named if one.value):
        yield Facts(typed)
    yield from chain.from_iterable(page_report(one) for one in parts if one not in (*labels, *inputs))


def _is_in_sight(part: Widget) -> bool:
    return part.display and part.styles.dock != "top" and not isinstance(part, _AROUND)


def _table(shown: RecordList, title: str) -> Block:
    """A list as it is filtered. What it hides for want of room has room here."""
    records = shown.shown[:ROWS]
    if not records:
        return shown.empty
    rest = len(shown.shown) - len(records)
    has_detail = any(one.detail for one in records)
    rows = [(*map(str, one.cells), *([str(one.detail)] if has_detail else ())) for one in records]
    return Table(
        title,
        (*(column.header for column in shown.columns), *([""] if has_detail else ())),
        tuple(rows),
        frozenset(at for at, column in enumerate(shown.columns) if column.align == "right"),
        (f"{count(rest, 'more row')} left out: this page has its limits.",) if rest else (),
        frozenset(at for at, column in enumerate(shown.columns) if column.width is not None),
    )


class Shared(Struct, frozen=True):
    """What can be written of a page: itself, its session, and perhaps data that it calls `own`."""

    title: str
    report: Iterable[Block]
    words: Sequence[str]
    replay: Replay
    session: str
    own: Callable[[], str] | None = None

    def written(self, file: Path) -> str | bytes:
        """What a file of that name has. Runs in a thread. Raises ToolsightError."""
        if file.suffix == PAGE:
            return Document(self.title.capitalize(), self.report, self.words, SystemClock().now()).html()
        if file.suffix == SUFFIX:
            stream = self.replay.read(self.session)
            return packed(self.session, stream.until(stream.last))
        if self.own is None:
            raise ConfigError(f"its name does not end in {PAGE} or {SUFFIX}")
        return self.own()
