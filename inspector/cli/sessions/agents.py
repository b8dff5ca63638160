"""`toolsight sessions agents`: what real agents did with their servers, over the newest imported sessions."""

from collections import Counter
from pathlib import Path
from typing import Any

import click

from inspector.cli.composition import open_store
from inspector.cli.options import Options, as_json as json_option, database
from inspector.cli.progress import Progress
from inspector.cli.sessions.library import MachineLibrary
from inspector.cli.table import say, say_json, say_table
from inspector.clients.library import AgentReport, ServerTotal, agent_report
from inspector.core.number import count, money, tokens
from inspector.core.ports import SystemClock

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
