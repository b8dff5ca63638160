"""Consent: nothing in an unknown configuration starts without a yes."""

from inspector.app.dialogs.consent_text import TEXT_AT, consent_body
from inspector.config.consent import ServerConsent
from widgets import Choice, GuardedConfirm

_YES = "yes"


class ConsentDialog(GuardedConfirm):
    """Shows exactly what would run. The focus is on no, and esc means no."""

    DEFAULT_CSS = "ConsentDialog > Vertical { width: 100; }"

    def __init__(self, source: str, servers: tuple[ServerConsent, ...]) -> None:
        choices = (Choice("", "start these servers", _YES), Choice("", "no, leave", "no"))
        super().__init__("Start these servers?", consent_body(source, servers), choices, indent=TEXT_AT)

    @staticmethod
    def accepted(answer: str | None) -> bool:
        """Whether the dialog's answer is a yes."""
        return answer == _YES
