"""The footer with as many keys as fit, a line to filter by, and frames that show the focus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from rich.cells import cell_len
from textual import events, on
from textual.containers import Container, Horizontal
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.widget import AwaitMount, Widget
from textual.widgets import Input, Static

from widgets.prompt import PlainInput
from widgets.record import Record
from widgets.text import matcher, plain
from widgets.view_strip import StillText

HELP = "question_mark"
_QUIT = "ctrl+q"
_GAP = 2


class FooterKey(NamedTuple):
    """A key of the footer: how it is shown, what it does, and whether it does so now and on every page."""

    key: str
    display: str
    description: str
    is_enabled: bool
    is_everywhere: bool

    @property
    def cells(self) -> int:
        return cell_len(f"{self.display} {self.description}")

    @property
    def label(self) -> Content:
        label = Content.assemble(
            (self.display, "bold $footer-key-foreground"),
            (f" {self.description}", "$footer-description-foreground"),
        )
        return label if self.is_enabled else label.stylize("dim")


class KeyBar(Widget):
    """Shows the page's keys, then those of every page, never cut in two; the help key always stays.

    All of them are one line of text: with Textual's own footer, which has a widget for every key, opening a
    page takes half as long again.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    KeyBar { dock: bottom; height: 1; color: $footer-foreground; background: $footer-background; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._offered: list[FooterKey] = []
        self._is_due = False

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._bindings_changed)

    def _bindings_changed(self, screen: Screen[Any]) -> None:
        """Look at the keys once before the next frame, however often the focus moves until then."""
        if not self._is_due and screen.app.app_focus and screen is self.screen:
            self._is_due = self.call_after_refresh(self._renew)

    def _renew(self) -> None:
        self._is_due = False
        if not self.is_attached:
            return
        offered: dict[str, FooterKey] = {}
        for node, binding, is_enabled, _ in self.screen.active_bindings.values():
            if binding.show and binding.action not in offered:
                shown = binding.key, self.app.get_key_display(binding), binding.description
                offered[binding.action] = FooterKey(*shown, is_enabled, is_everywhere=node is self.app)
        if self._offered != list(offered.values()):
            self._offered = list(offered.values())
            self.refresh()

    def placed(self) -> list[tuple[int, FooterKey]]:
        """The keys that fit, and where each begins."""
        pages = [key for key in self._offered if not key.is_everywhere]
        rest = sorted((key for key in self._offered if key.is_everywhere), key=lambda key: key.key == _QUIT)
        shown = fitting([*pages, *rest], self.size.width - _GAP)
        placed: list[tuple[int, FooterKey]] = []
        at = 0
        for group in ([key for key in shown if key in pages], [key for key in shown if key in rest]):
            for key in group:
                placed.append((at, key))
                at += key.cells + _GAP
            at += _GAP if pages else 0
        return placed

    def render(self) -> Content:
        line = Content("")
        for start, key in self.placed():
            line = line.pad_right(start - line.cell_length) + key.label
        return line

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Do what the key under the mouse does."""
        key = self._at(event.x)
        if key is not None and key.is_enabled:
            self.app.simulate_key(key.key)
        elif key is not None:
            self.app.bell()

    def _at(self, x: int) -> FooterKey | None:
        return next((key for start, key in self.placed() if start <= x < start + key.cells), None)


def fitting(keys: Sequence[FooterKey], width: int) -> list[FooterKey]:
    """Return the keys that fit into the width, in order; the help key is always among them."""
    room = width - sum(key.cells + _GAP for key in keys if key.key == HELP)
    shown: list[FooterKey] = []
    is_full = False
    for key in keys:
        if key.key == HELP:
            shown.append(key)
            continue
        room -= key.cells + _GAP
        is_full = is_full or room < 0
        if not is_full:
            shown.append(key)
    return shown


class FocusBorder(Widget):
    """Mixed into a widget, takes the theme's primary color while that or something in it has the focus.

    It stands after the widget among the bases, because styles come from the first one. For `:focus-within`
    Textual styles everything in the container again with each move of the focus, which takes a tenth of a
    second and more where that is a hundred widgets.
    """

    def on_mount(self) -> None:
        """Follow another theme."""
        self.app.theme_changed_signal.subscribe(self, lambda _: self._light())

    def on_descendant_focus(self) -> None:
        self._light()

    def on_descendant_blur(self) -> None:
        self._light()

    def on_focus(self) -> None:
        self._light()

    def on_blur(self) -> None:
        self._light()

    def _light(self) -> None:
        kind, _ = self.styles.base.border_top
        color = self.app.theme_variables["primary"]
        self.styles.border = (kind, color) if self.has_focus_within and kind else None


class FocusFrame(Container, FocusBorder):
    """A container with such a border."""


class FilterBar(Horizontal):
    """A prompt, an input, and a count on the right; hidden until opened.

    They are mounted then: most lists are never filtered, and an input takes as long as the rest of a list.
    """

    DEFAULT_CSS = """
    FilterBar {
        height: 1;
        display: none;
        &.-open { display: block; }
        & > .filter-bar--prompt { width: 2; padding: 0; color: $accent; text-style: bold; }
        & > .filter-bar--count { width: auto; padding: 0 1; color: $text-muted; }
    }
    """

    class Edited(Message):
        """The text was changed; read it from the input, where more may have been typed since."""

    class Done(Message):
        """Enter was pressed."""

    @dataclass
    class Stepped(Message):
        """An arrow or page key was pressed, to move the cursor of the list."""

        key: str

    def __init__(self, placeholder: str) -> None:
        super().__init__()
        self.input = PlainInput(placeholder=placeholder)
        self._count = StillText("", classes="filter-bar--count", markup=False)

    def _show(self) -> AwaitMount:
        self.add_class("-open")
        prompt = Static("/", classes="filter-bar--prompt", markup=False)
        return self.mount(*(() if self.input.is_attached else (prompt, self.input, self._count)))

    def set_value(self, value: str) -> None:
        """Set the text; opens the bar unless the text is empty."""
        if self.input.value != value:
            self.input.value = value
        if value and not self.is_open:
            self._show()
        elif not value and not self.input.has_focus:
            self.remove_class("-open")

    def set_count(self, count: str) -> None:
        """Show how many matches there are."""
        self._count.update(plain(count))

    @property
    def is_open(self) -> bool:
        """Whether the bar is on screen."""
        return self.has_class("-open")

    async def open(self) -> None:
        """Show the bar and give it the focus."""
        await self._show()
        self.input.focus()

    def close(self) -> None:
        """Clear and hide the bar."""
        self.remove_class("-open")
        self.input.value = ""

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Edited())

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.set_class(bool(event.value), "-open")
        self.post_message(self.Done())

    def on_key(self, event: events.Key) -> None:
        """Pass on the keys that move a cursor up and down."""
        if event.key in {"up", "down", "pageup", "pagedown"}:
            event.stop()
            self.post_message(self.Stepped(event.key))


class RecordFilter:
    """Finds the records that contain every word of a query, and caches their search texts."""

    def __init__(self) -> None:
        self._records: tuple[Record, ...] = ()
        self._haystacks: list[str] = []

    def apply(self, records: tuple[Record, ...], query: str) -> tuple[Record, ...]:
        """Return the records that contain every word, in order, with the headings above them."""
        if not query.strip():
            return records
        if records is not self._records:
            self._records, self._haystacks = records, [record.haystack() for record in records]
        matches = matcher(query)
        kept: list[Record] = []
        heading: Record | None = None
        for record, text in zip(records, self._haystacks, strict=True):
            if record.is_heading:
                heading = record
            if not matches(text):
                continue
            if heading is not None and heading is not record:
                kept.append(heading)
            heading = None
            kept.append(record)
        return tuple(kept)

    def lead(self, shown: tuple[Record, ...], current: Record | None, query: str) -> tuple[int, bool]:
        """Return the row to go to, and whether the cursor leaves its own: one found by its name comes first.

        The cursor also leaves a heading that is not found itself.
        """
        matches = matcher(query)

        def misses(record: Record) -> bool:
            return not matches(record.key.casefold())

        first = min(range(len(shown)), key=lambda at: (misses(shown[at]), shown[at].is_heading), default=0)
        if current is None or not shown:
            return first, False
        is_only_above = current.is_heading and not matches(current.haystack())
        return first, is_only_above or misses(current) > misses(shown[first])
