"""What a person reads of a server's question. All of it but our own sentences is the server's text."""

from collections.abc import Sequence

from textual.content import Content

from inspector.app.draw.style import MUTED
from inspector.domain.elicitation import (
    LONGEST_MESSAGE,
    ElicitationRequest,
    FormRequest,
    LinkRequest,
    address,
    impersonation,
)
from inspector.domain.elicitation_form import FormField, form_warnings
from widgets import plain, visible

_WARNING = "$text-warning"
_NO_SECRETS = "Your answers go to the server unchanged. Never enter passwords, keys or tokens."
_OPENS_NOTHING = (
    "Nothing opens until you choose to. What you enter there goes to that host, not through Toolsight."
)


def title(request: ElicitationRequest) -> str:
    """Which server asks for what."""
    server = visible(request.server, limit=60, newlines=False)
    wants = "asks you to fill in a form" if isinstance(request, FormRequest) else "asks you to open a link"
    return f"The server {server} {wants}"


def form_body(request: FormRequest, fields: Sequence[FormField]) -> Content:
    """What the server says, and what to know before sending anything."""
    warnings = [plain(f"! {one}", limit=400, newlines=False) for one in form_warnings(request, fields)]
    lines = [_said(request.message), Content.styled(_NO_SECRETS, MUTED)]
    lines += [warning.stylize(_WARNING) for warning in warnings]
    return Content("\n").join(lines)


def link_body(request: LinkRequest) -> Content:
    """What the server says, and the whole address with its host marked."""
    parts = address(request.url)
    whole = Content.assemble(
        plain(parts.before, newlines=False).stylize(MUTED),
        plain(parts.host, newlines=False).stylize("bold reverse"),
        plain(parts.after, newlines=False).stylize(MUTED),
    )
    host = (
        Content.assemble("host  ", plain(parts.host, newlines=False).stylize("bold"))
        if parts.host
        else Content("")
    )
    found = (impersonation(f"the server {request.server}", request.message), *parts.warnings)
    warnings = [plain(f"! {one}", limit=400, newlines=False).stylize(_WARNING) for one in filter(None, found)]
    note = Content.styled(_OPENS_NOTHING, MUTED)
    return Content("\n").join(
        [_said(request.message), Content(""), whole, host, *warnings, Content(""), note]
    )


def _said(message: str) -> Content:
    return (
        plain(message, limit=LONGEST_MESSAGE)
        if message.strip()
        else Content.styled("The server gave no reason.", MUTED)
    )
