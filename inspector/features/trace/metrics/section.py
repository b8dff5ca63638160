"""Statistics as the sections of a report, for the command and for the page."""

from collections import Counter
from collections.abc import Iterator, Mapping

from inspector.core.error import BreakerState
from inspector.core.number import count, shown_moment
from inspector.core.report import COUNT, MILLISECONDS, NUMBER, SHARE, TWO, Column, Section, Table
from inspector.features.trace.metrics.cell import (
    Row,
    counted,
    facts,
    interval,
    number_row,
    sample_row,
    share_row,
    token_row,
    words,
)
from inspector.features.trace.metrics.gathering import (
    RULES,
    CallUse,
    InertiaCount,
    ReliabilityCount,
    Telemetry,
)
from inspector.session.miss import MissCause

MOST = 12
"""How many rows a table has that grows with the tools."""
_INTERVALS = "95 %: Wilson interval; a session's searches, turns and calls count as one cluster."
_QUERY, _EXAMPLES = 60, 3


def overview(gathered: Telemetry) -> str:
    """What was read, in one line."""
    agents = ", ".join(f"{number:,} from {agent}" for agent, number in gathered.agents.most_common())
    first, last = shown_moment(gathered.first), shown_moment(gathered.last)
    during = f"{first} UTC" if first == last else f"{first} to {last} UTC"
    read = f"{count(gathered.sessions, 'session')} ({agents})" if agents else "0 sessions"
    events = f"{count(gathered.records, 'event')} read"
    parts = (read, count(gathered.turns, "turn"), events, during if gathered.records else "")
    return ", ".join(filter(None, parts))


def sections(gathered: Telemetry) -> tuple[Section, ...]:
    """All of it, by subject. Tables that grow with the tools have at most MOST rows."""
    made = (
        ("discovery", "Discovery", _discovery(gathered)),
        ("tools", "Tools used", _tools(gathered)),
        ("latency", "Latency", _latency(gathered)),
        ("failures", "Failures and breakers", _failures(gathered)),
        ("inertia", "Inertia", inertia_tables(gathered.inertia)),
        ("backlog", "Backlog", _backlog(gathered)),
    )
    return tuple(Section(id_, title, tuple(tables)) for id_, title, tables in made)


def _discovery(gathered: Telemetry) -> Iterator[Table]:
    found = gathered.discovery
    unused, answers = sum(found.causes.values()), found.answers.items()
    rows: list[Row] = [
        number_row("model searches", found.searches),
        number_row("… look-ups by name, server or tags", found.lookups),
        share_row("turns with a search", found.turns, "turn"),
        sample_row("tools ranked per search, mean", found.candidates),
        sample_row("tools returned per search, mean", found.returned),
        *(share_row(f"searches that answered “{a}”", cases, "search", "searches") for a, cases in answers),
        share_row("returned tools called later", found.used, "tool"),
        share_row("… ranked first", found.first, "call"),
        share_row("… ranked in the top three", found.third, "call"),
        number_row("searches that led to no call", unused),
        *(number_row(f"… {cause}", found.causes[cause]) for cause in MissCause if found.causes[cause]),
        share_row("redundant searches", found.redundant, "search", "searches"),
    ]
    rows += [number_row("manual searches", found.by_hand)] if found.by_hand else []
    rows += [number_row("failed searches", found.errors)] if found.errors else []
    yield facts(rows, notes=(_INTERVALS,))
    if found.by_agent:
        ordered = sorted(found.by_agent.items(), key=lambda pair: -pair[1].searches)
        yield Table.of(_FREQUENCY, ordered, "Search frequency")
    if found.rankers:
        yield Table.of(_SCORES, found.rankers.items(), "Scores of called tools in the search that found them")
    yield from _gate(gathered)


