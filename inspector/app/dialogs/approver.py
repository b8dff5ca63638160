"""Asks for approval with a dialog."""

from typing import TYPE_CHECKING

from inspector.app.dialogs.approval_text import approval_body
from inspector.core.ports import ApprovalRequest, Decision
from widgets import Choice, GuardedConfirm

if TYPE_CHECKING:
    from textual.app import App

_TRUST = Choice("", "trust its claims", Decision.SERVER)
_CHOICES = (
    Choice("", "this session", Decision.SESSION),
    Choice("", "once", Decision.ONCE),
    Choice("", "no", Decision.NO),
)


class ModalApprover:
    """An `Approver` that asks on screen. It is created before the app and attached to it later."""

    def __init__(self, *, yes: bool = False) -> None:
        """With `yes`, every call is approved without asking."""
        self._yes = yes
        self._app: App[None] | None = None

    def attach(self, app: "App[None]") -> None:
        self._app = app

    async def ask(self, request: ApprovalRequest) -> Decision:
        if self._yes:
            return Decision.SESSION
        if self._app is None:
            return Decision.NO
        choices = (_TRUST, *_CHOICES) if request.offers_trust else _CHOICES
        dialog = GuardedConfirm(f"Call {request.tool.id}?", approval_body(request), choices)
        # A future instead of push_screen_wait, because any task may ask, not only a worker.
        answer = self._app.push_screen(dialog, wait_for_dismiss=True)
        return Decision(await answer or Decision.NO)
