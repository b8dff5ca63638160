"""What can be done after a turn, shown under its answer."""

from textual.content import Content
from textual.style import Style

from inspector.domain.conversation import ItemKind
from inspector.domain.session import SessionState

_KEY = "$text-accent"


def hint(session: SessionState) -> Content:
    """Return the keys that go on from a finished turn; empty while there is none."""
    if session.busy or not any(item.kind is ItemKind.USER for item in session.conversation.items):
        return Content()
    why = _offer("w", "why a tool was not found", "why") if session.conversation.last_search else Content()
    offers = [offer for offer in (why, _offer("r", "race", "race")) if offer]
    return Content.assemble("esc, then ", Content("   ").join(offers))


def _offer(key: str, text: str, action: str) -> Content:
    click = Style.from_meta({"@click": f"screen.{action}"})
    return Content.assemble((key, _KEY), f": {text}").stylize(click)
