"""The texts of the servers page: servers as rows, and everything known about one."""

from collections import Counter
from collections.abc import Sequence

from textual.content import Content

from inspector.app.draw.problem import problem_line
from inspector.app.draw.style import MUTED
from inspector.domain.number import count, milliseconds, tokens
from inspector.domain.server import ServerPhase
from inspector.domain.session import ServerState, SessionState
from inspector.domain.setting_problem import SettingProblem
from widgets import Column, Record, Tone, plain

STATES: dict[ServerPhase, tuple[str, str, Tone]] = {
    ServerPhase.CONNECTING: ("… connecting", "$text-warning", "warning"),
    ServerPhase.READY: ("✓ ready", "$text-success", ""),
    ServerPhase.FAILED: ("✕ failed", "$text-error", "error"),
    ServerPhase.STOPPED: ("■ stopped", MUTED, "muted"),
}
COLUMNS = (
    Column("name", "server", weight=3, shorten="middle", min_width=10),
    Column("state", "state", width=12),
    Column("tools", "tools", align="right", weight=9),
    Column("tokens", "tokens", align="right", weight=8),
    Column("protocol", "protocol", width=10, hide_below=64),
    Column("took", "start", align="right", hide_below=74, weight=2),
    Column("what", "about", weight=4, min_width=10, hide_below=90),
)


NO_SERVER = "The configuration has no servers. Add one to its file and restart."


def server_rows(session: SessionState) -> tuple[Record, ...]:
    """Return one row per server, in the order of the configuration."""
    held = Counter(tool.server for tool in session.held.values())
    return tuple(_row(server, held[server.name]) for server in session.servers.values())


def _row(server: ServerState, held: int) -> Record:
    word, color, tone = STATES[server.phase]
    ready = server.phase is ServerPhase.READY
    cells = (
        server.name,
        Content.styled(word, color),
        str(server.tools) if ready else f"{held} held" if held else "",
        tokens(server.tokens) if ready else "",
        server.info.protocol,
        milliseconds(server.milliseconds) if ready else "",
        server.reason if server.phase is ServerPhase.FAILED else server.info.summary,
    )
    return Record(server.name, cells, tone)


def _what_to_try(server: ServerState) -> str:
    """Return what to do about a failed or stopped server."""
    if server.phase is ServerPhase.FAILED:
        return server.hint or "r reconnects."
    return "r reconnects." if server.phase is ServerPhase.STOPPED else ""


def server_detail(
    server: ServerState | None, problems: Sequence[SettingProblem] = (), *, held: int = 0
) -> Content:
    """Return the facts about a server, with the problems of the settings that are about it.

    Its stderr has its own pane. `held` counts its tools that are kept as they were while it is away.
    """
    if server is None:
        return Content.styled(NO_SERVER, MUTED)
    word, color, _ = STATES[server.phase]
    info = server.info
    facts = (
        ("target", server.target),
        ("calls itself", f"{info.name} {info.version}".strip()),
        ("about", info.instructions or info.summary),
        ("protocol", f"{info.protocol} ({info.era} era)" if info.protocol else ""),
        ("reason", server.reason if server.phase is ServerPhase.FAILED else ""),
        ("held", f"{count(held, 'tool')} as before once it is back, not offered till then" if held else ""),
        ("try", _what_to_try(server)),
    )
    lines = [Content.assemble(plain(server.name, newlines=False).stylize("bold"), "  ", (word, color))]
    lines += [
        Content.assemble((f"{label:<13}", MUTED), plain(value, limit=2000)) for label, value in facts if value
    ]
    lines += [
        Content.assemble(
            ("⚠ skipped     ", "$text-warning"),
            plain(f"{tool.name}: {tool.reason}", limit=400, newlines=False),
        )
        for tool in server.skipped
    ]
    lines += [problem_line(problem) for problem in problems if problem.server == server.name]
    return Content("\n").join(lines)
