"""An audited configuration in rows, for commands and for the app."""

from datetime import UTC, datetime

from inspector.core.number import count, percent, signed_percent
from inspector.core.report import Table
from inspector.measure.audit.result import ConfigurationAudit, ServerAudit

NOTHING = "–"
_HEADERS = ("server", "tools", "tokens", "chars/4", "error", "window", "")
_NUMBERS = frozenset({1, 2, 3, 4, 5})


def server_table(one: ConfigurationAudit) -> Table:
    """The servers, each with its tokens or why it was not measured; and all of them together."""
    rows = [_server(server) for server in one.servers]
    if len(one.servers) > 1:
        known = len(one.measured)
        told = "" if known == len(one.servers) else f"{known} of {count(len(one.servers), 'server')} measured"
        whole = _counts(len(one.tools), one.tokens, one.estimate, one.error, one.share)
        rows.append(("together", *(whole if known else [NOTHING] * 5), told))
    return Table("", _HEADERS, tuple(rows), _NUMBERS)


def note(server: ServerAudit) -> str:
    """Why a server was not measured, or its snapshot's date and how many tools the client leaves out."""
    reading = server.reading
    if not reading.is_measured:
        return f"not measured: {reading.reason}"
    parts = [f"{reading.left_out} more left out by the client"] if reading.left_out else []
    if reading.at is not None:
        parts.insert(0, f"snapshot of {datetime.fromtimestamp(reading.at, UTC):%Y-%m-%d}")
    return ", ".join(parts)


def _server(server: ServerAudit) -> tuple[str, ...]:
    if not server.reading.is_measured:
        return (server.name, *[NOTHING] * 5, note(server))
    whole = _counts(len(server.tools), server.tokens, server.estimate, server.error, server.share)
    return (server.name, *whole, note(server))


def _counts(tools: int, counted: int, estimate: int, error: float, share: float) -> tuple[str, ...]:
    return (f"{tools:,}", f"{counted:,}", f"{estimate:,}", signed_percent(error), percent(share, 1))
