"""The events page: every event of the session."""

from collections.abc import Sequence
from typing import ClassVar

from msgspec import to_builtins
from msgspec.structs import replace
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container

from inspector.app.dialogs.detail import DetailScreen
from inspector.app.draw.line import feed_row
from inspector.app.list_page import GroupedPage
from inspector.app.stream import View
from inspector.core.events import AnswerStreamed, Event, Failed, Group, Record
from widgets import Column, JsonTree, Record as Row, RecordList

COLUMNS = (
    Column("seq", "#", align="right", weight=6, hide_below=50),
    Column("time", "time", width=8, hide_below=44),
    Column("kind", "kind", width=11),
    Column("what", "what", weight=5, min_width=16),
)
MAIN = "main"
ALL = "all"
GROUPS: tuple[str, ...] = (MAIN, *Group, ALL)


def in_group(records: Sequence[Record], group: str) -> tuple[Record, ...]:
    """Return the records of a group: MAIN has all but routine, ALL all but pieces of streamed answers."""
    if group == MAIN:
        return tuple(record for record in records if not record.event.is_routine)
    if group == ALL:
        return tuple(record for record in records if not isinstance(record.event, AnswerStreamed))
    return tuple(record for record in records if group in record.event.groups)


def event_row(record: Record) -> Row:
    """Return an event in one line, preceded by its number in the stream."""
    row = feed_row(record)
    return replace(row, cells=(str(record.seq), *row.cells))


def full_text(event: Event) -> str:
    """Return an event as a text to read: of an error all there is, of others one line."""
    if isinstance(event, Failed):
        return "\n\n".join(filter(None, (event.summary(), event.hint, event.raw)))
    return event.summary()


def continued(known: Sequence[Record], feed: Sequence[Record]) -> list[Record] | None:
    """Return `known` with the feed's newer records; None if there is a gap, so the store must be read."""
    last = known[-1].seq if known else 0
    fresh = [record for record in feed if record.seq > last]
    whole = all(record.seq == last + offset for offset, record in enumerate(fresh, 1))
    return [*known, *fresh] if whole else None


class EventsScreen(GroupedPage):
    """A virtual list of all events, with the one under the cursor as JSON."""

    page = "events"
    CSS_PATH = "events_page.tcss"
    AUTO_FOCUS = "#events RecordRows"
    help_lines: ClassVar[tuple[str, ...]] = (
        "The session's events in order, as stored: main leaves out routine events, all shows every event.",
        "enter opens an event in full; an error includes the raw reply.",
        "t shows the next group of events, / filters by text, x exports what is shown.",
        "`toolsight sessions show` prints the same without the app.",
    )
    groups = GROUPS
    BINDINGS: ClassVar[list[BindingType]] = [Binding("x", "app.export", "export", id="events.export")]

    def __init__(self) -> None:
        super().__init__()
        self._records: list[Record] = []
        self._moment = ("", "")
        self._shown: dict[str, Record] = {}
        self._rows: dict[int, Row] = {}

    def body(self) -> ComposeResult:
        empty = "No events in this group yet; t shows the next group."
        yield self.tabs()
        with Container(id="events-page"):
            yield RecordList(COLUMNS, header=True, follow=True, empty=empty, id="events", classes="pane")
            yield JsonTree(empty="Nothing selected.", id="event-detail", classes="pane")

    def show_view(self, view: View) -> None:
        newest = view.feed[-1].seq if view.feed else 0
        last = self._records[-1].seq if self._records else 0
        moment = self.session.session_id, getattr(view.state, "moment", "")
        is_other = moment[0] != self._moment[0]
        if is_other:
            self._rows = {}
        # A replay may go back; a session that runs only grows.
        if is_other or newest > last or (moment != self._moment and newest < last):
            known = continued(self._records, view.feed) if last and not is_other and newest > last else None
            self._records = self.session.records() if known is None else known
            self.draw()
        self._moment = moment

    def draw(self) -> None:
        shown = in_group(self._records, self.group)
        self._shown = {str(record.seq): record for record in shown}
        self.list.records = tuple(map(self._row, shown))
        self.list.border_title = f"Events {len(shown)}"

    def _row(self, record: Record) -> Row:
        # Cached, because records never change and a long session must not get slower with every event.
        if record.seq not in self._rows:
            self._rows[record.seq] = event_row(record)
        return self._rows[record.seq]

    def draw_detail(self) -> None:
        record, detail = self._shown.get(self.key), self.query_one(JsonTree)
        detail.value = to_builtins(record.event) if record else None
        detail.border_title = f"#{record.seq} {record.kind}" if record else "Event"

    def opened(self, key: str) -> None:
        record = self._shown[key]
        data = None if isinstance(record.event, Failed) else to_builtins(record.event)
        self.app.push_screen(DetailScreen(f"#{record.seq} {record.kind}", full_text(record.event), data))
