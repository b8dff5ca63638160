"""Texts on top of a page: one in full, and the help."""

import re
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from inspector.app.command import COMMANDS, shown_keys
from inspector.app.context import SELECTION, InContext
from widgets import JsonTree, TextView, plain


class DetailScreen(InContext, ModalScreen[None]):
    """A text to read, search and copy, with its data as a tree, if any."""

    COMPONENT_CLASSES: ClassVar[set[str]] = SELECTION
    CSS_PATH = "detail.tcss"
    AUTO_FOCUS = "#detail-text TextLines"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "close", id="detail.close")]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (170, "-wide")]  # noqa: RUF012 - as Textual declares it

    def __init__(self, title: str, text: str, data: object | None = None) -> None:
        super().__init__()
        self._heading = title
        self._text = text
        self._data = data

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(plain(self._heading, limit=300, newlines=False), id="detail-title")
            with Container(id="detail-parts"):
                yield TextView(self._text, empty="No text.", id="detail-text")
                if self._data is not None:
                    yield JsonTree(self._data, empty="No data.", id="detail-data")
            keys = "esc close   / search   y copy"
            yield Static(f"{keys}   tab text/data" if self._data is not None else keys, id="detail-help")


_IN_LISTS = (
    ("j k g G", "down, up, first, last; arrows, home and end work too"),
    ("/", "filter"),
    ("enter", "open"),
    ("w", "why a search does or does not find the tool"),
    ("e", "edit the tool and see the effect"),
    ("l", "load or unload the tool for the model"),
    ("y", "copy the row"),
    ("r", "run again: measure, race, reconnect"),
    ("esc q", "go back one level; from an input, to its list"),
)
_KEY_WIDTH = 10


def help_text(lines: tuple[str, ...]) -> Content:
    """Return the page's own lines, then the commands, then the keys of every list."""
    # Lines that go on are joined, as they wrap to the dialog, not to the source.
    text = re.sub(r"(?<![.:])\n", " ", "\n".join(lines))
    page = [Content(line) for line in text.splitlines()] or [Content("No help for this page.")]
    commands = [
        _row(shown_keys(command) or "ctrl+p", f"{command.title}: {command.help}") for command in COMMANDS
    ]
    lists = [_row(key, what) for key, what in _IN_LISTS]
    blocks = [
        *page,
        Content(""),
        Content.styled("Everywhere", "bold"),
        _row("2 2", "a digit again: the next page of its place"),
        *commands,
        _row("ctrl+p", "find any page, command, tool, server or setting by name"),
        Content(""),
        Content.styled("In every list", "bold"),
        *lists,
    ]
    return Content("\n").join(blocks)


def _row(keys: str, what: str) -> Content:
    return Content.assemble((f"{keys:<{_KEY_WIDTH}}", "bold $accent"), what)


class HelpScreen(ModalScreen[None]):
    """Closes on esc, or on the key that opened it."""

    CSS_PATH = "detail.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,q", "dismiss", "close", show=False)
    ]

    def __init__(self, lines: tuple[str, ...]) -> None:
        super().__init__()
        self._lines = lines

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help") as box:
            box.border_title = "Help"
            box.border_subtitle = "esc closes"
            yield Static(help_text(self._lines), markup=False)
