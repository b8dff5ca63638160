"""`toolsight sessions metrics` and `unmet`: what was searched and called, how fast, and what failed."""

# Long because it is one command: its options, what it prints, and its JSON.

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from functools import wraps
from pathlib import Path
from typing import IO, Any, TypeVar

import click

from inspector.cli.composition import open_store
from inspector.cli.options import Options, as_json as json_option, database
from inspector.cli.table import Progress, say, say_json, say_table
from inspector.clients.miss import Backlog, BacklogGroups, unused
from inspector.config.setting import find_profile
from inspector.core.error import ConfigError, StoreError
from inspector.core.events import Record, SessionStarted, SettingsChanged
from inspector.core.number import count
from inspector.core.ports import EventStore, SessionSummary, SystemClock
from inspector.core.redaction import clean, open_private
from inspector.core.report import Section, Table
from inspector.core.text import closest
from inspector.core.turns import ACTS
from inspector.measure.telemetry.cell import Cases, Sample
from inspector.measure.telemetry.discovery import OWN, DiscoveryCount, RoutingDecision, RoutingLog
from inspector.measure.telemetry.gathering import (
    KINDS,
    RULES,
    CallUse,
    InertiaCount,
    ReliabilityCount,
    Telemetry,
    telemetry,
)
from inspector.measure.telemetry.section import MOST, backlog_table, overview, sections

F = TypeVar("F", bound=Callable[..., Any])
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


@dataclass(frozen=True, slots=True)
class Chosen:
    """The sessions that are meant, the oldest first, and where they are."""

    store: EventStore
    sessions: tuple[str, ...]

    def records(self, kinds: Sequence[str]) -> Iterator[Record]:
        """Their records of these kinds; one session is in memory at a time."""
        progress = Progress(SystemClock())
        for number, session in enumerate(self.sessions, start=1):
            progress("reading sessions", number, len(self.sessions))
            yield from self.store.read(session, kinds=kinds)
        progress.clear()


def _since(_context: click.Context, _parameter: click.Parameter, text: str) -> float:
    return since(text, SystemClock().now()) if text else 0.0


def since(text: str, now: float) -> float:
    """The moment that a date (`2026-11-01`, UTC) or an age (`7d`, `12h`) names. Raises ConfigError."""
    if text[:-1].isdecimal() and text[-1:] in _UNITS:
        try:
            age = timedelta(**{_UNITS[text[-1]]: int(text[:-1])})
            return now - age.total_seconds()
        except OverflowError:
            return 0.0
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ConfigError(
            f"--since {text} is not a date or an age",
            hint="Use a date such as 2026-11-01 (UTC), or an age such as 7d or 12h.",
        ) from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _profile(_context: click.Context, _parameter: click.Parameter, name: str) -> str:
    return find_profile(name).name if name else ""


_OPTIONS = (
    click.argument("sessions", nargs=-1, metavar="[SESSION]..."),
    click.option(
        "--since",
        "after",
        default="",
        callback=_since,
        metavar="TIME",
        help="Only sessions active since a date (2026-11-01, UTC) or within a period (7d, 12h).",
    ),
    click.option(
        "--agent",
        default="",
        metavar="NAME",
        help=f"Only this agent's sessions; {OWN} means those recorded here.",
    ),
    click.option(
        "--profile",
        default="",
        callback=_profile,
        metavar="NAME",
        help="Only sessions that began under this profile.",
    ),
    database,
)


def choosing(function: F) -> F:
    """Add the options that choose sessions; the command receives them as `chosen`."""

    @wraps(function)
    def command(
        sessions: tuple[str, ...],
        after: float,
        agent: str,
        profile: str,
        database: Path | None,
        **rest: Any,
    ) -> Any:
        store = open_store(Options(database=database))
        return function(chosen=_chosen(store, sessions, after, agent, profile), **rest)

    decorated: Any = command
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]


def _chosen(store: EventStore, named: Sequence[str], after: float, agent: str, profile: str) -> Chosen:
    stored = store.sessions()
    known = {one.id for one in stored}
    for session in named:
        if session not in known:
            raise StoreError(f"there is no session '{session}'", hint="`toolsight sessions` lists them.")
    agents = {one.agent or OWN for one in stored}
    if agent and stored and agent not in agents:
        near = closest(agent, sorted(agents), limit=3)
        raise StoreError(
            f"there are no sessions of '{agent}'", hint=f"Agents with sessions: {', '.join(near or agents)}."
        )

    def is_meant(one: SessionSummary) -> bool:
        return (
            (not named or one.id in named)
            and one.ended_at >= after
            and (not agent or (one.agent or OWN) == agent)
            and (not profile or _began_under(store, one.id) == profile)
        )

    return Chosen(store, tuple(one.id for one in reversed(stored) if is_meant(one)))


