"""`toolsight sessions metrics`: what was searched and called, how fast, and what failed."""

import json
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, Any

import click

from inspector.cli.composition import open_store, require_sessions
from inspector.cli.options import Options, as_json, database
from inspector.cli.table import Progress, is_json, show
from inspector.core.error import ConfigError, StoreError
from inspector.core.events import Record
from inspector.core.ports import EventStore, SessionSummary, SystemClock
from inspector.core.redaction import clean, open_private
from inspector.core.report import Table, selected
from inspector.core.text import closest
from inspector.core.turns import turns
from inspector.features.trace.metrics.discovery import OWN, RoutingLog
from inspector.features.trace.metrics.gathering import KINDS, RULES, Telemetry
from inspector.features.trace.metrics.section import overview, sections
from inspector.session.miss import Backlog

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


@dataclass(frozen=True, slots=True)
class Chosen:
    """The sessions that are meant, the oldest first, and where they are."""

    store: EventStore
    sessions: tuple[str, ...]

    def records(self, kinds: Sequence[str]) -> Iterator[Record]:
        """Their records of these kinds; one session is in memory at a time."""
        with Progress() as progress:
            for number, session in enumerate(self.sessions, start=1):
                progress("reading sessions", number, len(self.sessions))
                yield from self.store.read(session, kinds=kinds)


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


def _chosen(store: EventStore, named: Sequence[str], after: float, agent: str) -> Chosen:
    stored = require_sessions(store, named)
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
        )

    return Chosen(store, tuple(one.id for one in reversed(stored) if is_meant(one)))


_SHARE = "{count:held of:count share:share.value low:share.low high:share.high}"
_SAMPLE = "{n:count mean p50 p95 p99}"
_USE = f"calls:calls.count failures:calls{_SHARE} failures_by_kind:kinds latency_ms:latency{_SAMPLE}"
_DISCOVERY = f"""discovery{{
    searches lookups by_hand errors turns_with_a_search:turns{_SHARE} candidates{_SAMPLE} returned{_SAMPLE}
    answers{_SHARE} used{_SHARE} ranked_first:first{_SHARE} ranked_in_three:third{_SHARE}
    without_a_use:causes redundant{_SHARE} latency_ms:latency{_SAMPLE}
    rankers{{scores_of_called:called{_SAMPLE} scores_of_others:others{_SAMPLE} latency_ms:latency{_SAMPLE}}}
    newest_selections:selections{{session seq query tool rank score ranker candidates}}
}}"""
_CALLS = f"calls{{rejected refused tools{{{_USE}}} servers{{{_USE}}}}}"
_MODEL = f"calls:model_calls errors latency_ms:model{_SAMPLE}"
_BINDING = f"""binding{{
    loads evictions loops bound{_SAMPLE} definition_tokens:definitions{_SAMPLE}
    discovery_tokens:discovery{_SAMPLE} static_tokens:static{_SAMPLE} resent_tokens:resent{_SAMPLE}
    request_tokens:request{_SAMPLE}
}}"""
_GATE = f"""gate{{
    decisions:latency.count candidates{_SAMPLE} active{_SAMPLE} gated_out{_SAMPLE} below{_SAMPLE}
    phase1_tokens:pool_tokens{_SAMPLE} phase2_tokens:tokens{_SAMPLE} latency_ms:latency{_SAMPLE}
}}"""
_RELIABILITY = f"""reliability{{
    retries retries_by_failure:retried_for saved_by_a_retry:saved{_SHARE} breaker_changes:changes
}}"""
_BREAKER = "server tool state since until why failure_rate calls opened"


