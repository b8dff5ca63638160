"""An error as a title and a message."""

from textual.content import Content

from inspector.core.error import ToolsightError
from widgets import visible

_LIMIT = 600


def failure_text(error: BaseException) -> tuple[str, str]:
    """Return a short title, and the message with its hint."""
    if isinstance(error, ToolsightError):
        parts = [error.message, error.hint]
        return "That did not work", visible("\n".join(filter(None, parts)), limit=_LIMIT)
    return f"Unexpected {type(error).__name__}", visible(str(error), limit=_LIMIT)


def failure_line(error: BaseException) -> Content:
    """Return an error as a line, to show in place of a result."""
    return Content.styled(": ".join(failure_text(error)), "$text-error")
