"""The footer, with as many keys as fit."""

from collections.abc import Sequence

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.events import Resize
from textual.widgets import Footer
from textual.widgets._footer import FooterKey

HELP = "f1"


class KeyBar(Footer):
    """Shows the page's keys, then the app's, never cut in two; the help key always stays."""

    def __init__(self) -> None:
        super().__init__(show_command_palette=False, compact=True)
        self._width = 0

    def compose(self) -> ComposeResult:
        keys = [key for key in super().compose() if isinstance(key, FooterKey)]
        self._width = self.app.size.width
        yield from fitting(keys, self._width)

    async def on_resize(self, _event: Resize) -> None:
        if self._width not in (0, self.app.size.width):
            await self.recompose()


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
    return cell_len(f"{key.key_display} {key.description}") + 1
