"""What is known of scenarios and of how they went, as tables and lines, and as programs read it."""

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import to_builtins

from inspector.core.budget import Prices
from inspector.core.number import count, money, saving
from inspector.core.report import COUNT, MONEY, NUMBER, SAVING, Column, Table
from inspector.features.lab.comparison import ComparedProfile, ProfileComparison, Totals
from inspector.features.lab.expectation import Expectation
from inspector.features.lab.open_lab import NamedScenario, Played

_UNITS = (
    "Tokens are summed over all model calls; costs include a prompt cache and the answers; a step is a tool "
    "call that succeeds and does not repeat another."
)
_COLUMNS = (
    Column("profile"),
    Column("model\ncalls", "totals.model_calls", NUMBER),
    Column("definitions", "totals.tool_tokens", COUNT),
    Column("definitions\n+ searches", "totals.discovery_tokens", COUNT),
    Column("against\nstatic", "saved", SAVING),
    Column("all\ninput", "totals.input_tokens", COUNT),
    Column("against\nstatic", "input_saved", SAVING),
    Column("cost", "totals.dollars", MONEY),
    Column("solved\nsteps", "totals.steps", NUMBER),
    Column("cost\nper step", "totals.dollars_per_step", MONEY),
    Column("searches", "totals.searches", NUMBER),
    Column("loads", "totals.loads", NUMBER),
    Column("evictions", "totals.evictions", NUMBER),
    Column("calls", "totals.calls", NUMBER),
    Column("rejections", "totals.rejections", NUMBER),
    Column("loops", "totals.loops", NUMBER),
    Column("redundant\nsearches", "totals.redundant", NUMBER),
    Column("outcome", lambda row: row.totals.outcome or None, NUMBER),
)


def profiles_table(compared: ProfileComparison) -> Table:
    """The profiles row by row."""
    return Table.of(_COLUMNS, compared.rows)


def notes(compared: ProfileComparison) -> Iterator[str]:
    if compared.measured:
        yield "Savings are relative to the measured static run, without the searches of its script."
    else:
        yield (
            "Savings are relative to binding every tool in the profile's model calls, except those that only "
            "follow a search; static was not run."
        )
    yield _UNITS
    yield from compared.notes


def totals_lines(row: ComparedProfile, prices: Prices | None) -> Iterator[str]:
    """A run's totals, beside what binding every tool would have sent."""
    had = row.totals
    outcome = f"outcome {had.outcome}" if had.outcome else "no turn finished"
    yield f"profile {row.profile}   {outcome}"
    definitions = f"definitions {had.tool_tokens:,} tokens in {count(had.model_calls, 'model call')}"
    if had.costs:
        definitions += f" ({row.first:,} in the first, {row.last:,} in the last)"
    yield f"{definitions}, with searches {had.discovery_tokens:,}, all input {had.input_tokens:,}"
    if row.saved is not None and row.input_saved is not None:
        yield (
            f"static binding: definitions {row.static_tokens:,}, with searches {saving(row.saved)}; "
            f"all input {row.static_input:,}, {saving(row.input_saved)}"
        )
    if prices is not None and had.dollars is not None:
        each = "" if had.dollars_per_step is None else f" ({money(had.dollars_per_step)} per step)"
        steps = f"{count(had.steps, 'solved step')}{each}"
        yield f"cost {money(had.dollars)} for {steps}, at {prices.model} prices"
    yield (
        f"searches {had.searches}, loads {had.loads}, evictions {had.evictions}, calls {had.calls}, "
        f"rejections {had.rejections}, loops {had.loops}, redundant searches {had.redundant}"
    )


def scenario_json(one: NamedScenario) -> dict[str, Any]:
    """A scenario that can be played, with what it expects."""
    scenario = one.scenario
    return {
        "name": one.name,
        "file": one.path,
        "title": scenario.title,
        "about": scenario.about,
        "profile": scenario.profile,
        "settings": scenario.settings,
        "turns": scenario.users,
        "expect": list(map(_expectation, scenario.expect)),
        "never": list(map(_expectation, scenario.never)),
    }


def _expectation(wanted: Expectation) -> dict[str, Any]:
    return {"event": wanted.kind, "conditions": [to_builtins(condition) for condition in wanted.conditions]}


def played_json(played: Played) -> dict[str, Any]:
    """What came of a scenario that was played."""
    result = played.result
    return {
        "name": played.name,
        "title": result.scenario.title,
        "profile": result.profile,
        "session": played.session,
        "passed": result.passed,
        "findings": [
            {
                "expectation": finding.expectation.text,
                "forbidden": finding.forbidden,
                "met": finding.met,
                "seq": finding.seq,
                "reason": finding.reason,
            }
            for finding in result.findings
        ],
        "totals": _totals(result.totals),
    }


def compared_json(compared: ProfileComparison, sessions: Sequence[str]) -> dict[str, Any]:
    """The comparison, with each profile's session."""
    return {
        "title": compared.title,
        "static": "measured" if compared.measured else "catalog",
        "profiles": [
            {
                "profile": row.profile,
                "first": row.first,
                "last": row.last,
                "static_tokens": row.static_tokens,
                "static_input": row.static_input,
                "saved": row.saved,
                "input_saved": row.input_saved,
                "session": session,
                **_totals(row.totals),
            }
            for row, session in zip(compared.rows, sessions, strict=True)
        ],
        "notes": compared.notes,
    }


def _totals(had: Totals) -> dict[str, Any]:
    # These are what the sums of a comparison rest on, and are no figures of a call.
    inner = ("billed", "static_tokens")
    return {
        **to_builtins(had),
        "costs": [
            {key: one for key, one in to_builtins(cost).items() if key not in inner} for cost in had.costs
        ],
        "model_calls": had.model_calls,
        "tool_tokens": had.tool_tokens,
        "discovery_tokens": had.discovery_tokens,
        "input_tokens": had.input_tokens,
        "dollars": had.dollars,
        "dollars_per_step": had.dollars_per_step,
    }
