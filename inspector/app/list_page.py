"""The base of the pages that list something: facts, one or two lists, and the current row in full."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.widget import Widget
from textual.widgets import Static, Tab, Tabs

from inspector.app.base_screen import BaseScreen
from inspector.app.draw.line import failure_line
from inspector.app.stream import View
from widgets import RecordList

# The columns that padding and a scroll bar take.
_BESIDE = 4
_READING = "-reading"


class ListPage(BaseScreen):
    """A page with the line `#facts`, a list, and `#detail` for the row under the cursor.

    A subclass yields its parts in `body` and draws them in `draw`, which runs when what `drawn_from` names
    has changed. `draw_detail` draws the row under the cursor, `opened` is what enter does with it.
    """

    titles: ClassVar[Mapping[str, str]] = {}
    """The titles of the parts, by their ids."""
    DEFAULT_CSS = """
    ListPage {
        & #facts { height: auto; padding: 0 1; }
        & #detail { height: auto; }
    }
    """

    _drawn_from: object = None

    list = query_one(RecordList)
    """The list whose current row the page is about: the first one."""

    def on_mount(self) -> None:
        for id_, title in self.titles.items():
            self.query_one(f"#{id_}").border_title = title
        self.show_view(self.view)

    @property
    def key(self) -> str:
        """The key of the row under the cursor, "" if there is none."""
        return self.key_in(self.list)

    @staticmethod
    def key_in(shown: RecordList) -> str:
        """The key of the row under a list's cursor, "" if there is none."""
        return shown.current.key if shown.current is not None else ""

    @property
    def width(self) -> int:
        """The cells of a line of the detail; by the page, because a pane that was hidden has no size."""
        return max(self.size.width - _BESIDE, 1)

    def show_view(self, view: View) -> None:
        """Draw the page if what is drawn has changed."""
        drawn_from = self.drawn_from(view)
        if drawn_from != self._drawn_from:
            self._drawn_from = drawn_from
            self.draw()

    def drawn_from(self, view: View) -> object:  # noqa: ARG002 - a page that reads in a job has no need of it
        """Return what `draw` shows; the default is for pages that draw what their jobs return."""
        return None

    def draw(self) -> None:
        """Draw the facts and the lists."""

    def draw_detail(self) -> None:
        """Draw the row under the cursor; also after a resize."""

    def moved(self) -> None:
        """Take notice that the cursor of `list` is on another row."""
        self.draw_detail()

    def opened(self, key: str) -> None:
        """Do what enter does on a row of `list`."""

    def on_resize(self) -> None:
        self.call_after_refresh(self.draw_detail)

    def on_record_list_highlighted(self, event: RecordList.Highlighted) -> None:
        if event.control is self.list:
            self.moved()

    def on_record_list_selected(self, event: RecordList.Selected) -> None:
        if event.control is self.list:
            self.opened(event.key)

    def say(self, text: str | Content) -> None:
        """Write a text into the facts and into the empty list."""
        self.write(text)
        self.list.empty = str(text)

    def say_failure(self, error: Exception) -> None:
        """Write into both why there is nothing to list."""
        self.say(failure_line(error))


class ReadingPage(ListPage):
    """Lists on the left, the detail on the right; where there is no room, they take turns."""

    DEFAULT_CSS = """
    ReadingPage {
        & #facts { max-height: 2; background: $boost; }
        & #parts, & #lists, & #reading { height: 1fr; }
        & #lists { width: 1fr; }
        & #lists RecordList { border-top: solid $border; border-title-color: $text-muted; }
        & #lists RecordList:focus-within { border-top: solid $primary; }
        & #reading {
            width: 1fr; padding: 0 1; border-top: solid $border; border-left: solid $border;
            border-title-color: $text-muted; scrollbar-size-vertical: 1;
        }
        & #reading:focus { border-top: solid $primary; }
        &.-narrow #reading { display: none; border-left: none; }
        &.-narrow.-reading #lists { display: none; }
        &.-narrow.-reading #reading { display: block; width: 1fr; }
    }
    """

    _read_from: Widget | None = None

    def body(self) -> ComposeResult:
        yield from self.head()
        with Horizontal(id="parts"):
            with Vertical(id="lists"):
                yield from self.lists()
            with VerticalScroll(id="reading", can_focus=True):
                yield Static(id="detail", markup=False)

    def head(self) -> ComposeResult:
        """Yield what is above the lists."""
        yield Static(id="facts", markup=False)

    @abstractmethod
    def lists(self) -> ComposeResult:
        """Yield the lists."""

    @property
    def is_reading(self) -> bool:
        return self.has_class(_READING)

    def action_read(self) -> None:
        """Go to the text; where there is no room beside the lists, it takes their place."""
        if not self.is_reading:
            self._read_from = self.focused
        self.add_class(_READING)
        self.query_one("#reading").focus()

    def on_descendant_focus(self) -> None:
        """Show the lists again once one of them is in use."""
        if self.query_one("#lists").has_focus_within:
            self.remove_class(_READING)

    async def action_leave(self) -> None:
        """Go from the text back to the list, and from there to where one came from."""
        if self.is_reading:
            self.remove_class(_READING)
            self.set_focus(self._read_from)
        else:
            await super().action_leave()


class GroupedPage(ListPage):
    """A page that shows one group at a time; tabs name the groups, and `draw` draws `group`."""

    groups: ClassVar[tuple[str, ...]] = ()
    group_titles: ClassVar[Mapping[str, str]] = {}
    """What a tab says, unless it is the group's name."""
    BINDINGS: ClassVar[list[BindingType]] = [Binding("t", "next_group", "group", id="trace.group")]
    DEFAULT_CSS = "GroupedPage Tabs { height: 2; }"

    @property
    def group(self) -> str:
        """The group that is shown."""
        return (self.query_one(Tabs).active or f"group-{self.groups[0]}").removeprefix("group-")

    def tabs(self) -> Tabs:
        """Return the names of the groups."""
        tabs = Tabs(*(Tab(self.group_titles.get(name, name), id=f"group-{name}") for name in self.groups))
        tabs.can_focus = False
        return tabs

    def on_tabs_tab_activated(self) -> None:
        self.draw()

    def action_next_group(self) -> None:
        """Show the next group."""
        self.query_one(Tabs).action_next_tab()
