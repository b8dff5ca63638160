"""Asks on screen what servers want to know, one question after the other."""

import asyncio
from typing import TYPE_CHECKING, Any

from inspector.app.dialogs.elicitation.form import FormDialog
from inspector.app.dialogs.elicitation.link import COPY, DECLINE, OPEN, LinkDialog
from inspector.domain.elicitation import (
    CANCELLED,
    DECLINED,
    Action,
    ElicitationAnswer,
    ElicitationRequest,
    FormRequest,
    LinkRequest,
)

if TYPE_CHECKING:
    from textual.app import App


class ModalElicitor:
    """An `Elicitor` that asks on screen. It is created before the app and attached to it later."""

    def __init__(self) -> None:
        self._app: App[None] | None = None
        self._turn = asyncio.Lock()

    def attach(self, app: "App[None]") -> None:
        self._app = app

    async def ask(self, request: ElicitationRequest) -> ElicitationAnswer:
        """See `Elicitor`."""
        if self._app is None:
            return ElicitationAnswer(Action.DECLINE, why="the app is not on screen yet")
        async with self._turn:
            if isinstance(request, FormRequest):
                return await _shown(self._app, FormDialog(request)) or CANCELLED
            return _visited(self._app, request, await _shown(self._app, LinkDialog(request)))


def _visited(app: "App[None]", request: LinkRequest, choice: str | None) -> ElicitationAnswer:
    if choice == OPEN:
        app.open_url(request.url)
    elif choice == COPY:
        app.copy_to_clipboard(request.url)
    else:
        return DECLINED if choice == DECLINE else CANCELLED
    return ElicitationAnswer(Action.ACCEPT)


async def _shown(app: "App[None]", dialog: FormDialog | LinkDialog) -> Any:
    """Show a dialog and wait for its answer; it is taken back if the one who waits is cancelled.

    The caller may come from another thread: only what the app calls itself is in its context.
    """
    answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def told(value: Any) -> None:
        if not answer.done():
            answer.set_result(value)

    app.call_later(app.push_screen, dialog, told)
    try:
        return await answer
    except asyncio.CancelledError:
        app.call_later(dialog.withdraw)
        raise
