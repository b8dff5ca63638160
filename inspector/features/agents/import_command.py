"""Imports transcripts of real agents as sessions, all at once or as they are written."""

import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path

import click

from inspector.cli.composition import bulk_counter_for, open_store
from inspector.cli.options import DATABASE, Options, as_json, session_command
from inspector.cli.run import Exit, interruptible
from inspector.cli.table import Cancellation, Progress, cancellation, is_json, say, show
from inspector.config.file import followed_lines
from inspector.core.error import ConfigError, StoreError
from inspector.core.events import Record
from inspector.core.events.base import record_json
from inspector.core.number import byte_size, count, shown_moment
from inspector.features.agents.agents_command import (
    AGENT_FOLDERS,
    MachineLibrary,
    agent_folder,
    looked_at,
    transcripts,
)
from inspector.features.agents.facts import import_json, import_report
from inspector.features.agents.importing import Following, Importer
from inspector.features.agents.transcript import Entry
from inspector.features.agents.transcript_file.reader import changed_at, line_reader, open_transcript

_LOOK_AGAIN_SECONDS = 0.5


def waiting(stopped: Cancellation) -> Callable[[], bool]:
    """Waits for more to be written; returns False once Ctrl+C was pressed."""

    def wait() -> bool:
        if not stopped():
            # No event of a file system says on every platform that another program's file has grown.
            time.sleep(_LOOK_AGAIN_SECONDS)
        return not stopped()

    return wait


def follow(path: Path, options: Options) -> None:
    """Import a transcript as it grows, and print each new event, until Ctrl+C. Raises ToolsightError."""
    transcript = open_transcript(path)
    if transcript.whole or transcript.packed:
        hint = "Import it without --follow. Only files that grow line by line can be followed."
        raise ConfigError(f"{path} does not grow while its agent works", hint=hint)
    reader = line_reader(transcript.format)
    run = Importer(open_store(options), cache(bulk_counter_for)).follow(
        file=path.name, at=changed_at(path), agent=str(transcript.format)
    )
    say(f"following {path}; press Ctrl+C to stop", err=True)
    complete = False
    try:
        with cancellation() as stopped:
            for line in followed_lines(path, waiting(stopped)):
                if line is None:
                    run.flush()
                else:
                    _tell(_taken(run, reader.feed(line)))
            _tell(_taken(run, reader.finish()))
            complete = True
    finally:
        done = run.close(complete=complete)
    for session in done.sessions:
        say(f"{session.id}: {count(session.added, 'event')} stored", err=True)


def _taken(run: Following, entries: Iterable[Entry]) -> list[Record]:
    return [record for entry in entries for record in run.take(entry)]


def _tell(records: Iterable[Record]) -> None:
    for record in records:
        if is_json():
            say(json.dumps(record_json(record), default=str))
        elif not record.event.is_routine:
            at = shown_moment(record.at, "%H:%M:%S")
            say(f"{at}  {record.kind:<9} {' '.join(record.event.summary().split())}")


@session_command(name="import", takes=(DATABASE,))
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option(
    "--agent",
    "agents",
    multiple=True,
    type=click.Choice(list(AGENT_FOLDERS)),
    help=f"Import this agent's transcripts, from {' or '.join(AGENT_FOLDERS.values())}. "
    "Shows what it found and asks before opening any file. May be repeated.",
)
@click.option("--yes", is_flag=True, help="With --agent: import without asking.")
@click.option("--last", type=click.IntRange(min=1), help="Import only the N newest transcripts.")
@click.option(
    "--follow", "follows", is_flag=True, help="Follow the newest transcript as it grows, until Ctrl+C."
)
@as_json
def import_sessions(
    paths: tuple[str, ...],
    agents: tuple[str, ...],
    yes: bool,
    last: int | None,
    follows: bool,
    chosen: Options,
) -> None:
    """Import transcripts of real agents as sessions.

    Each PATH is a transcript or a folder of transcripts. Importing again adds only what is new. Files are
    only read, nothing leaves this machine, and anything that looks like a secret is redacted before it is
    stored.

    \b
    toolsight sessions import --agent claude-code
    """
    if not paths and not agents:
        raise click.UsageError("Pass transcripts or folders, or choose an agent with --agent.")
    meant = [*paths, *_allowed(agents, yes=yes)]
    if follows:
        follow(transcripts(meant, last=1)[0], chosen)
        return
    with Progress() as progress, cancellation() as stopped:

        def shown(done: int, total: int) -> None:
            progress("importing, MB", done // 10**6, max(total // 10**6, 1))

        report = MachineLibrary(chosen).import_from(meant, shown, stopped, last)
    for path, reason in report.skipped:
        say(f"skipped {path}: {reason}", err=True)
    show(import_json(report), import_report(report))
    if not report.imported.is_complete:
        say("cancelled: run the same command to continue", err=True)
        sys.exit(Exit.INTERRUPTED)


def _allowed(agents: Sequence[str], *, yes: bool) -> list[str]:
    """The folders of these agents, once a person has said yes to each. Raises ConfigError."""
    found = [looked_at(agent) for agent in dict.fromkeys(agents)]
    for one in found:
        if not one.files:
            raise ConfigError(
                f"{one.agent} has no transcripts in {one.folder}", hint="Pass the file or folder instead."
            )
        say(f"{one.agent}: {count(one.files, 'file')}, {byte_size(one.bytes)} in {one.folder}", err=True)
        if not yes and not _ask():
            raise ConfigError(
                f"{one.agent} transcripts were not opened",
                hint="Run the command in a terminal to confirm, or add --yes. --last N limits the import.",
            )
    return [str(agent_folder(one.agent)) for one in found]


def _ask() -> bool:
    if not sys.stdin.isatty():
        return False
    with interruptible():
        return click.confirm("Read these and import them as sessions?", default=False, err=True)


@session_command(takes=(DATABASE,))
@click.argument("sessions", nargs=-1, required=True, metavar="SESSION...")
def forget(sessions: tuple[str, ...], chosen: Options) -> None:
    """Delete each SESSION with all its events.

    You can import an imported session again.

    \b
    toolsight sessions forget SESSION
    """
    gone = open_store(chosen).forget(sessions)
    kept = [session for session in sessions if session not in gone]
    say(f"deleted {count(len(gone), 'session')}")
    if kept:
        raise StoreError(
            f"not deleted: {', '.join(kept)}",
            hint="`toolsight sessions` lists the sessions. Sessions still being recorded cannot be deleted.",
        )
