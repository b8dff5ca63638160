"""The text of the consent dialog: what a configuration would start."""

import shlex

from textual.content import Content

from inspector.app.draw.style import MUTED
from inspector.domain.consent import TRUSTED, ServerConsent
from inspector.domain.number import count
from widgets import plain

_LABEL_WIDTH = 9


def consent_body(source: str, servers: tuple[ServerConsent, ...]) -> Content:
    """Return the file, and for each server its exact command and its variables' names (never values)."""
    files = sum(1 for server in servers if server.executes)
    started = len(servers) - files
    what = f"would start {count(started, 'server')}"
    what += " and execute a Python file" if files else ""
    head = Content.assemble(plain(source, newlines=False).stylize("bold"), f"\n{what} with your permissions:")
    return Content("\n\n").join([head, *map(_server, servers)])


def _server(server: ServerConsent) -> Content:
    lines = [plain(server.name, newlines=False).stylize("bold $accent")]
    facts = (
        ("address", server.url),
        ("command", shlex.join(server.argv)),
        ("folder", server.cwd),
        ("gets", ", ".join(server.env_names)),
        ("headers", ", ".join(server.header_names)),
        ("trusted", TRUSTED if server.trusted else ""),
        ("executes", server.executes),
        ("sha-256", server.digest),
    )
    lines += [
        Content.assemble((f"  {label:<{_LABEL_WIDTH}}", MUTED), plain(value, newlines=False))
        for label, value in facts
        if value
    ]
    return Content("\n").join(lines)
