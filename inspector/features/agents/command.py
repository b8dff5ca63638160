"""Transcripts of real agents: imported as sessions, all at once or as they are written, and summed up."""

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

import click

from inspector.cli.composition import bulk_counter_for
from inspector.cli.options import DATABASE, Options, as_json, session_command
from inspector.cli.run import Exit, interruptible
from inspector.cli.stores import open_store
from inspector.cli.table import Cancellation, Progress, cancellation, is_json, say, show
from inspector.config.file import followed_lines
from inspector.core.error import ConfigError, StoreError
from inspector.core.events import Record
from inspector.core.events.base import record_json
from inspector.core.feature import Given
from inspector.core.number import byte_size, count, shown_moment
from inspector.core.ports import EventStore
from inspector.features.agents.facts import agents_json, agents_report, import_json, import_report
from inspector.features.agents.feature import AGENTS
from inspector.features.agents.finding import KINDS, Findings, agent_report, findings
from inspector.features.agents.importing import Following, Found, Imported, Importer
from inspector.features.agents.transcript import Entry
from inspector.features.agents.transcript_file.reader import (
    HINT,
    Transcript,
    by_age,
    changed_at,
    find_transcripts,
    line_reader,
    named_like_transcripts,
    open_transcript,
)
from inspector.session.workbench import Workbench
from inspector.tokens.accounting import LitellmPrices

# Where each agent keeps its transcripts, a variable that moves its own folder, and where they are in there.
_PLACES = {
    "claude-code": ("~/.claude/projects", "CLAUDE_CONFIG_DIR", "projects"),
    "codex": ("~/.codex/sessions", "CODEX_HOME", "sessions"),
    "copilot-cli": ("~/.copilot/session-state", "COPILOT_HOME", "session-state"),
    "qwen-code": ("~/.qwen/projects", "QWEN_HOME", "projects"),
    "gemini-cli": ("~/.gemini/tmp", "GEMINI_CLI_HOME", ".gemini/tmp"),
    "opencode": ("~/.local/share/opencode", "XDG_DATA_HOME", "opencode"),
    "cline": ("~/.cline/data/sessions", "CLINE_DATA_DIR", "sessions"),
    "continue": ("~/.continue/sessions", "CONTINUE_GLOBAL_DIR", "sessions"),
    "kimi-code": ("~/.kimi-code/sessions", "", ""),
    "vibe": ("~/.vibe/logs/session/unified", "VIBE_HOME", "logs/session/unified"),
    "droid": ("~/.factory/sessions", "FACTORY_HOME_OVERRIDE", ".factory/sessions"),
    "openhands": ("~/.openhands/conversations", "", ""),
    "fast-agent": (".fast-agent/sessions", "", ""),
    "gptme": ("~/.local/share/gptme/logs", "XDG_DATA_HOME", "gptme/logs"),
}


def agent_folder(agent: str) -> Path:
    """The folder of an agent's transcripts, which may be missing."""
    usual, variable, within = _PLACES[agent]
    moved = os.environ.get(variable)
    return Path(moved, within) if moved else Path(usual).expanduser()


class MachineLibrary:
    """An AgentLibrary over the files of this machine."""

    def __init__(self, options: Options) -> None:
        self._store: EventStore = open_store(options)
        self._prices = cache(LitellmPrices().prices)

    def folders(self) -> tuple[Found, ...]:
        """The agents' folders that exist, with the number and size of the files in them."""
        return tuple(found for agent in _PLACES if (found := looked_at(agent)).files)

    def import_from(
        self,
        paths: Sequence[str],
        progress: Callable[[int, int], None],
        stopped: Callable[[], bool],
        last: int | None = None,
    ) -> Imported:
        """Import one transcript after another; one that cannot be read does not hold up the others."""
        files = transcripts(paths, last)
        importer = Importer(self._store, cache(bulk_counter_for))
        sizes = [_size(file) for file in files]
        total, before = sum(sizes), 0
        done = Imported(transcripts=0)

        def shown(read: int, _size: int) -> None:
            progress(before + read, total)

        for file, size in zip(files, sizes, strict=True):
            if stopped():
                break
            try:
                transcript = open_transcript(file)
                name, at = file.name.removesuffix(".zst"), changed_at(file)
                entries, of_agent = transcript.entries(shown, stopped), str(transcript.format)
                one = importer.run(entries, file=name, at=at, agent=of_agent, stopped=stopped)
                one.tally = transcript.tally
                done.add(one)
            except (ConfigError, OSError) as error:
                reason = error.message if isinstance(error, ConfigError) else str(error)
                done.skipped.append((str(file), reason.removeprefix(f"{file} ")))
            before += size
        if files and len(done.skipped) == len(files):
            path, reason = done.skipped[0]
            raise ConfigError(f"none of the transcripts could be read; {path}: {reason}", hint=HINT)
        done.is_complete = done.is_complete and not stopped()
        return done

    def findings(self, session: str) -> Findings:
        """What a session shows; what its tools returned is not read for it."""
        return findings(self._store.stream(session, KINDS), self._prices)


