"""`ViewStrip`: the names of several views in one line, one of them chosen; still text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

from textual import events, on
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.reactive import reactive
from textual.visual import VisualType
from textual.widget import Widget
from textual.widgets import Static

from widgets.text import plain

_GAP = 2
_KEY = "underline $footer-key-foreground"


class ViewStrip(Widget, can_focus=True):
    """Shows the names and marks the chosen one; a click chooses another, and so does `step`.

    The key of a view is underlined in its name, or stands before it; the screen binds it.
    Where the names do not fit, they are drawn closer, and then from the chosen one's left neighbor on.
    """

    DEFAULT_CSS = """
    ViewStrip { height: 1; width: 100%; padding: 0 1; }
    ViewStrip:focus { background: $boost; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,enter", "app.focus_next", "view", show=False),
        Binding("slash", "search", "search", show=False),
    ]

    views: reactive[tuple[str, ...]] = reactive((), init=False)
    """The names of the views, in order."""
    current: reactive[str] = reactive("", init=False)
    """The name of the chosen view."""
    counts: reactive[Mapping[str, str]] = reactive({}, init=False)
    """What is shown behind the names of some views."""

    @dataclass
    class Chosen(Message):
        """Another view was chosen by the person."""

        strip: ViewStrip
        view: str

        @property
        def control(self) -> ViewStrip:
            return self.strip

    def __init__(
        self, views: Sequence[str] = (), keys: Mapping[str, str] = MappingProxyType({}), **options: Any
    ) -> None:
        """Create a strip with its first view chosen; `keys` has views by their keys.

        The other `options` are those of any widget.
        """
        super().__init__(**options)
        self._keys = {view: key for key, view in keys.items()}
        self.set_reactive(ViewStrip.views, tuple(views))
        self.set_reactive(ViewStrip.current, views[0] if views else "")

    def step(self, by: int) -> None:
        """Choose the next view or the one before; after the last comes the first."""
        if self.views:
            at = self.views.index(self.current) if self.current in self.views else 0
            self._choose(self.views[(at + by) % len(self.views)])

    async def action_search(self) -> None:
        """Open the filter or the search of the view."""
        self.screen.focus_next()
        there = self.screen.active_bindings.get("slash")
        if there is not None and there.enabled:
            await self.app.run_action(there.binding.action, there.node)

    def render(self) -> Content:
        pieces: list[Content | str] = []
        at = 0
        for start, view in self._places(self.content_size.width):
            pieces.append(" " * (start - at))
            label = self._label(view)
            pieces.append(label.stylize("bold reverse") if view == self.current else label)
            at = start + label.cell_length
        return Content.assemble(*pieces)

    def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset(self)
        for start, view in self._places(self.content_size.width):
            label = self._label(view)
            if at is not None and start <= at.x < start + label.cell_length:
                self._choose(view)

    def _choose(self, view: str) -> None:
        if view != self.current:
            self.current = view
            self.post_message(self.Chosen(self, view))

    def _places(self, width: int) -> list[tuple[int, str]]:
        """Where each shown name begins."""
        lengths = {view: self._label(view).cell_length for view in self.views}
        whole = sum(lengths.values())
        gap = _GAP if whole + _GAP * (len(lengths) - 1) <= width else 1
        first = 0
        if whole + gap * (len(lengths) - 1) > width and self.current in self.views:
            first = max(self.views.index(self.current) - 1, 0)
        places: list[tuple[int, str]] = []
        start = 0
        for view in self.views[first:]:
            places.append((start, view))
            start += lengths[view] + gap
        return places

    def _label(self, view: str) -> Content:
        """A name; the chosen one is in brackets too, so that it shows without color."""
        key = self._keys.get(view, "")
        name = view if key.lower() in view.lower() else f"{key} {view}"
        text = " ".join(filter(None, (name, self.counts.get(view, ""))))
        label = plain(f"[{text}]" if view == self.current else text, newlines=False, limit=40)
        at = label.plain.lower().find(key.lower())
        return label.stylize(_KEY, at, at + len(key)) if key and view != self.current else label


class ViewPanel(Vertical):
    """A strip, and parts below it: those are shown that have the chosen view as a class."""

    strip = query_one(ViewStrip)

    def draw(self) -> None:
        """Draw the chosen view."""

    @on(ViewStrip.Chosen)
    def _chosen(self) -> None:
        self.show_part()
        self.draw()

    def on_resize(self) -> None:
        """Draw what depends on the width."""
        self.draw()

    def show_part(self) -> None:
        """Show the parts of the chosen view alone."""
        for part in self.query(".part"):
            part.display = part.has_class(self.strip.current)

    @property
    def text_width(self) -> int:
        """The cells that a line of text has."""
        return max(self.size.width - 3, 20)


class StillText(Static):
    """A text that is drawn again only if it changed, and moves what is around it only if its size did."""

    def update(self, content: VisualType = "", *, layout: bool = True) -> None:
        """Show another text."""
        before = self.content
        if isinstance(before, Content) and isinstance(content, Content):
            if before.is_same(content):
                return
            rooms = self._room(before), self._room(content)
            layout = layout and self.display and (rooms[0] != rooms[1] or None in rooms)
        super().update(content, layout=layout)

    def _room(self, content: Content) -> tuple[int, int] | None:
        """The width and height that the text asks for; a given width counts as 0.

        None if that takes a layout to know: a text of its own width may be too long, or has tabs.
        """
        width = self.content_size.width
        longest = max(line.cell_length for line in content.split("\n", allow_blank=True))
        is_auto = self.styles.width is not None and self.styles.width.is_auto
        if "\t" in content.plain or not width or (is_auto and longest > width):
            return None
        return (longest if is_auto else 0), content.get_height(self.styles, width)  # type: ignore[arg-type]
