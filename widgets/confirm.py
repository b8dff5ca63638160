"""`Confirm`: a question with a few answers, each on a key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from widgets.hanging import Hanging
from widgets.text import plain, safe


@dataclass(frozen=True, slots=True)
class Choice:
    """An answer: its key, "" for none, its button's label, and its value (by default the label)."""

    key: str
    label: str
    value: str = ""

    @property
    def result(self) -> str:
        """What the screen returns for this answer."""
        return self.value or self.label


class _ChoiceButton(Button):
    """A button that knows its answer."""

    def __init__(self, choice: Choice) -> None:
        key = Content.assemble(plain(choice.key).stylize("bold underline"), "  ") if choice.key else Content()
        super().__init__(key + plain(choice.label))
        self.choice = choice


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
        self, title: str, body: Content | str = "", choices: Sequence[Choice] = (), *, indent: int = 0
    ) -> None:
        """Create the dialog.

        Args:
            title: The question.
            body: What to know before answering.
            choices: The answers; the first has the focus, and esc gives the last.
            indent: How far from the left, at least, a wrapped line of the body goes on.
        """
        super().__init__()
        self._title = title
        self._body = body
        self._choices = tuple(choices)
        self._indent = indent

    def compose(self) -> ComposeResult:
        """Title, body, buttons."""
        with Vertical():
            yield Static(plain(self._title, limit=400), classes="confirm--title")
            with VerticalScroll(classes="confirm--body", can_focus=False):
                yield Static(Hanging(safe(self._body), self._indent))
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
                self.dismiss(choice.result)
                return

    def action_scroll_body(self, where: str) -> None:
        """Scroll the text: up, down, page_up, page_down, home or end."""
        body = self.query_one(".confirm--body", VerticalScroll)
        getattr(body, f"scroll_{where}")(animate=False)

    def action_refuse(self) -> None:
        """Give the last answer."""
        self.dismiss(self._choices[-1].result if self._choices else None)

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.dismiss(event.button.choice.result if isinstance(event.button, _ChoiceButton) else None)