def looked_at(agent: str) -> Found:
    """An agent's folder and the files that may be transcripts, by their names alone."""
    folder = agent_folder(agent)
    sizes = [_size(file) for file in named_like_transcripts(folder)]
    return Found(agent, str(folder), len(sizes), sum(sizes))


def transcripts(paths: Sequence[str], last: int | None = None) -> list[Path]:
    """The transcripts that are named or lie below the named folders, the newest last. Raises ConfigError.

    A file that is named is taken as it is: whether it is a transcript shows when it is read.
    """
    named = (Path(path).expanduser() for path in paths)
    found = list(dict.fromkeys(file for path in named for file in find_transcripts(path)))
    if not found:
        raise ConfigError(f"no transcripts found in {', '.join(paths)}", hint=HINT)
    ordered = by_age(found)
    return ordered if last is None else ordered[-last:]


def _size(file: Path) -> int:
    """The bytes of a file; 0 if it has vanished, which shows when it is read."""
    try:
        return file.stat().st_size
    except OSError:
        return 0


@session_command(takes=(DATABASE,))
@click.option(
    "--last", type=click.IntRange(min=1), default=50, show_default=True, help="Only the N newest sessions."
)
@as_json
def agents(last: int, chosen: Options) -> None:
    """Summarize how agents used each server.

    Counts the tools that were known, loaded, called, never called and missed, with their tokens. Costs are
    list prices for the tokens that providers reported. Import sessions with `toolsight sessions import`.

    \b
    toolsight sessions agents --last 20
    """
    options = chosen
    stored = [one.id for one in open_store(options).sessions() if one.agent][:last]
    if not stored and not is_json():
        say("No agent sessions imported yet. Import some with `toolsight sessions import --agent NAME`.")
        return
    library, found = MachineLibrary(options), []
    with Progress() as progress:
        for number, session in enumerate(stored, start=1):
            progress("reading sessions", number, len(stored))
            found.append(library.findings(session))
    report = agent_report(found)
    show(agents_json(report), agents_report(report))


def provide(options: Options, _bench: Workbench) -> Given:
    """What imports transcripts."""
    return {AGENTS: MachineLibrary(options)}


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
    if transcript.packed:
        raise ConfigError(f"{path} does not grow while its agent works", hint="Import it without --follow.")
    path, importer = transcript.path, Importer(open_store(options), cache(bulk_counter_for))

    def begin() -> Following:
        return importer.follow(file=path.name, at=changed_at(path), agent=str(transcript.format))

    say(f"following {path}; press Ctrl+C to stop", err=True)
    stored: Counter[str] = Counter()
    with cancellation() as stopped:
        runs = _follow_lines if transcript.grows else _follow_whole
        for done in runs(transcript, begin, waiting(stopped)):
            stored.update({session.id: session.added for session in done.sessions})
    for session, added in stored.items():
        say(f"{session}: {count(added, 'event')} stored", err=True)


def _follow_whole(
    transcript: Transcript, begin: Callable[[], Following], wait: Callable[[], bool]
) -> Iterator[Imported]:
    """Read a transcript that is written anew, or is a database, whenever one of its files has changed."""
    looked: list[tuple[str, float, int]] = []
    is_over = False
    while not is_over:
        is_over = bool(looked) and not wait()
        files = [*transcript.files, transcript.path.with_name(f"{transcript.path.name}-wal")]
        now = [(file.name, changed_at(file), _size(file)) for file in files]
        if is_over or now != looked:
            looked, run = now, begin()
            try:
                _tell(_taken(run, transcript.entries()))
            finally:
                done = run.close(complete=is_over)
            yield done


def _follow_lines(
    transcript: Transcript, begin: Callable[[], Following], wait: Callable[[], bool]
) -> Iterator[Imported]:
    """Read the lines that are appended to a transcript."""
    reader, run, complete = line_reader(transcript.format), begin(), False
    try:
        for line in followed_lines(transcript.path, wait):
            if line is None:
                run.flush()
            else:
                _tell(_taken(run, reader.feed(line)))
        _tell(_taken(run, reader.finish()))
        complete = True
    finally:
        done = run.close(complete=complete)
    yield done


def _taken(run: Following, entries: Iterable[Entry]) -> Iterator[Record]:
    return (record for entry in entries for record in run.take(entry))


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
    type=click.Choice(list(_PLACES)),
    help="Import this agent's transcripts from its own folder. Shows what it found and asks before opening "
    "any file. May be repeated.",
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
    if not report.is_complete:
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
