"""`toolsight sessions`: the recorded sessions; its commands show them, import others and sum them up."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from inspector.cli.composition import open_store
from inspector.cli.group import CommandGroup
from inspector.cli.options import Options, as_json, owner_options, shared
from inspector.cli.render import say, say_json, say_table
from inspector.core.moment import shown_moment

_COMMANDS = {
    "show": "record.show",
    "import": "agents.importing:import_sessions",
    "forget": "agents.requests",
    "requests": "agents.requests",
    "agents": "agents.command",
    "unmet": "telemetry.unmet",
    "metrics": "telemetry.metrics",
    "next": "inertia.command:next_tools",
}


@click.group(cls=CommandGroup, modules=_COMMANDS, invoke_without_command=True)
@shared
@as_json
@click.pass_context
def sessions(context: click.Context, /, as_json: bool, **values: Any) -> None:
    """List the recorded sessions, newest first.

    \b
    toolsight sessions show                  the newest one, call by call
    toolsight sessions import --agent codex  what Codex did on this machine
    """
    if context.invoked_subcommand is None:
        _list(owner_options(**values), as_json=as_json)


def _list(chosen: Options, *, as_json: bool) -> None:
    stored = open_store(chosen).sessions()
    if as_json:
        say_json([asdict(session) for session in stored])
        return
    if not stored:
        say("No sessions recorded yet. Record one with `toolsight demo --headless`.")
        return
    rows = [
        (
            s.id,
            shown_moment(s.started_at, "%Y-%m-%d %H:%M"),
            str(s.searches),
            str(s.calls),
            s.agent or "toolsight",
            Path(s.config).name,
            s.question,
        )
        for s in stored
    ]
    headers = ("session", "started (UTC)", "searches", "calls", "agent", "servers", "first question")
    say_table(headers, rows, right=frozenset({2, 3}), whole=frozenset({0, 1}))
