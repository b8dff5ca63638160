"""Questions that come up of themselves, perhaps while someone types: `Guarded`, `Confirm`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from math import ceil
from typing import Any, ClassVar

from msgspec import Struct
from rich.cells import cell_len
from textual import events, on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.screen import ModalScreen, Screen
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Button, Input, Static, TextArea

from widgets.text import Hanging, plain, safe


class Choice(Struct, frozen=True):
    """An answer: its key, "" for none, its button's label, and its value (by default the label)."""

    key: str
    label: str
    value: str = ""


class _ChoiceButton(Button):
    """A button that knows its answer."""

    def __init__(self, choice: Choice) -> None:
        key = Content.assemble(plain(choice.key).stylize("bold underline"), "  ") if choice.key else Content()
        super().__init__(key + plain(choice.label))
        self.result = choice.value or choice.label


class Confirm(ModalScreen[str | None]):
    """Asks a question and returns the value of the answer.

    The first answer has the focus, so make it a safe one; esc gives the last one, so make that the refusal.
    Without answers there is a "close" button, which returns `None`.
    """

    DEFAULT_CSS = """
    Confirm {
        align: center middle;
        & > Vertical {
            width: 72;
            max-width: 90%;
            height: auto;
            max-height: 90%;
            padding: 1 2;
            border: round $accent;
            background: $surface;
        }
        & .confirm--title { text-style: bold; margin-bottom: 1; height: auto; max-height: 3; }
        & .confirm--body { height: auto; max-height: 40vh; margin-bottom: 1; }
        & .confirm--body > Static { height: auto; }
        & .confirm--choices { height: auto; }
        & Button { margin-right: 1; min-width: 10; width: auto; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "refuse", "no", show=False),
        Binding("left", "app.focus_previous", show=False),
        Binding("right", "app.focus_next", show=False),
        # The buttons have the focus, but all of the text must be readable without a mouse.
        Binding("up", "scroll_body('up')", show=False),
        Binding("down", "scroll_body('down')", show=False),
        Binding("pageup", "scroll_body('page_up')", show=False),
        Binding("pagedown", "scroll_body('page_down')", show=False),
        Binding("home", "scroll_body('home')", show=False),
        Binding("end", "scroll_body('end')", show=False),
    ]

    AUTO_FOCUS = "Button"

    def __init__(
        self, title: str, body: Hanging | Content | str = "", choices: Sequence[Choice] = ()
    ) -> None:
        """The `body` is what to know before answering; `Hanging` text has to be safe."""
        super().__init__()
        self._title = title
        self._body = body if isinstance(body, Hanging) else Hanging(safe(body))
        self._choices = tuple(choices)

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(plain(self._title, limit=400), classes="confirm--title")
            with VerticalScroll(classes="confirm--body", can_focus=False):
                yield Static(self._body)
            with Horizontal(classes="confirm--choices"):
                if not self._choices:
                    yield Button(Content("close"))
                for choice in self._choices:
                    yield _ChoiceButton(choice)

    def on_key(self, event: events.Key) -> None:
        """Answer when the key of a choice is pressed."""
        for choice in self._choices:
            if choice.key in {event.key, event.character}:
                event.stop()
                self.dismiss(choice.value or choice.label)
                return

    def action_scroll_body(self, where: str) -> None:
        """Scroll the text: up, down, page_up, page_down, home or end."""
        body = self.query_one(".confirm--body", VerticalScroll)
        getattr(body, f"scroll_{where}")(animate=False)

    def action_refuse(self) -> None:
        """Give the last answer."""
        self.dismiss(self._choices[-1].value or self._choices[-1].label if self._choices else None)

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.dismiss(event.button.result if isinstance(event.button, _ChoiceButton) else None)


# Seconds until it takes an answer, and until a burst of keys is over: longer than between two letters.
_FIRST, _PAUSE = 1.0, 0.7
# Seconds that a terminal gets to say where its cursor is.
_SILENCE = 2.0
# Where the cursor is put for that, counted from 1: F3 with a modifier looks like an answer of the first row.
_ROW, _COLUMNS = 2, 20


def ask_position(app: App[Any], column: int) -> bool:
    """Ask the terminal for its cursor's position in that column. False if there is no terminal.

    Its answer, a `CursorPosition`, comes once it has drawn all before, behind all older input.
    """
    driver = app._driver
    if driver is None or driver.is_headless:
        return False
    driver.write(f"\x1b7\x1b[{_ROW};{column}H\x1b[6n\x1b8")
    driver.flush()
    return True


class _TooSmall(Widget):
    """Stands in for a question that cannot be shown: it can only be refused."""

    DEFAULT_CSS = """
    _TooSmall { display: none; height: auto; padding: 0 1; background: $surface; }
    _TooSmall > Static { height: auto; }
    _TooSmall > Button { width: auto; min-width: 6; }
    """

    def __init__(self, least: Size, refuse: Callable[[], None]) -> None:
        super().__init__()
        self._refuse = refuse
        self._least = f"{least.width} x {least.height}"

    def compose(self) -> ComposeResult:
        yield Static(Content(f"Terminal too small for this question. Enlarge it to {self._least}."))
        yield Button(Content("no"), compact=True)

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self._refuse()


class Guarded(Screen[Any]):
    """A question that takes only esc in its first second, and no other key of a burst that began before.

    The second begins when the terminal has drawn the question, and it ends for what comes behind the
    terminal's next answer: a click that waited in a slow line or on a busy machine comes before. To a
    terminal that has never answered, the question opens _SILENCE seconds after its first frame.

    Keys go on to the input below. The app has to ask `pass_on` before it handles a key, a paste or a
    position of the cursor, in the order in which they came. In a terminal that is smaller than `least` it
    only says so, and can only be refused.
    """

    clock: ClassVar[Callable[[], float]] = time.monotonic
    """Seconds from any beginning."""
    is_answering: ClassVar[bool] = False
    """Whether the terminal has ever said where its cursor is."""
    _last_column: ClassVar[int] = 1

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._opens_at = self._quiet_at = self._now() + _FIRST
        self._is_pressed_early = True
        self._look: Timer | None = None
        # Answers that the terminal still has to give, and the next one's column.
        self._left = self._column = 0
        self._next: Timer | None = None

    @property
    def takes_text(self) -> bool:
        """Whether letters are for it now, if keys are; else they go on to the input below."""
        return False

    @property
    def least(self) -> Size:
        """The smallest terminal that shows enough of it for any other answer than the refusal."""
        return Size(0, 0)

    @property
    def is_too_small(self) -> bool:
        """Whether it can only be refused."""
        return self.app.size.width < self.least.width or self.app.size.height < self.least.height

    def on_mount(self) -> None:
        self._small = _TooSmall(self.least, self.action_refuse)
        self.mount(self._small)
        # It is seen from its first frame on, however long ago it was made.
        self.call_after_refresh(self._begin)
        self._begin()

    def on_resize(self) -> None:
        """Say so if it does not fit, and take its time again once it does."""
        is_too_small = self.is_too_small
        if is_too_small is self._small.display:
            return
        self._small.display = is_too_small
        for part in self.query_children(Vertical):
            part.display = not is_too_small
        self._begin()
        self.call_after_refresh(self._focus_refusal)

    def action_refuse(self) -> None:
        """Give the answer that changes nothing."""
        self.dismiss(None)

    def show_waiting(self, waiting: bool) -> None:
        """Say whether it takes an answer now."""

    def pass_on(self, event: events.Event) -> bool:
        """Whether a key or a paste is not for the question; then the input below has got it."""
        if isinstance(event, events.CursorPosition):
            self._heard(event)
            return True
        # The refusal changes nothing, so it needs no guard.
        if isinstance(event, events.Key) and event.key == "escape":
            return False
        now = self._now()
        is_text = isinstance(event, events.Paste) or (
            isinstance(event, events.Key) and (event.is_printable or event.key == "backspace")
        )
        if self._is_open and now >= self._quiet_at and (self.takes_text or not is_text):
            return False
        self._quiet_at = max(self._quiet_at, now + _PAUSE)
        self._show_state()
        below = self.app.screen_stack[-2].focused
        if isinstance(below, Input | TextArea):
            # What the input has no use for would go up to the app, and from there to the question.
            event.stop()
            below._forward_event(event)
        return True

    def _forward_event(self, event: events.Event) -> None:
        """Let no click through that began in the first second, or before the question was there."""
        if isinstance(event, events.MouseDown):
            self._is_pressed_early = not self._is_open
        is_click = isinstance(event, events.MouseDown | events.MouseUp | events.Click)
        if not (is_click and self._is_pressed_early):
            super()._forward_event(event)

    @property
    def _is_open(self) -> bool:
        return not self._left and self._now() >= self._opens_at

    def _begin(self) -> None:
        """Take no answer for a second from now on, and from when the terminal has drawn it."""
        self._is_pressed_early = True
        self._left = 2
        self._wait(_FIRST)
        self._ask()

    def _wait(self, seconds: float) -> None:
        self._opens_at = self._quiet_at = self._now() + seconds
        self._show_state()

    def _ask(self) -> None:
        """Have the terminal answer in a column that tells this question from others."""
        Guarded._last_column = self._column = Guarded._last_column % _COLUMNS + 1
        self._ask_again()

    def _ask_again(self) -> None:
        if ask_position(self.app, self._column):
            self._later(_SILENCE - _PAUSE, self._ask_again if Guarded.is_answering else self._give_up)
        else:
            self._left = 0
            self._show_state()

    def _give_up(self) -> None:
        """Do without an answer, unless it comes yet; what waits behind this was made before."""
        self._left = 0
        self._wait(_PAUSE)

    def _later(self, seconds: float, work: Callable[[], None]) -> None:
        if self._next is not None:
            self._next.stop()
        self._next = self.set_timer(seconds, work)

    def _heard(self, event: events.CursorPosition) -> None:
        """Let the second begin with the first answer, and end with the second one."""
        if (event.y, event.x) != (_ROW - 1, self._column - 1):
            return
        Guarded.is_answering = True
        self._column = 0
        self._left = (self._left or 2) - 1
        if self._left:
            self._wait(_FIRST)
            self._later(_FIRST, self._ask)
        elif self._next is not None:
            self._next.stop()
            self._show_state()

    def _focus_refusal(self) -> None:
        buttons = self._small.query(Button) if self._small.display else self.query(str(self.AUTO_FOCUS))
        self.set_focus(buttons.first())

    def _now(self) -> float:
        return type(self).clock()

    def _show_state(self) -> None:
        """Tell whether it takes an answer now, and look again when it does."""
        left = self._quiet_at - self._now()
        is_waiting = left > 0 or self._left > 0
        self.set_class(is_waiting, "-waiting")
        self.show_waiting(is_waiting)
        if self._look is not None:
            self._look.stop()
        self._look = self.set_timer(left, self._show_state) if left > 0 else None


_WAITING = "answers open in a moment   esc means no"
_READY = "← → choose   enter answers   esc means no"
# Its frame and padding take six columns, and all of it at most nine tenths of the terminal. In a lower one
# the answers are cut off, or fewer than four lines of the text are seen at once.
_FRAME, _SHARE, _LEAST_HEIGHT = 6, 0.9, 17
_LEAST_BUTTON = 10


class GuardedConfirm(Confirm, Guarded):
    """Letters are never an answer: they go on to the input below, and so does every key of a burst but esc.

    Another key may be, such as the one that asked: `ctrl+r` once more.

    The last choice has the focus, so make that the refusal, and the one before it the narrowest yes: that is
    where tab and the arrows lead from the refusal. The app has to ask `pass_on` before it handles a key or a
    paste.
    """

    DEFAULT_CSS = "GuardedConfirm > Vertical { border-subtitle-color: $text-muted; }"
    AUTO_FOCUS = "Button:last-of-type"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "next_answer(True)", show=False),
        Binding("right", "next_answer(False)", show=False),
    ]

    def __init__(
        self, title: str, body: Hanging | Content | str = "", choices: Sequence[Choice] = ()
    ) -> None:
        keys = (choice.key if len(choice.key) > 1 else "" for choice in choices)
        letterless = [Choice(key, one.label, one.value) for key, one in zip(keys, choices, strict=True)]
        super().__init__(title, body, letterless)

    @property
    def least(self) -> Size:
        """So large that every answer is seen whole, and some of the text above them."""
        labels = (f"{one.key}  {one.label}" if one.key else one.label for one in self._choices)
        widths = (max(cell_len(label) + 2, _LEAST_BUTTON) for label in labels)
        return Size(ceil((sum(widths) + len(self._choices) - 1 + _FRAME) / _SHARE), _LEAST_HEIGHT)

    def action_next_answer(self, turns: bool) -> None:
        """Focus the next answer; what comes after the last is never the first, which allows the most.

        If it `turns`, that is the one before the last.
        """
        if self.focused is not self.query(".confirm--choices > Button").last():
            self.focus_next()
        elif turns and len(self._choices) > 1:
            self.focus_previous()

    def show_waiting(self, waiting: bool) -> None:
        """Say whether it takes an answer now."""
        self.query_one(Vertical).border_subtitle = _WAITING if waiting else _READY
