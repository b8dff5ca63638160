"""The terminal of an app: it may be gone at any moment, and what is pasted into it may be huge."""

import asyncio
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, TextIO, TypeGuard, cast

from textual import events
from textual._styles_cache import StylesCache
from textual.app import App, ReturnType
from textual.cache import LRUCache
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.message_pump import MessagePump
from textual.theme import Theme

from inspector.core.number import byte_size
from inspector.core.text import expression

if TYPE_CHECKING:
    from textual.driver import Driver
    from textual.widgets import Input, TextArea


DARK = Theme(
    name="toolsight-dark",
    primary="#7aa2f7",
    secondary="#9d7cd8",
    accent="#e0af68",
    success="#9ece6a",
    warning="#ff9e64",
    error="#f7768e",
    foreground="#c8d3f5",
    background="#16161e",
    surface="#1a1b26",
    panel="#24283b",
    dark=True,
    variables={"footer-key-foreground": "#e0af68", "border": "#3b4261", "border-blurred": "#2f3549"},
)
LIGHT = Theme(
    name="toolsight-light",
    primary="#2457c5",
    secondary="#7847bd",
    accent="#8f5e15",
    success="#33635c",
    warning="#a4480f",
    error="#b01b3e",
    foreground="#24283b",
    background="#f6f6fa",
    surface="#ffffff",
    panel="#e6e8f0",
    dark=False,
    variables={"footer-key-foreground": "#8f5e15", "border": "#a8aecb", "border-blurred": "#cfd3e4"},
)


# Seconds that a key waits for the one before it, and between two looks whether what that opens is there.
_LONGEST, _NAP = 2.0, 0.01
# An input takes so many bytes, and so many line breaks and tabs: one takes as long to lay out as ten letters.
MOST_BYTES, MOST_BREAKS = 200_000, 20_000
_MOST = f"An input holds at most {byte_size(MOST_BYTES)}."
_BREAK = expression(r"[\n\r\t]")
_MOST_SHEETS = 1024
# Its cache keeps a thousand widgets that are gone, with their lines, unless it is one of the class.
cast("Any", StylesCache).get_inner_outer = classmethod(cast("Any", StylesCache.get_inner_outer))


class Styles(Stylesheet):
    """The style sheets, each read once for a theme: Textual reads all again for a new theme or page."""

    def __init__(self, variables: dict[str, str]) -> None:
        super().__init__(variables=variables)
        self._by_theme: dict[frozenset[tuple[str, str]], LRUCache[Any, list[RuleSet]]] = {}
        self.set_variables(variables)

    def set_variables(self, variables: dict[str, str]) -> None:
        """Use these colors and sizes from now on."""
        self._parse_cache = LRUCache(0)  # Textual would clear the one in use.
        super().set_variables(variables)
        theme = frozenset(variables.items())
        self._parse_cache = self._by_theme.setdefault(theme, LRUCache(_MOST_SHEETS))

    def reparse(self) -> None:
        """Read what has not been read for this theme."""
        self.parse()


