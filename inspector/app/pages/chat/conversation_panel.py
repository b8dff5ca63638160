"""The conversation panel: one block per item, scrolled to the newest."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Static

from inspector.app.pages.chat.conversation import RESULTS, WIDTH, block
from inspector.core.conversation import Conversation, Item, ItemKind
from widgets import FocusBorder, Hanging

# Blocks are widgets, so only the newest of a long conversation stay mounted.
_MOUNTED = 200
# From this height of the terminal a search lists as many results as it can.
_ROOMY, _FEW_RESULTS = 24, 3
_HINT = "conversation-hint"


class ItemBlock(Static, can_focus=True):
    """One item; enter or a click opens it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "open"),
        Binding("up,k", "app.focus_previous", show=False),
        Binding("down,j", "app.focus_next", show=False),
    ]

    class Opened(Message):
        """The item should open in full."""

        def __init__(self, item: Item) -> None:
            super().__init__()
            self.item = item

    def __init__(self, item: Item) -> None:
        super().__init__(Hanging(block(item)), classes=f"item -{item.kind}", markup=False)
        self.item = item
        self._drawn_for = 0

    def show(self, item: Item) -> None:
        """Draw the item's current state."""
        if item is not self.item:
            self.item = item
            self._draw()

    def on_resize(self) -> None:
        """Draw a search again: its lines depend on the width."""
        if self.item.report is not None and self._drawn_for != self.content_size.width:
            self._draw()

    def _draw(self) -> None:
        self._drawn_for = width = self.content_size.width
        results = RESULTS if self.app.size.height >= _ROOMY else _FEW_RESULTS
        self.update(Hanging(block(self.item, width or WIDTH, results)))

    def action_open(self) -> None:
        self.post_message(self.Opened(self.item))

    def on_click(self) -> None:
        self.action_open()


class ConversationPanel(VerticalScroll, FocusBorder, can_focus=False):
    """Follows the conversation while its end is visible; what the user says brings the end back."""

    BORDER_TITLE = "Conversation"

    conversation: reactive[Conversation] = reactive(Conversation(), init=False)
    empty: reactive[Content] = reactive(Content(""), init=False)
    hint: reactive[Content] = reactive(Content(""), init=False)

    def compose(self) -> ComposeResult:
        yield Static(id="conversation-empty", markup=False)
        yield Static(id=_HINT, markup=False)

    def on_resize(self) -> None:
        self.call_after_refresh(self._follow)

    def _follow(self) -> None:
        """Keep the end in sight from when there is more than fits; what fits begins at the top."""
        overflows = self.max_scroll_y > 0
        if overflows != self.is_anchored:
            self.anchor(overflows)
        if not overflows:
            self.scroll_home(animate=False, force=True)

    def watch_empty(self, empty: Content) -> None:
        self.query_one("#conversation-empty", Static).update(empty)

    def watch_hint(self, hint: Content) -> None:
        """Show below the last block what can be done now."""
        line = self.query_one(f"#{_HINT}", Static)
        line.update(hint)
        line.display = bool(hint)
        self.call_after_refresh(self._follow)

    async def watch_conversation(self, new: Conversation) -> None:
        """Update changed blocks, add new ones and remove the oldest."""
        self.query_one("#conversation-empty").display = not new.items
        blocks = {shown.item.seq: shown for shown in self.query(ItemBlock)}
        fresh = []
        for item in new.items[-_MOUNTED:]:
            shown = blocks.pop(item.seq, None)
            if shown is None:
                fresh.append(ItemBlock(item))
            else:
                shown.show(item)
        await self.remove_children([*blocks.values()])
        await self.mount(*fresh, before=f"#{_HINT}")
        if self.is_anchored and any(shown.item.kind is ItemKind.USER for shown in fresh):
            self.anchor()
        self.call_after_refresh(self._follow)
