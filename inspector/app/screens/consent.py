"""Consent: nothing of an unknown configuration starts before a yes."""

from inspector.app.presenters.consent import consent_body
from inspector.domain.consent import ServerConsent
from widgets import Choice, Confirm

_YES = "yes"


class ConsentDialog(Confirm):
    """Shows exactly what would run; the focus is on no, and esc means no."""

    AUTO_FOCUS = "Button:last-of-type"

    def __init__(self, source: str, servers: tuple[ServerConsent, ...]) -> None:
        choices = (Choice("s", "start these servers", _YES), Choice("n", "no, leave", "no"))
        super().__init__("Start these servers?", consent_body(source, servers), choices)

    @staticmethod
    def accepted(answer: str | None) -> bool:
        """Whether what the dialog returned is a yes."""
        return answer == _YES
