"""The transcripts of this machine, and the sessions in the database."""

import os
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

from inspector.cli.composition import make_prices, open_store
from inspector.cli.models import bulk_counter_for
from inspector.cli.options import Options
from inspector.clients.finding import KINDS, Findings, findings
from inspector.clients.importing import Importer
from inspector.clients.library import Found, ImportReport
from inspector.clients.transcript_file import by_age, changed_at, find_transcripts, open_transcript
from inspector.core.error import ConfigError, StoreError
from inspector.core.store_ports import EventStore
from inspector.measure.evalset import added_cases, append_cases, is_there, read_cases

AGENT_FOLDERS = {"claude-code": "~/.claude/projects", "codex": "~/.codex/sessions"}
"""Where agents keep their transcripts, by the agent's name."""
# A variable that moves an agent's own folder, and where its transcripts are in there.
_MOVED = {"claude-code": ("CLAUDE_CONFIG_DIR", "projects"), "codex": ("CODEX_HOME", "sessions")}


def agent_folder(agent: str) -> Path:
    """The folder of an agent's transcripts, which may be missing."""
    variable, within = _MOVED[agent]
    moved = os.environ.get(variable)
    return Path(moved, within) if moved else Path(AGENT_FOLDERS[agent]).expanduser()


class MachineLibrary:
    """An AgentLibrary over the files of this machine."""

    def __init__(self, options: Options) -> None:
        self._store: EventStore = open_store(options)
        self._prices = cache(make_prices().prices)

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
                file=file.name,
                at=changed_at(file),
                agent=str(transcript.format),
                progress=progress,
                stopped=stopped,
            )
        except (ConfigError, OSError) as error:
            reason = error.message if isinstance(error, ConfigError) else str(error)
            report.skipped.append((str(file), reason))
        else:
            report.imported.add(done)
            report.transcripts += 1

    def findings(self, session: str) -> Findings:
        """What a session shows; what its tools returned is not read for it."""
        return findings(self._store.read(session, kinds=KINDS), self._prices)

    def write_requests(self, sessions: Sequence[str], path: str) -> int:
        """Add the searches that led to a call of a found tool, with that tool as their label."""
        file = Path(path).expanduser()
        stored = {summary.id for summary in self._store.sessions()}
        for session in sessions:
            if session not in stored:
                raise StoreError(f"there is no session '{session}'", hint="`toolsight sessions` lists them.")
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
    return (file for file in folder.rglob("*.jsonl") if file.is_file() and not file.is_symlink())


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
