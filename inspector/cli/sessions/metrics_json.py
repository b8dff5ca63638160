"""Statistics as JSON, for programs."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from inspector.cli.table import say, say_table
from inspector.clients.miss import Backlog
from inspector.core.report import Table
from inspector.measure.telemetry.cell import Cases, Sample
from inspector.measure.telemetry.discovery import DiscoveryCount
from inspector.measure.telemetry.gathering import RULES, CallUse, InertiaCount, ReliabilityCount, Telemetry


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
