"""What real agents did on this machine: their transcripts, and a report over their sessions."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import click

from inspector.cli.composition import bulk_counter_for, open_store, require_sessions
from inspector.cli.options import DATABASE, Options, as_json, session_command
from inspector.cli.table import Progress, is_json, say, show
from inspector.core.error import ConfigError
from inspector.core.feature import Given
from inspector.core.number import count, money, tokens
from inspector.core.ports import EventStore
from inspector.core.report import COUNT, NAME, NOTHING, TOKENS, Column, Table, selected
from inspector.features.agents.feature import AGENTS
from inspector.features.agents.finding import KINDS, Findings, ToolUse, findings
from inspector.features.agents.importing import Importer
from inspector.features.agents.library import (
    AgentReport,
    Found,
    ImportReport,
    ServerTotal,
    agent_report,
    tool_table,
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


_SERVERS = (
    Column("server", lambda one: f"{one.server} (built-in tools)" if one.is_own else one.server, NAME),
    Column("sessions", kind=COUNT),
    Column("known", lambda one: len(one.known), COUNT),
    Column("deferred", lambda one: len(one.deferred), COUNT),
    Column("loaded", lambda one: len(one.loaded), COUNT),
    Column("called", lambda one: len(one.called), COUNT),
    Column("never called", "never_called", COUNT),
    Column("calls", kind=COUNT),
    Column("missed", kind=COUNT),
    Column("definitions", lambda one: one.tokens or None, TOKENS),
    Column("results", lambda one: one.results or None, TOKENS),
    Column("trouble", lambda one: _trouble(one)),
)


def tools_shown(tools: Sequence[tuple[str, ToolUse]]) -> Iterator[str | Table]:
    """Yield the tools that took most tokens, and what the columns are."""
    if tools:
        table = tool_table(tools)
        yield f"\nTokens by tool ({len(table.rows):,} of {len(tools):,})"
        yield table
        yield f"results: arguments and results that the model read, each once; {NOTHING} if none"


def tools_json(tools: Sequence[tuple[str, ToolUse]]) -> list[dict[str, Any]]:
    """Every tool that took tokens, as a command's JSON has it."""
    return [
        {"tool": tool_id, "calls": use.calls, "definition_tokens": use.definition or None}
        | {"sent_tokens": use.sent or None, "result_tokens": use.results}
        for tool_id, use in tools
    ]


def _report(report: AgentReport) -> Iterator[str | Table]:
    agents = Counter(session.agent for session in report.sessions)
    told = ", ".join(f"{number:,} from {agent}" for agent, number in agents.most_common())
    yield f"{count(len(report.sessions), 'session')} ({told})"
    yield f"{_reported(report)}\n"
    yield Table.of(_SERVERS, report.servers)
    yield "definitions: summed over all model calls"
    yield from tools_shown(report.tools)
    searches = count(report.searches, "search", "searches")
    yield f"\n{searches}, {report.missed:,} missed; `toolsight sessions metrics` lists them"
    if report.rewrites:
        yield "\nWhere the prompt cache was lost"
        lost = sorted(report.rewrites.items(), key=lambda pair: -pair[1].tokens)
        rows = tuple((str(cause), f"{total.count:,}", tokens(total.tokens)) for cause, total in lost)
        yield Table("", ("probable cause", "times", "tokens"), rows, frozenset({1, 2}))
    if report.suggestions:
        yield "\nWhat to do first"
        yield from (f"- {suggestion}" for suggestion in report.suggestions)


def _reported(report: AgentReport) -> str:
    """What the providers reported, and what it costs at list prices."""
    reported = report.reported
    if not reported.calls:
        return "the providers reported no tokens"
    if not reported.input:
        calls = count(reported.calls, "model call")
        return f"reported for {calls}: {tokens(reported.output)} output, but not the input"
    known = f"{tokens(reported.input)} input ({tokens(reported.read)} read from the cache"
    known += f", {tokens(reported.written)} written to it), {tokens(reported.output)} output"
    calls = count(reported.calls, "model call")
    if not reported.priced:
        return f"reported for {calls}: {known}; no price is known"
    share = "" if reported.priced == reported.calls else f" for {reported.priced:,} of the calls"
    return f"reported for {calls}: {known}; {money(reported.dollars)} at list prices{share}"


def _trouble(total: ServerTotal) -> str:
    others = total.failed - total.logins
    told = (f"{total.logins:,}x login" if total.logins else "", f"{others:,}x failed" if others > 0 else "")
    return ", ".join(filter(None, told))


def _report_json(report: AgentReport) -> dict[str, Any]:
    reported = "model_calls:calls input output cache_read:read cache_written:written priced_calls:priced"
    dollars = report.reported.dollars if report.reported.priced else None
    session = "id:session agent model model_calls reported_definition_tokens:tool_tokens"
    keys = f"sessions{{{session}}} searches missed suggestions"
    return {
        **selected(report, keys),
        "reported": {**selected(report.reported, reported), "dollars": dollars},
        "servers": list(map(_server_json, report.servers)),
        "tools": tools_json(report.tools),
        "cache_rewrites": [
            {"cause": str(cause), **selected(total, "count tokens")}
            for cause, total in report.rewrites.items()
        ],
    }


def _server_json(total: ServerTotal) -> dict[str, Any]:
    return {
        **selected(total, "server own_tools:is_own sessions loaded called calls missed"),
        "known": len(total.known),
        "deferred": len(total.deferred),
        "never_called": total.known - total.called,
        "loaded_never_called": total.loaded - total.called,
        "definition_tokens": total.tokens or None,
        "result_tokens": total.results or None,
        **selected(total, "failed_sessions:failed login_sessions:logins"),
    }


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
    show(_report_json(report), _report(report))


def provide(options: Options, _bench: Workbench) -> Given:
    """What imports transcripts."""
    return {AGENTS: MachineLibrary(options)}
