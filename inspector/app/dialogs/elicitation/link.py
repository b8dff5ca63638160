"""An address that a server asks a person to visit."""

from inspector.app.dialogs.elicitation.text import link_body, title
from inspector.app.dialogs.elicitation.withdrawn import Withdrawable
from inspector.domain.elicitation import LinkRequest, address
from widgets import Choice, GuardedConfirm

OPEN, COPY, DECLINE, LATER = "open", "copy", "decline", "later"
_GO = (Choice("", "open in the browser", OPEN), Choice("", "copy the address", COPY))
_STAY = (Choice("", "decline", DECLINE), Choice("", "not now", LATER))


class LinkDialog(GuardedConfirm, Withdrawable):
    """Shows the whole address with its host marked. The focus is on “not now”; it opens nothing by itself."""

    DEFAULT_CSS = "LinkDialog > Vertical { width: 90; }"

    def __init__(self, request: LinkRequest) -> None:
        choices = (*_GO, *_STAY) if address(request.url).opens else _STAY
        super().__init__(title(request), link_body(request), choices)
