"""What real agents did on this machine: their transcripts, and a report over their sessions."""

import os
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

import click

from inspector.cli.composition import bulk_counter_for, open_store, require_sessions
from inspector.cli.options import DATABASE, Options, as_json, session_command
from inspector.cli.table import Progress, is_json, say, show
from inspector.core.error import ConfigError
from inspector.core.feature import Given
from inspector.core.ports import EventStore
from inspector.features.agents.facts import agents_json, agents_report
from inspector.features.agents.feature import AGENTS
from inspector.features.agents.finding import KINDS, Findings, findings
from inspector.features.agents.importing import Importer
from inspector.features.agents.library import (
    Found,
    ImportReport,
    agent_report,
)
from inspector.features.agents.transcript_file.reader import (
    by_age,
    changed_at,
    find_transcripts,
    open_transcript,
)
from inspector.search.answer.evalset import added_cases, append_cases, is_there, read_cases
from inspector.session.workbench import Workbench
from inspector.tokens.accounting import LitellmPrices

AGENT_FOLDERS = {
    "claude-code": "~/.claude/projects",
    "codex": "~/.codex/sessions",
    "copilot-cli": "~/.copilot/session-state",
}
"""Where agents keep their transcripts, by the agent's name."""
# A variable that moves an agent's own folder, and where its transcripts are in there.
_MOVED = {
    "claude-code": ("CLAUDE_CONFIG_DIR", "projects"),
    "codex": ("CODEX_HOME", "sessions"),
    "copilot-cli": ("COPILOT_HOME", "session-state"),
}


def agent_folder(agent: str) -> Path:
    """The folder of an agent's transcripts, which may be missing."""
    variable, within = _MOVED[agent]
    moved = os.environ.get(variable)
    return Path(moved, within) if moved else Path(AGENT_FOLDERS[agent]).expanduser()


class MachineLibrary:
    """An AgentLibrary over the files of this machine."""

    def __init__(self, options: Options) -> None:
        self._store: EventStore = open_store(options)
        self._prices = cache(LitellmPrices().prices)

    def folders(self) -> tuple[Found, ...]:
        """The agents' folders that exist, with the number and size of the files in them."""
        return tuple(found for agent in AGENT_FOLDERS if (found := looked_at(agent)).files)

    def import_from(
        self,
        paths: Sequence[str],
        progress: Callable[[int, int], None],
        stopped: Callable[[], bool],
        last: int | None = None,
    ) -> ImportReport:
        """Import one transcript after another; one that cannot be read does not hold up the others."""
        files = transcripts(paths, last)
        importer = Importer(self._store, cache(bulk_counter_for))
        sizes = [_size(file) for file in files]
        total, before = sum(sizes), 0
        report = ImportReport()
        for file, size in zip(files, sizes, strict=True):
            if stopped():
                break
            self._import(importer, file, report, _shifted(progress, before, total), stopped)
            before += size
        if files and len(report.skipped) == len(files):
            path, reason = report.skipped[0]
            raise ConfigError(f"none of the transcripts could be read; {path}: {reason}", hint=_HINT)
        report.imported.is_complete = report.imported.is_complete and not stopped()
        return report

    def _import(
        self,
        importer: Importer,
        file: Path,
        report: ImportReport,
        progress: Callable[[int, int], None],
        stopped: Callable[[], bool],
    ) -> None:
        try:
            transcript = open_transcript(file)
            done = importer.run(
                transcript,
                file=file.name.removesuffix(".zst"),
                at=changed_at(file),
                agent=str(transcript.format),
                progress=progress,
                stopped=stopped,
            )
        except (ConfigError, OSError) as error:
            reason = error.message if isinstance(error, ConfigError) else str(error)
            report.skipped.append((str(file), reason.removeprefix(f"{file} ")))
        else:
            report.imported.add(done)
            report.transcripts += 1

    def findings(self, session: str) -> Findings:
        """What a session shows; what its tools returned is not read for it."""
        return findings(self._store.read(session, kinds=KINDS), self._prices)

    def write_requests(self, sessions: Sequence[str], path: str) -> int:
        """Add the searches that led to a call of a found tool, with that tool as their label."""
        file = Path(path).expanduser()
        require_sessions(self._store, sessions)
        known = read_cases(file) if is_there(file) else ()
        records = (record for session in sessions for record in self._store.read(session, kinds=KINDS))
        cases = added_cases(records, known)
        if cases:
            append_cases(file, cases)
        return len(cases)


_HINT = "docs/papers/transcripts.md lists the agents and files that Toolsight reads."


def looked_at(agent: str) -> Found:
    """An agent's folder and the files that may be transcripts, by their names alone."""
    folder = agent_folder(agent)
    sizes = [_size(file) for file in _named_like_transcripts(folder)]
    return Found(agent, str(folder), len(sizes), sum(sizes))


def _named_like_transcripts(folder: Path) -> Iterator[Path]:
    found = (file for pattern in ("*.jsonl", "*.jsonl.zst") for file in folder.rglob(pattern))
    return (file for file in found if file.is_file() and not file.is_symlink())


def transcripts(paths: Sequence[str], last: int | None = None) -> list[Path]:
    """The transcripts that are named or lie below the named folders, the newest last. Raises ConfigError.

    A file that is named is taken as it is: whether it is a transcript shows when it is read.
    """
    named = (Path(path).expanduser() for path in paths)
    found = list(dict.fromkeys(file for path in named for file in find_transcripts(path)))
    if not found:
        raise ConfigError(f"no transcripts found in {', '.join(paths)}", hint=_HINT)
    ordered = by_age(found)
    return ordered if last is None else ordered[-last:]


def _size(file: Path) -> int:
    """The bytes of a file; 0 if it has vanished, which shows when it is read."""
    try:
        return file.stat().st_size
    except OSError:
        return 0


def _shifted(progress: Callable[[int, int], None], before: int, total: int) -> Callable[[int, int], None]:
    """Progress within one file as progress within all of them."""
    return lambda done, _size: progress(before + done, total)


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
