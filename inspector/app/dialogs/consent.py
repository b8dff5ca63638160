"""Consent: nothing in an unknown configuration starts without a yes."""

from textual.containers import Vertical

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

    def __init__(self, source: str, servers: tuple[ServerConsent, ...]) -> None:
        choices = (Choice("s", "start these servers", _YES), Choice("n", "no, leave", "no"))
        super().__init__("Start these servers?", consent_body(source, servers), choices)

    def on_mount(self) -> None:
        self.query_one(Vertical).border_subtitle = "↑ ↓ scroll, esc means no"

    @staticmethod
    def accepted(answer: str | None) -> bool:
        """Whether the dialog's answer is a yes."""
        return answer == _YES
