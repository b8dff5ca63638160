"""What real agents did on this machine: their transcripts, and a report over their sessions."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import click

from inspector.cli.composition import bulk_counter_for, open_store
from inspector.cli.options import Options, as_json as json_option, database
from inspector.cli.table import Progress, say, say_json, say_table
from inspector.clients.finding import KINDS, Findings, findings
from inspector.clients.importing import Importer
from inspector.clients.library import AgentReport, Found, ImportReport, ServerTotal, agent_report
from inspector.clients.transcript_file.reader import by_age, changed_at, find_transcripts, open_transcript
from inspector.core.error import ConfigError, StoreError
from inspector.core.number import count, money, tokens
from inspector.core.ports import EventStore, SystemClock
from inspector.measure.evalset import added_cases, append_cases, is_there, read_cases
from inspector.tokens.prices import LitellmPrices

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


# The report over agents' sessions, as text and as JSON.

_MISSES = 5
_SERVER_COLUMNS = (
    *("server", "sessions", "known", "deferred", "loaded", "called", "never called", "calls", "missed"),
    *("tokens", "trouble"),
)


def say_report(report: AgentReport) -> None:
    """Print the report."""
    agents = Counter(session.agent for session in report.sessions)
    told = ", ".join(f"{number:,} from {agent}" for agent, number in agents.most_common())
    say(f"{count(len(report.sessions), 'session')} ({told})")
    say(reported_line(report))
    say()
    say_table(_SERVER_COLUMNS, map(_row, report.servers), right=frozenset(range(1, 10)), whole=frozenset({0}))
    say("tokens: definitions, summed over all model calls; - if the transcript does not contain them")
    _say_misses(report)
    _say_rewrites(report)
    if report.suggestions:
        say("\nWhat to do first")
        for suggestion in report.suggestions:
            say(f"- {suggestion}")


def reported_line(report: AgentReport) -> str:
    """What the providers reported, and what it costs at list prices."""
    reported = report.reported
    if not reported.calls:
        return "the providers reported no tokens"
    known = f"{tokens(reported.input)} input ({tokens(reported.read)} read from the cache"
    known += f", {tokens(reported.written)} written to it), {tokens(reported.output)} output"
    calls = count(reported.calls, "model call")
    if not reported.priced:
        return f"reported for {calls}: {known}; no price is known"
    share = "" if reported.priced == reported.calls else f" for {reported.priced:,} of the calls"
    return f"reported for {calls}: {known}; {money(reported.dollars)} at list prices{share}"


def _row(total: ServerTotal) -> tuple[str, ...]:
    trouble = [f"{total.logins:,}x login" if total.logins else ""]
    trouble += [f"{total.failed - total.logins:,}x failed" if total.failed > total.logins else ""]
    return (
        f"{total.server} (built-in tools)" if total.is_own else total.server,
        f"{total.sessions:,}",
        f"{len(total.known):,}",
        f"{len(total.deferred):,}",
        f"{len(total.loaded):,}",
        f"{len(total.called):,}",
        f"{total.never_called:,}",
        f"{total.calls:,}",
        f"{total.missed:,}",
        tokens(total.tokens) if total.tokens else "-",
        ", ".join(filter(None, trouble)),
    )


def _say_misses(report: AgentReport) -> None:
    say(f"\n{count(report.searches, 'search', 'searches')}, {report.missed:,} missed")
    if report.backlog:
        rows = [
            (f"{group.count:,}", f"{len(group.sessions):,}", "; ".join(group.queries))
            for group in report.backlog[:_MISSES]
        ]
        say_table(("missed", "sessions", "searched for"), rows, right=frozenset({0, 1}))
        if len(report.backlog) > _MISSES:
            say(f"and {len(report.backlog) - _MISSES:,} more; see --json")


def _say_rewrites(report: AgentReport) -> None:
    if not report.rewrites:
        return
    say("\nWhere the prompt cache was lost")
    rows = [
        (str(cause), f"{total.count:,}", tokens(total.tokens))
        for cause, total in sorted(report.rewrites.items(), key=lambda pair: -pair[1].tokens)
    ]
    say_table(("probable cause", "times", "tokens"), rows, right=frozenset({1, 2}))


def report_json(report: AgentReport) -> dict[str, Any]:
    """The whole report for programs."""
    reported = report.reported
    return {
        "sessions": [
            {"id": one.session, "agent": one.agent, "model": one.model, "model_calls": one.model_calls}
            for one in report.sessions
        ],
        "searches": report.searches,
        "missed": report.missed,
        "reported": {
            "model_calls": reported.calls,
            "input": reported.input,
            "output": reported.output,
            "cache_read": reported.read,
            "cache_written": reported.written,
            "priced_calls": reported.priced,
            "dollars": reported.dollars if reported.priced else None,
        },
        "servers": list(map(_server_json, report.servers)),
        "backlog": [
            {"count": one.count, "sessions": sorted(one.sessions), "queries": one.queries}
            for one in report.backlog
        ],
        "cache_rewrites": [
            {"cause": str(cause), "count": total.count, "tokens": total.tokens}
            for cause, total in report.rewrites.items()
        ],
        "suggestions": list(report.suggestions),
    }


def _server_json(total: ServerTotal) -> dict[str, Any]:
    return {
        "server": total.server,
        "own_tools": total.is_own,
        "sessions": total.sessions,
        "known": len(total.known),
        "deferred": len(total.deferred),
        "loaded": sorted(total.loaded),
        "called": sorted(total.called),
        "never_called": sorted(total.known - total.called),
        "loaded_never_called": sorted(total.loaded - total.called),
        "calls": total.calls,
        "missed": total.missed,
        "definition_tokens": total.tokens or None,
        "failed_sessions": total.failed,
        "login_sessions": total.logins,
    }


_LAST = 50


@click.command()
@click.option(
    "--last", type=click.IntRange(min=1), default=_LAST, show_default=True, help="Only the N newest sessions."
)
@json_option
@database
def agents(last: int, as_json: bool, database: Path | None) -> None:
    """Summarize how agents used each server.

    Counts the tools that were known, loaded, called, never called and missed, with their tokens. Costs are
    list prices for the tokens that providers reported. Import sessions with `toolsight sessions import`.

    \b
    toolsight sessions agents --last 20
    """
    options = Options(database=database)
    stored = [one.id for one in open_store(options).sessions() if one.agent][:last]
    if not stored and not as_json:
        say("No agent sessions imported yet. Import some with `toolsight sessions import --agent NAME`.")
        return
    library, progress = MachineLibrary(options), Progress(SystemClock())
    found = []
    for number, session in enumerate(stored, start=1):
        progress("reading sessions", number, len(stored))
        found.append(library.findings(session))
    progress.clear()
    report = agent_report(found)
    say_json(report_json(report)) if as_json else say_report(report)
