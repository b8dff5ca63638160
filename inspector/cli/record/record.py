"""Commands that show recorded sessions and their events."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from inspector.cli.agents.importing import import_sessions
from inspector.cli.agents.requests import forget, requests
from inspector.cli.composition import open_store
from inspector.cli.options import Options, as_json, owner_options, shared
from inspector.cli.record.otel import OtelOptions, export, otel_options
from inspector.cli.render import say, say_json, say_table
from inspector.domain.error import StoreError
from inspector.domain.events import EVENT_TYPES
from inspector.domain.events.json import record_json
from inspector.domain.moment import shown_moment


@click.group(invoke_without_command=True)
@shared
@as_json
@click.pass_context
def sessions(context: click.Context, /, as_json: bool, **values: Any) -> None:
    """List the recorded sessions, newest first; import those of real agents."""
    if context.invoked_subcommand is None:
        _list(owner_options(**values), as_json=as_json)


for command in (import_sessions, requests, forget):
    sessions.add_command(command)


def _list(chosen: Options, *, as_json: bool) -> None:
    stored = open_store(chosen).sessions()
    if as_json:
        say_json([asdict(session) for session in stored])
        return
    if not stored:
        say("No session has been recorded yet. `toolsight demo --headless` records one.")
        return
    rows = [
        (
            s.id,
            f"{_time(s.started_at):.16}",
            str(s.searches),
            str(s.calls),
            s.agent or "toolsight",
            f"{Path(s.config).name} with {s.model}",
        )
        for s in stored
    ]
    headers = ("session", "started (UTC)", "searches", "calls", "agent", "servers and model")
    say_table(headers, rows, right=frozenset({2, 3}), whole=frozenset({0, 1}))


@click.command()
@click.argument("session", default="")
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice(sorted(EVENT_TYPES)),
    help="Only events of this kind. May be repeated.",
)
@click.option("--limit", type=click.IntRange(min=1), help="Only the newest N events.")
@otel_options
@shared
@as_json
def events(
    session: str, kinds: tuple[str, ...], limit: int | None, otel: OtelOptions, as_json: bool, **values: Any
) -> None:
    """Print the events of SESSION, by default the newest; or export it as OpenTelemetry spans."""
    if otel.is_asked and (kinds or limit):
        raise click.UsageError("an export is of the whole session: without --kind and --limit")
    store = open_store(owner_options(**values))
    stored = [known.id for known in store.sessions()]
    chosen = session or (stored[0] if stored else "")
    if chosen not in stored:
        wanted = f"there is no session '{session}'" if session else "no session has been recorded yet"
        raise StoreError(wanted, hint="`toolsight sessions` lists them.")
    if otel.is_asked:
        export(otel, chosen, store.read(chosen), as_json=as_json)
        return
    records = store.read(chosen, kinds=kinds, limit=limit)
    if as_json:
        say_json([record_json(record) for record in records])
        return
    rows = [(str(r.seq), _time(r.at), r.kind, r.event.summary()) for r in records]
    say_table(("#", "time (UTC)", "kind", "what"), rows, right=frozenset({0}))


def _time(seconds: float) -> str:
    return shown_moment(seconds, "%Y-%m-%d %H:%M:%S")