_FREQUENCY = (
    Column("agent", lambda pair: pair[0][0]),
    Column("toolset", lambda pair: pair[0][1] or "all tools"),
    Column("sessions", lambda pair: pair[1].sessions, COUNT),
    Column("turns", lambda pair: pair[1].turns, COUNT),
    Column("searches", lambda pair: pair[1].searches, COUNT),
    Column("per turn", lambda pair: _ratio(pair[1].searches, pair[1].turns), TWO),
    Column("no call", lambda pair: _ratio(pair[1].unused, pair[1].searches), SHARE),
)
_SCORES = (
    Column("ranker", lambda pair: pair[0]),
    Column("called", lambda pair: pair[1].called.count, COUNT),
    Column("median score", lambda pair: pair[1].called.p50, TWO),
    Column("lowest tenth", lambda pair: pair[1].called.at(0.1), TWO),
    Column("not called", lambda pair: pair[1].others.count, COUNT),
    Column("median score", lambda pair: pair[1].others.p50, TWO),
)


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _gate(gathered: Telemetry) -> Iterator[Table]:
    gate = gathered.gate
    if not gate.latency.count:
        return
    rows = (
        sample_row("tools above the threshold", gate.candidates),
        sample_row("bound", gate.active),
        sample_row("blocked by preconditions", gate.gated_out),
        sample_row("below the threshold", gate.below),
        token_row("phase 1: summary tokens", gate.pool_tokens),
        token_row("phase 2: definition tokens", gate.tokens),
    )
    yield facts(rows, "The gate's decisions")


def _tools(gathered: Telemetry) -> Iterator[Table]:
    bound = gathered.binding
    rows = [
        number_row("tool calls", gathered.calls.all.calls.count),
        number_row("distinct tools called", len(gathered.calls.tools)),
        number_row("model calls", gathered.calls.model_calls),
        sample_row("tools bound per model call, mean", bound.bound),
        token_row("definition tokens per model call, mean", bound.definitions),
        token_row("… including all that discovery adds", bound.discovery),
        token_row("… if every tool were bound", bound.static),
        token_row("tool tokens resent per model call", bound.resent),
    ]
    yield facts(rows)
    events: tuple[tuple[str, Mapping[str, int]], ...] = (
        ("loaded", bound.loads),
        ("evicted", bound.evictions),
        ("loops", bound.loops),
        ("rejected calls", gathered.calls.rejected),
        ("turns ended", gathered.calls.outcomes),
    )
    told = tuple((name, f"{sum(kinds.values()):,}", counted(kinds)) for name, kinds in events if kinds)
    if told:
        yield Table("By cause", ("", "times", "causes"), told, frozenset({1}))
    if gathered.calls.tools:
        yield _most_called(gathered.calls.tools)


def _most_called(tools: Mapping[str, CallUse]) -> Table:
    ordered = sorted(tools.items(), key=lambda pair: (-pair[1].calls.count, pair[0]))
    whole = sum(use.calls.count for use in tools.values())
    columns = (
        Column("tool", lambda pair: pair[0]),
        Column("calls", lambda pair: pair[1].calls.count, COUNT),
        Column("share", lambda pair: pair[1].calls.count / whole, SHARE),
    )
    return Table.of(columns, ordered[:MOST], "Most called", _more(len(tools)))


def _more(number: int) -> tuple[str, ...]:
    return (f"and {number - MOST:,} more; see --json",) if number > MOST else ()


def _latency(gathered: Telemetry) -> Iterator[Table]:
    found, calls, gate = gathered.discovery, gathered.calls, gathered.gate.latency
    named = [("searches", found.latency)]
    if len(found.rankers) > 1:
        named += [(f"… by {name}", one.latency) for name, one in found.rankers.items() if one.latency.count]
    named += [("the gate", gate)] if gate.count else []
    named += [("model calls", calls.model), ("tool calls", calls.all.latency)]
    yield Table.of((Column("", lambda pair: pair[0]), *_QUANTILES), named, notes=(_RANKING_ONLY,))
    timed = [(tool, use.latency) for tool, use in calls.tools.items() if use.latency.count]
    if timed:
        slowest = sorted(timed, key=lambda pair: -(pair[1].p95 or 0))[:MOST]
        columns = (Column("tool", lambda pair: pair[0]), *_QUANTILES)
        yield Table.of(columns, slowest, "Slowest tools", _more(len(timed)))


_RANKING_ONLY = "Search latency covers ranking only."
_QUANTILES = (
    Column("p50", lambda pair: pair[1].p50, MILLISECONDS),
    Column("p95", lambda pair: pair[1].p95, MILLISECONDS),
    Column("p99", lambda pair: pair[1].p99, MILLISECONDS),
    Column("of", lambda pair: pair[1].count, COUNT),
)


