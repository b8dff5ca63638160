"""The text of the consent dialog: what a configuration would start."""

from textual.content import Content

from inspector.app.draw.style import MUTED
from inspector.config.consent import Fact, ServerConsent, warnings_text
from inspector.core.number import count
from widgets import plain

_LABEL_WIDTH = 9
TEXT_AT = 2 + _LABEL_WIDTH
"""The column at which the text of a line begins, and goes on if it is wrapped."""
_WARNING = "$text-warning"


def consent_body(source: str, servers: tuple[ServerConsent, ...]) -> Content:
    """Return the file, and for each server what decides what it runs; what to look at is marked with `!`."""
    started = sum(not server.named for server in servers)
    does = [f"start {count(started, 'server')}"] if started else []
    does += ["execute a Python file"] if any(server.executes for server in servers) else []
    does += ["use files or models from its settings"] if not does else []
    what = f"would {' and '.join(does)}"
    head = Content.assemble(
        plain(source, newlines=False, exact=True).stylize("bold"), f"\n{what} with your permissions:"
    )
    if warnings := warnings_text(servers):
        head = Content.assemble(head, "\n", (warnings, _WARNING))
    return Content("\n\n").join([head, *map(_server, servers)])


def _server(server: ServerConsent) -> Content:
    name = plain(server.name, newlines=False, exact=True).stylize("bold $accent")
    return Content("\n").join([name, *map(fact_line, server.facts())])


def fact_line(fact: Fact) -> Content:
    """A line of a question; what to look at before a yes is marked with `!`."""
    text = plain(fact.text, newlines=False, exact=True)
    if fact.warns:
        return Content.assemble((f"! {fact.label:<{_LABEL_WIDTH}}", _WARNING), text.stylize("bold"))
    return Content.assemble((f"  {fact.label:<{_LABEL_WIDTH}}", MUTED), text)
