"""The footer, with as many keys as fit."""

from collections.abc import Sequence
from typing import Any

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding
from textual.events import Resize
from textual.screen import Screen
from textual.widgets import Footer
from textual.widgets._footer import FooterKey, FooterLabel

HELP = "question_mark"
_QUIT = "ctrl+q"
_GAP = "  "


class KeyBar(Footer):
    """Shows the page's keys, then those of every page, never cut in two; the help key always stays."""

    DEFAULT_CSS = "KeyBar.-compact FooterKey { margin-right: 2; }"

    def __init__(self) -> None:
        super().__init__(show_command_palette=False, compact=True)
        self._width = 0
        self._offered: list[tuple[Binding, bool]] = []
        self._is_due = False

    def compose(self) -> ComposeResult:
        keys = [key for key in super().compose() if isinstance(key, FooterKey)]
        self._width = self.app.size.width
        self._offered = _offered(self.screen) if self._bindings_ready else []
        everywhere = {binding.key for binding in self._of_the_app()}
        pages = [key for key in keys if key.key not in everywhere]
        rest = sorted((key for key in keys if key.key in everywhere), key=lambda key: key.key == _QUIT)
        shown = fitting([*pages, *rest], self._width - len(_GAP))
        yield from (key for key in shown if key in pages)
        if pages:
            yield FooterLabel(_GAP)
        yield from (key for key in shown if key in rest)

    def _of_the_app(self) -> list[Binding]:
        """The bindings that work on every page."""
        return [active.binding for active in self.screen.active_bindings.values() if active.node is self.app]

    def bindings_changed(self, screen: Screen[Any]) -> None:
        """Look at the keys once before the next frame, however often the focus moves until then."""
        self._bindings_ready = True
        if self._is_due or not (screen.app.app_focus and self.is_attached and screen is self.screen):
            return
        self._is_due = self.call_after_refresh(self._renew)

    async def _renew(self) -> None:
        self._is_due = False
        if self.is_attached and self._offered != _offered(self.screen):
            await self.recompose()

    async def on_resize(self, _event: Resize) -> None:
        if self._width not in (0, self.app.size.width):
            await self.recompose()


def _offered(screen: Screen[Any]) -> list[tuple[Binding, bool]]:
    """The keys that the screen would show, and which of them are enabled."""
    active = screen.active_bindings.values()
    return [(binding, enabled) for _, binding, enabled, _ in active if binding.show]


def fitting(keys: Sequence[FooterKey], width: int) -> list[FooterKey]:
    """Return the keys that fit into the width, in order; the help key is always among them."""
    room = width - sum(_cells(key) for key in keys if key.key == HELP)
    shown: list[FooterKey] = []
    is_full = False
    for key in keys:
        if key.key == HELP:
            shown.append(key)
            continue
        room -= _cells(key)
        is_full = is_full or room < 0
        if not is_full:
            shown.append(key)
    return shown


def _cells(key: FooterKey) -> int:
    return cell_len(f"{key.key_display} {key.description}") + 2