def _began_under(store: EventStore, session: str) -> str:
    """The profile of a session at its start, "" if it has none: an imported one does not."""
    for record in store.read(session, kinds=(SessionStarted.kind, SettingsChanged.kind)):
        if isinstance(record.event, SessionStarted):
            return record.event.profile
    return ""


def stats_json(gathered: Telemetry) -> dict[str, Any]:
    """The whole of it. Shares have the bounds of their 95 % interval; latencies are in milliseconds."""
    calls = gathered.calls
    return {
        "sessions": gathered.sessions,
        "agents": dict(gathered.agents),
        "profiles": dict(gathered.profiles),
        "events": gathered.records,
        "turns": gathered.turns,
        "turn_outcomes": dict(calls.outcomes),
        "from": gathered.first if gathered.records else None,
        "to": gathered.last if gathered.records else None,
        "discovery": _discovery(gathered.discovery),
        "calls": {
            **_use(calls.all),
            "rejected": dict(calls.rejected),
            "tools": {tool: _use(use) for tool, use in calls.tools.items()},
            "servers": {server: _use(use) for server, use in calls.servers.items()},
        },
        "model": {"calls": calls.model_calls, "errors": calls.errors, "latency_ms": sample_json(calls.model)},
        "binding": _binding(gathered),
        "gate": _gate(gathered),
        "reliability": _reliability(gathered.reliability),
        "inertia": _inertia(gathered.inertia),
        "backlog": [group_json(one) for one in gathered.discovery.backlog.groups],
    }


def share_json(cases: Cases) -> dict[str, Any]:
    """A share, its cases and its interval; None where there is no case."""
    share = cases.share
    told = {"count": cases.held, "of": cases.count}
    if share is None:
        return {**told, "share": None, "low": None, "high": None}
    return {**told, "share": share.value, "low": share.low, "high": share.high}


def sample_json(sample: Sample) -> dict[str, Any]:
    """How many there are, their mean and three percentiles; None where there is none."""
    return {
        "n": sample.count,
        "mean": sample.mean,
        "p50": sample.at(0.5),
        "p95": sample.at(0.95),
        "p99": sample.at(0.99),
    }


def _discovery(found: DiscoveryCount) -> dict[str, Any]:
    return {
        "searches": found.searches,
        "by_hand": found.by_hand,
        "errors": found.errors,
        "turns_with_a_search": share_json(found.turns),
        "candidates": sample_json(found.candidates),
        "returned": sample_json(found.returned),
        "answers": {str(answer): share_json(cases) for answer, cases in found.answers.items()},
        "used": share_json(found.used),
        "ranked_first": share_json(found.first),
        "ranked_in_three": share_json(found.third),
        "without_a_use": {str(cause): number for cause, number in found.causes.items()},
        "redundant": share_json(found.redundant),
        "latency_ms": sample_json(found.latency),
        "by_agent": [
            {"agent": agent, "toolset": toolset, **asdict(one)}
            for (agent, toolset), one in found.by_agent.items()
        ],
        "rankers": {
            name: {
                "scores_of_called": sample_json(one.called),
                "scores_of_others": sample_json(one.others),
                "latency_ms": sample_json(one.latency),
            }
            for name, one in found.rankers.items()
        },
        "newest_selections": [asdict(one) for one in found.selections],
    }


def _use(use: CallUse) -> dict[str, Any]:
    return {
        "calls": use.calls.count,
        "failures": share_json(use.calls),
        "failures_by_kind": dict(use.kinds),
        "latency_ms": sample_json(use.latency),
    }


def _binding(gathered: Telemetry) -> dict[str, Any]:
    bound = gathered.binding
    counts: Mapping[str, Mapping[str, int]] = {
        "loads": bound.loads,
        "evictions": bound.evictions,
        "loops": bound.loops,
    }
    return {
        **{name: dict(kinds) for name, kinds in counts.items()},
        "bound": sample_json(bound.bound),
        "definition_tokens": sample_json(bound.definitions),
        "discovery_tokens": sample_json(bound.discovery),
        "static_tokens": sample_json(bound.static),
        "resent_tokens": sample_json(bound.resent),
        "request_tokens": sample_json(bound.request),
    }


def _reliability(found: ReliabilityCount) -> dict[str, Any]:
    return {
        "retries": dict(found.retries),
        "retries_by_failure": dict(found.retried_for),
        "saved_by_a_retry": share_json(found.saved),
        "fallbacks": [
            {
                "instead_of": tool,
                "tool": other,
                "calls": number,
                "answered": found.answered[(tool, other)],
            }
            for (tool, other), number in found.fallbacks.items()
        ],
        "breaker_changes": dict(found.changes),
        "breakers": [asdict(one) for one in found.breakers.values()],
    }