def stats_json(gathered: Telemetry) -> dict[str, Any]:
    """The whole of it. Shares have the bounds of their 95 % interval; latencies are in milliseconds."""
    sums = "sessions agents profiles events:records turns turn_outcomes:calls.outcomes"
    told = selected(gathered, f"{sums} {_DISCOVERY} {_CALLS} {_BINDING} {_GATE} {_RELIABILITY}")
    found, reliability, inertia = gathered.discovery, gathered.reliability, gathered.inertia
    told["from"] = gathered.first if gathered.records else None
    told["to"] = gathered.last if gathered.records else None
    told["discovery"]["by_agent"] = [
        {"agent": agent, "toolset": toolset, **selected(one, "sessions turns searches unused")}
        for (agent, toolset), one in found.by_agent.items()
    ]
    told["calls"] |= selected(gathered.calls.all, _USE)
    told["model"] = selected(gathered.calls, _MODEL)
    told["reliability"]["fallbacks"] = [
        {"instead_of": tool, "tool": other, "calls": number, "answered": reliability.answered[(tool, other)]}
        for (tool, other), number in reliability.fallbacks.items()
    ]
    told["reliability"]["breakers"] = selected(list(reliability.breakers.values()), _BREAKER)
    told["inertia"] = {
        "predictions": inertia.predictions,
        "first_uses": {
            rule: {
                "first": selected(inertia.first[rule], _SHARE[1:-1]),
                "among_three": selected(inertia.three[rule], _SHARE[1:-1]),
            }
            for rule in RULES
        },
        "bound_ahead_and_called": selected(inertia.ahead, _SHARE[1:-1]),
    }
    told["backlog"] = list(map(_group_json, found.backlog.groups))
    return told  # type: ignore[no-any-return]  # A selection of one object is a dict.


def _group_json(one: Backlog) -> dict[str, Any]:
    """A request of the backlog; what was most frequent comes first."""
    return {
        **selected(one, "count sessions queries last_seen:last"),
        "causes": dict(one.causes.most_common()),
        "found": dict(one.found.most_common()),
        "called_instead": dict(one.called.most_common()),
    }


_NOTHING = "No matching sessions. `toolsight sessions` lists them; `toolsight demo --headless` records one."


@click.command()
@click.argument("sessions", nargs=-1, metavar="[SESSION]...")
@click.option(
    "--since",
    "after",
    default="",
    callback=lambda _context, _parameter, text: since(text, SystemClock().now()) if text else 0.0,
    metavar="TIME",
    help="Only sessions active since a date (2026-11-01, UTC) or within a period (7d, 12h).",
)
@click.option(
    "--agent",
    default="",
    metavar="NAME",
    help=f"Only this agent's sessions; {OWN} means those recorded here.",
)
@click.option(
    "--decisions",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Also write every routing decision to this file (JSON lines; Tool Attention, section 5.7).",
)
@database
@as_json
def metrics(
    sessions: tuple[str, ...], after: float, agent: str, decisions: Path | None, database: Path | None
) -> None:
    """Summarize sessions: searches, latency, failures, tokens.

    By default, covers all sessions, recorded here and imported. Shares have 95 % intervals. The backlog lists
    unmet requests: searches that found nothing, or that were followed by another search or by the end of the
    turn before any tool they found was called. Searches with words in common count as one.

    \b
    toolsight sessions metrics --since 7d
    """
    chosen = _chosen(open_store(Options(database=database)), sessions, after, agent)
    gathered, log = Telemetry(), RoutingLog()
    with _opened(decisions) if decisions is not None else nullcontext() as file:
        for turn in turns(chosen.records(KINDS)):
            gathered.add(turn)
            if file is not None:
                made = (clean(selected(one, _DECISION)) for one in log.of(turn))
                file.writelines(f"{json.dumps(one)}\n" for one in made)
    gathered.end()
    show(stats_json(gathered) if is_json() else None, _metrics(gathered))


def _metrics(gathered: Telemetry) -> Iterator[str | Table]:
    if not gathered.records:
        yield _NOTHING
        return
    yield overview(gathered)
    for section in sections(gathered):
        if section.tables:
            yield f"\n{section.title}"
            yield from section.tables


_DECISION = (
    "session at source turn_id query_embedding_hash candidates scores gated_out_by_state active_set "
    "phase1_tokens phase2_tokens latency_ms p50_latency_ms"
)


def _opened(path: Path) -> IO[str]:
    try:
        return open_private(path, "x", encoding="ascii")
    except FileExistsError:
        raise ConfigError(f"{path} already exists", hint="Choose another file.") from None
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be written: {error.strerror}", hint="Choose another file."
        ) from error