def _failures(gathered: Telemetry) -> Iterator[Table]:
    calls = gathered.calls
    rows = [
        share_row("failed tool calls", calls.all.calls, "call"),
        *(number_row(f"… {words(kind)}", number) for kind, number in calls.all.kinds.most_common()),
        *reliability_rows(gathered.reliability),
        number_row("rejected calls, which reached no server", calls.rejected.total()),
        number_row("calls that a person refused", calls.refused),
        number_row("failed model calls and other errors", calls.errors),
    ]
    yield facts(rows)
    yield from breaker_tables(gathered.reliability)
    for title, name, known in (("By server", "server", calls.servers), ("By tool", "tool", calls.tools)):
        failing = {key: use for key, use in known.items() if use.calls.held}
        if failing:
            yield _failing(title, name, failing)


def _failing(title: str, name: str, known: Mapping[str, CallUse]) -> Table:
    def rate(use: CallUse) -> float:
        return use.calls.held / use.calls.count

    ordered = sorted(known.items(), key=lambda pair: (-rate(pair[1]), -pair[1].calls.count, pair[0]))
    columns = (
        Column(name, lambda pair: pair[0]),
        Column("calls", lambda pair: pair[1].calls.count, COUNT),
        Column("failed", lambda pair: pair[1].calls.held, COUNT),
        Column("rate", lambda pair: rate(pair[1]), SHARE),
        Column("95 %", lambda pair: interval(pair[1].calls), NUMBER),
        Column("kinds", lambda pair: counted(pair[1].kinds)),
    )
    return Table.of(columns, ordered[:MOST], title, _more(len(known)))


def _backlog(gathered: Telemetry) -> Iterator[Table]:
    """What was asked for and not served: how often, when last, and what was found instead."""
    groups = gathered.discovery.backlog.groups
    if groups:
        yield Table.of(_BACKLOG, groups[:MOST], notes=_more(len(groups)))


_BACKLOG = (
    Column("times", "count", COUNT),
    Column("sessions", lambda one: len(one.sessions), COUNT),
    Column("last (UTC)", lambda one: shown_moment(one.last, "%Y-%m-%d")),
    Column("searched for", lambda one: "; ".join(query[:_QUERY] for query in one.queries[:_EXAMPLES])),
    Column("outcome", lambda one: ", ".join(str(cause) for cause, _ in one.causes.most_common())),
    Column("found", lambda one: _most(one.found)),
    Column("called instead", lambda one: _most(one.called)),
)


def _most(tools: Counter[str]) -> str | None:
    return ", ".join(tool for tool, _ in tools.most_common(_EXAMPLES)) or None


def reliability_rows(found: ReliabilityCount) -> Iterator[Row]:
    """What was done about failures, in rows of facts."""
    yield number_row("retries", found.retries.total())
    yield from (number_row(f"… {words(kind)}", times) for kind, times in found.retried_for.most_common())
    yield share_row("calls saved by a retry", found.saved, "call")
    yield number_row("substitutes tried", found.fallbacks.total())
    yield number_row("… that succeeded", found.answered.total())
    yield number_row("breaker changes", found.changes.total())
    yield from (number_row(f"… to {state}", times) for state, times in found.changes.most_common())


def breaker_tables(found: ReliabilityCount) -> Iterator[Table]:
    """The breakers, as their newest changes left them."""
    if not found.breakers:
        return
    ordered = sorted(found.breakers.values(), key=lambda one: (one.state is not BreakerState.OPEN, one.name))
    yield Table.of(_BREAKERS, ordered, "Breakers after their latest change")


_BREAKERS = (
    Column("breaker", "name"),
    Column("state"),
    Column("since (UTC)", lambda one: shown_moment(one.since, "%Y-%m-%d %H:%M:%S")),
    Column("tried again", lambda one: shown_moment(one.until, "%H:%M:%S") if one.until else None),
    Column("failure rate", lambda one: one.failure_rate if one.calls else None, SHARE),
    Column("of calls", "calls", COUNT),
    Column("opened", kind=COUNT),
    Column("why"),
)


def inertia_tables(found: InertiaCount) -> Iterator[Table]:
    """How often predictions were right, beside simpler guesses."""
    if not found.predictions and not found.ahead.count:
        return
    rows: list[Row] = [number_row("predictions", found.predictions)]
    for rule, name in RULES.items():
        rows.append(share_row(f"{name}: correct", found.first[rule], "first use"))
        rows.append(share_row("… in the top three", found.three[rule], "first use"))
    rows.append(share_row("bound ahead and then called", found.ahead, "tool"))
    yield facts(rows, notes=("Only a session's first call to each tool is scored.",))