class TerminalApp(App[ReturnType]):
    """An app that is left when its terminal is gone, as with its key, and that answers after any paste.

    Every key waits until the one before it is answered. Textual gives them all to what has the focus now, and
    only then runs what the first is bound to: letters behind the key of an input would be keys of the page.
    """

    def __init__(self) -> None:
        super().__init__()
        # Before the first frame: Textual would read the sheets for its own theme, and again for this one.
        self.register_theme(DARK)
        self.register_theme(LIGHT)
        self.set_reactive(App.theme, DARK.name)
        self.stylesheet = Styles(self.get_css_variables())
        self.typed: deque[events.Event] = deque()
        self.holds_keys = False
        self._at: DOMNode | None = None

    async def on_event(self, event: events.Event) -> None:
        """Take what is typed in its turn; the app can be left at any time."""
        # What the terminal says of its cursor says that what was typed before has come.
        is_typed = isinstance(event, events.Paste | events.CursorPosition) or (
            isinstance(event, events.Key) and event.key != "ctrl+q"
        )
        if not is_typed or event.is_forwarded:
            await super().on_event(event)
        elif self.holds_keys:
            self.typed.append(event)
        else:
            self.holds_keys = True
            try:
                await self.answer(event)
            finally:
                self._answering = asyncio.create_task(self.answer_typed())

    async def answer_typed(self) -> None:
        """Answer what waits, each when the one before has gone all the way up and what it opens is there."""
        try:
            await self._answered()
            while self.typed:
                self.call_later(self.answer, self.typed.popleft())
                await _reached(self)
                await self._answered()
        finally:
            self.holds_keys, self._at = False, None

    async def _answered(self) -> None:
        """Wait until a key has gone from what had the focus up to the app, and what that led to is done."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_LONGEST):
                while self._at is not None and self.is_running:
                    pumps = (*self._at.ancestors_with_self, self.screen, self)
                    for pump in pumps:
                        await _reached(pump)
                    is_opening = getattr(self.screen, "is_opening", False)
                    if not is_opening and not any(pump.message_queue_size for pump in pumps):
                        return
                    await asyncio.sleep(_NAP if is_opening else 0)

    async def answer(self, event: events.Event) -> None:
        """Give a key or a paste to what has the focus; cut what is too long to be edited, and say so."""
        if isinstance(event, events.Paste):
            text, event.text = event.text, fitting(event.text, _held(self.focused))
            if len(event.text) < len(text):
                said = f"Pasted {_size(event.text)} of {_size(text)}; the rest was cut. {_MOST}"
                self.notify(said, severity="warning", markup=False)
        if self.focused is not None and not self.focused.is_attached:
            # What has gone while it got the focus would take every key from now on, and answer none.
            self.set_focus(None)
        await super().on_event(event)
        # A letter opens nothing where text is typed.
        is_text = isinstance(event, events.Key) and event.is_printable and _takes_text(self.focused)
        self._at = None if is_text else self.focused or self.screen

    def get_driver_class(self) -> "type[Driver]":
        """Textual's driver for this platform; a terminal's is one that survives it."""
        chosen = super().get_driver_class()
        if sys.platform == "win32":
            return chosen
        from textual.drivers.linux_driver import LinuxDriver

        return _lasting(chosen) if chosen is LinuxDriver else chosen


async def _reached(pump: MessagePump) -> None:
    """Wait until a pump has done what it was asked so far; one that is closed is not waited for."""
    come = asyncio.Event()
    if pump.call_later(come.set):
        await come.wait()


def fitting(text: str, held: str = "") -> str:
    """The beginning of a pasted text that an input has room for, beside what it holds."""
    room = max(MOST_BYTES - _bytes(held), 0)
    kept = (
        text if _bytes(text) <= room else text[:room].encode(errors="replace")[:room].decode(errors="ignore")
    )
    breaks = max(MOST_BREAKS - len(_BREAK.findall(held)), 0)
    first_too_many = next(islice(_BREAK.finditer(kept), breaks, None), None)
    return kept if first_too_many is None else kept[: first_too_many.start()]


def _takes_text(widget: object) -> "TypeGuard[Input | TextArea]":
    from textual.widgets import Input, TextArea  # The first frame has neither.

    return isinstance(widget, Input | TextArea)


def _held(widget: object) -> str:
    """What stays in an input when something is pasted, which replaces the selection."""
    if not _takes_text(widget):
        return ""
    text = widget.value if hasattr(widget, "value") else widget.text
    return text.replace(widget.selected_text, "", 1)


def _bytes(text: str) -> int:
    return len(text.encode(errors="replace"))


def _size(text: str) -> str:
    return byte_size(_bytes(text))


class LastingFile:
    """A terminal to write to; when it is gone, that is told once, and what is written goes nowhere.

    Textual writes in a thread that an error would end, and then waits for it.
    """

    def __init__(self, file: TextIO, gone: Callable[[], None]) -> None:
        self._file = file
        self._gone: Callable[[], None] | None = gone

    def write(self, text: str) -> None:
        self._try(lambda: self._file.write(text))

    def flush(self) -> None:
        self._try(self._file.flush)

    def fileno(self) -> int:
        return self._file.fileno()

    def _try(self, write: Callable[[], object]) -> None:
        if self._gone is None:
            return
        try:
            write()
        except (OSError, ValueError):
            gone, self._gone = self._gone, None
            gone()


class Left(threading.Event):
    """Tells the thread that reads the terminal to end, also when the app ended without its driver.

    Python waits for that thread at its exit, and a terminal that is gone can be read over and over.
    """

    def is_set(self) -> bool:
        return super().is_set() or not threading.main_thread().is_alive()


def _lasting(base: "type[Any]") -> "type[Driver]":
    """Textual's driver, made to leave the app when there is no terminal any more."""

    class LastingDriver(base):  # type: ignore[misc]
        """See `TerminalApp`."""

        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            assert sys.__stderr__ is not None
            self._file = cast("TextIO", LastingFile(sys.__stderr__, self._leave))
            self.exit_event = Left()

        def run_input_thread(self) -> None:
            try:
                super().run_input_thread()
            except OSError:
                self._leave()

        def _leave(self) -> None:
            self._app.exit()

    return LastingDriver
