"""What can be done after a turn, told under its answer."""

from textual.content import Content
from textual.style import Style

from inspector.domain.conversation import Conversation, ItemKind
from inspector.domain.ranking import SearchRequest
from inspector.domain.session import SessionState

_KEY = "$text-accent"


def hint(session: SessionState) -> Content:
    """Return the keys that go on from a finished turn; empty while there is none."""
    if session.busy or not any(item.kind is ItemKind.USER for item in session.conversation.items):
        return Content()
    why = _offer("w", "why not another tool", "why") if last_search(session.conversation) else Content()
    offers = [offer for offer in (why, _offer("r", "race", "race")) if offer]
    return Content.assemble("esc, then ", Content("   ").join(offers))


def _offer(key: str, text: str, action: str) -> Content:
    click = Style.from_meta({"@click": f"screen.{action}"})
    return Content.assemble((key, _KEY), f": {text}").stylize(click)


def last_search(conversation: Conversation) -> SearchRequest | None:
    """Return the model's newest search that was one; None if it made none."""
    reports = (item.report for item in reversed(conversation.items) if item.report is not None)
    return next((report.request for report in reports if not report.error), None)
