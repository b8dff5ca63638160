"""Turns what agents searched for and then called into labelled requests, and deletes imported sessions."""

from pathlib import Path

import click

from inspector.cli.agents.library import MachineLibrary
from inspector.cli.composition import open_store
from inspector.cli.options import Options, database
from inspector.cli.table import say
from inspector.core.error import StoreError
from inspector.core.number import count


@click.command()
@click.argument("sessions", nargs=-1, required=True, metavar="SESSION...")
@click.option("--out", required=True, metavar="FILE", help="File to create or append to.")
@database
def requests(sessions: tuple[str, ...], out: str, database: Path | None) -> None:
    """Turn what agents searched for into labelled requests.

    Each search is labelled with the tools it found that the agent then called in the same turn. The agent
    may have been wrong, so review the labels. Requests already in FILE are skipped.

    \b
    toolsight sessions requests SESSION --out requests.jsonl
    """
    added = MachineLibrary(Options(database=database)).write_requests(sessions, out)
    if not added:
        say("nothing to add: no tool found by any other search was called")
        return
    say(f"added {count(added, 'request')} to {out}")
    say(f"Measure rankers on them with `toolsight bench --data {out}` and the same servers.")


@click.command()
@click.argument("sessions", nargs=-1, required=True, metavar="SESSION...")
@database
def forget(sessions: tuple[str, ...], database: Path | None) -> None:
    """Delete each SESSION with all its events.

    You can import an imported session again.

    \b
    toolsight sessions forget SESSION
    """
    gone = open_store(Options(database=database)).forget(sessions)
    kept = [session for session in sessions if session not in gone]
    say(f"deleted {count(len(gone), 'session')}")
    if kept:
        raise StoreError(
            f"not deleted: {', '.join(kept)}",
            hint="`toolsight sessions` lists the sessions. Sessions still being recorded cannot be deleted.",
        )
