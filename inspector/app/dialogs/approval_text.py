"""What to know before approving a tool call that may change something."""

from textual.content import Content

from inspector.app.draw.definition_change import change_lines
from inspector.app.draw.style import MUTED
from inspector.core.ports import ApprovalRequest
from inspector.schema.json_value import compact
from widgets import plain, visible

_VALUE_LIMIT = 2000
_TRUSTING = (
    "Toolsight cannot verify the claim. For the rest of this session, “trust its claims” runs any tool that "
    "{} marks as read-only without asking."
)


def trusting(server: str) -> Content:
    """Return what it means to trust the claims of a server."""
    return Content.styled(_TRUSTING.format(visible(server, limit=60, newlines=False)), MUTED)


def approval_body(request: ApprovalRequest) -> Content:
    """Return the reason for asking, every argument on its own line, and what changed in the definition."""
    lines = [Content.assemble((f"{request.why[:1].upper()}{request.why[1:]}.", "$text-warning")), Content("")]
    for name, value in request.arguments.items():
        text = value if isinstance(value, str) else compact(value)
        lines.append(
            Content.assemble(
                plain(name, newlines=False).stylize("bold"), "  ", plain(text, limit=_VALUE_LIMIT)
            )
        )
    if not request.arguments:
        lines.append(Content.styled("no arguments", MUTED))
    if request.offers_trust:
        lines += [Content(""), trusting(request.tool.server)]
    if request.changes:
        lines += [Content(""), Content.styled("Changed since you were last asked", "$text-warning")]
        lines += change_lines(request.changes)
    return Content("\n").join(lines)
