"""Consent: nothing in an unknown configuration starts without a yes."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll

from inspector.app.dialogs.consent_text import consent_body
from inspector.domain.consent import ServerConsent
from widgets import Choice, Confirm

_YES = "yes"


class ConsentDialog(Confirm):
    """Shows exactly what would run. The focus is on no, and esc means no."""

    DEFAULT_CSS = """
    ConsentDialog > Vertical { width: 100; border-subtitle-color: $text-muted; }
    """
    AUTO_FOCUS = "Button:last-of-type"
    # The buttons have the focus, but all of the text must be readable without a mouse.
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "scroll_body('up')", show=False),
        Binding("down", "scroll_body('down')", show=False),
        Binding("pageup", "scroll_body('page_up')", show=False),
        Binding("pagedown", "scroll_body('page_down')", show=False),
        Binding("home", "scroll_body('home')", show=False),
        Binding("end", "scroll_body('end')", show=False),
    ]

    def __init__(self, source: str, servers: tuple[ServerConsent, ...]) -> None:
        choices = (Choice("s", "start these servers", _YES), Choice("n", "no, leave", "no"))
        super().__init__("Start these servers?", consent_body(source, servers), choices)

    def on_mount(self) -> None:
        self.query_one(Vertical).border_subtitle = "↑ ↓ scroll, esc means no"

    def action_scroll_body(self, where: str) -> None:
        """Scroll the text: up, down, page_up, page_down, home or end."""
        body = self.query_one(".confirm--body", VerticalScroll)
        getattr(body, f"scroll_{where}")(animate=False)

    @staticmethod
    def accepted(answer: str | None) -> bool:
        """Whether the dialog's answer is a yes."""
        return answer == _YES