def _inertia(found: InertiaCount) -> dict[str, Any]:
    return {
        "predictions": found.predictions,
        "first_uses": {
            rule: {"first": share_json(found.first[rule]), "among_three": share_json(found.three[rule])}
            for rule in RULES
        },
        "bound_ahead_and_called": share_json(found.ahead),
    }


def _gate(gathered: Telemetry) -> dict[str, Any]:
    gate = gathered.gate
    return {
        "decisions": gate.latency.count,
        "candidates": sample_json(gate.candidates),
        "active": sample_json(gate.active),
        "gated_out": sample_json(gate.gated_out),
        "below": sample_json(gate.below),
        "phase1_tokens": sample_json(gate.pool_tokens),
        "phase2_tokens": sample_json(gate.tokens),
        "latency_ms": sample_json(gate.latency),
    }


def group_json(one: Backlog) -> dict[str, Any]:
    """A request of the backlog, for programs."""
    return {
        "count": one.count,
        "sessions": sorted(one.sessions),
        "queries": one.queries,
        "causes": {str(cause): number for cause, number in one.causes.most_common()},
        "found": dict(one.found.most_common()),
        "called_instead": dict(one.called.most_common()),
        "last_seen": one.last,
    }


NOTHING = "No matching sessions. `toolsight sessions` lists them; `toolsight demo --headless` records one."


def say_report_table(table: Table) -> None:
    """Print a table under its title, with its notes."""
    if table.title:
        say(f"\n{table.title}")
    say_table(table.headers, table.rows, right=table.right)
    for note in table.notes:
        say(note)


@click.command()
@choosing
@click.option(
    "--most",
    type=click.IntRange(min=1),
    default=MOST,
    show_default=True,
    help="Maximum number of rows in each table of tools.",
)
@click.option(
    "--decisions",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Also write every routing decision to this file (JSON lines; Tool Attention, section 5.7).",
)
@json_option
def metrics(chosen: Chosen, most: int, decisions: Path | None, as_json: bool) -> None:
    """Summarize sessions: searches, latency, failures, tokens.

    By default, covers all sessions, recorded here and imported. Shares have 95 % intervals.

    \b
    toolsight sessions metrics --since 7d
    """
    with ExitStack() as stack:
        records = chosen.records(KINDS)
        if decisions is not None:
            records = _written(records, stack.enter_context(_opened(decisions)))
        gathered = telemetry(records)
    if as_json:
        say_json(stats_json(gathered))
    elif not gathered.records:
        say(NOTHING)
    else:
        say(overview(gathered))
        for section in sections(gathered, most):
            _say(section)


def _say(section: Section) -> None:
    if not section.tables:
        return
    say(f"\n{section.title}")
    for table in section.tables:
        say_report_table(table)


def _opened(path: Path) -> IO[str]:
    try:
        return open_private(path, "x", encoding="ascii")
    except FileExistsError:
        raise ConfigError(f"{path} already exists", hint="Choose another file.") from None
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be written: {error.strerror}", hint="Choose another file."
        ) from error


def _written(records: Iterator[Record], file: IO[str]) -> Iterator[Record]:
    """The same records, while the decisions among them are written."""
    log = RoutingLog()

    def write(found: Iterator[RoutingDecision]) -> None:
        file.writelines(json.dumps(clean(asdict(one))) + "\n" for one in found)

    for record in records:
        write(log.after(record))
        yield record
    write(log.end())


_MOST = 20


@click.command()
@choosing
@click.option(
    "--most",
    type=click.IntRange(min=1),
    default=_MOST,
    show_default=True,
    help="Maximum number of requests to print.",
)
@json_option
def unmet(chosen: Chosen, most: int, as_json: bool) -> None:
    """List unmet requests: searches that led to no call.

    A search counts if it found nothing, or if the model searched again or the turn ended before any tool it
    found was called. Searches with words in common count as one request. By default, covers all sessions.

    \b
    toolsight sessions unmet --since 7d
    """
    groups = BacklogGroups()
    for miss in unused(chosen.records(ACTS)):
        groups.add(miss)
    found = groups.groups
    if as_json:
        say_json({"sessions": len(chosen.sessions), "backlog": [group_json(one) for one in found]})
    elif not chosen.sessions:
        say(NOTHING)
    elif not found:
        say(f"No unmet requests in {count(len(chosen.sessions), 'session')}.")
    else:
        times = sum(one.count for one in found)
        told = f"{count(times, 'search', 'searches')} that led to no call"
        say(f"{told} in {count(len(chosen.sessions), 'session')}, {count(len(found), 'request')}")
        say_report_table(backlog_table(found, most))
