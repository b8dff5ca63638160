"""What statistics say: the sections of the page and of the command, and the JSON for programs."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from msgspec import to_builtins

from inspector.core.error import BreakerState
from inspector.core.number import count, percent, shown_moment, tokens
from inspector.core.report import COUNT, MILLISECONDS, NOTHING, NUMBER, SHARE, TWO, Column, Section, Table
from inspector.features.trace.metrics.discovery import Cases, Sample, as_json
from inspector.features.trace.metrics.gathering import CallUse, InertiaCount, ReliabilityCount, Telemetry
from inspector.session.miss import Backlog, MissCause

MOST = 12
"""How many rows a table has that grows with the tools."""
_INTERVALS = "95 %: Wilson interval; a session's searches, turns and calls count as one cluster."
_QUERY, _EXAMPLES = 60, 3


Row = tuple[str, ...]


def facts(rows: Iterable[Row], title: str = "", notes: tuple[str, ...] = ()) -> Table:
    """A table of what was counted: what it is, its number, its interval, and over how many cases."""
    return Table(title, ("", "number", "95 %", "of"), tuple(rows), frozenset({1, 2, 3}), notes)


def number_row(what: str, value: int) -> Row:
    """A plain count."""
    return (what, f"{value:,}", "", "")


def kind_rows(kinds: Counter[str], before: str = "") -> Iterator[Row]:
    """What a count is made of, the most frequent first."""
    return (number_row(f"… {before}{words(kind)}", number) for kind, number in kinds.most_common())


def share_row(what: str, cases: Cases, of: str, ofs: str = "") -> Row:
    """A share with its Wilson interval and the number of cases; `of` names one, `ofs` several."""
    share = cases.share
    number = NOTHING if share is None else percent(share.value)
    return (what, number, interval(cases), count(cases.count, of, ofs))


def interval(cases: Cases) -> str:
    """The bounds of a share's interval, in percent; "" without cases."""
    share = cases.share
    return "" if share is None else f"{share.low * 100:.0f} to {share.high * 100:.0f}"


def sample_row(what: str, sample: Sample, show: Callable[[float], str] = "{:,.1f}".format) -> Row:
    """A mean, and over how many cases."""
    mean = sample.mean
    return (what, NOTHING if mean is None else show(mean), "", f"{sample.count:,}")


def token_row(what: str, sample: Sample) -> Row:
    """A mean number of tokens, and over how many cases."""
    return sample_row(what, sample, lambda mean: tokens(round(mean)))


def words(kind: str) -> str:
    """A kind as a person reads it."""
    return kind.replace("_", " ")


def counted(kinds: Mapping[str, int], most: int = 6) -> str:
    """What was counted by kind, the most frequent first."""
    told = [f"{number:,}x {words(kind)}" for kind, number in Counter(kinds).most_common(most)]
    left = len(kinds) - len(told)
    return ", ".join([*told, *([f"{left:,} more kinds"] if left > 0 else [])])


def overview(gathered: Telemetry) -> str:
    """What was read, in one line."""
    agents = ", ".join(f"{number:,} from {agent}" for agent, number in gathered.agents.most_common())
    first, last = shown_moment(gathered.first), shown_moment(gathered.last)
    during = f"{first} UTC" if first == last else f"{first} to {last} UTC"
    read = f"{count(gathered.sessions, 'session')} ({agents})" if agents else "0 sessions"
    events = f"{count(gathered.events, 'event')} read"
    parts = (read, count(gathered.turns, "turn"), events, during if gathered.events else "")
    return ", ".join(filter(None, parts))


def sections(gathered: Telemetry) -> tuple[Section, ...]:
    """All of it, by subject. Tables that grow with the tools have at most MOST rows."""
    made = (
        ("discovery", "Discovery", _discovery(gathered)),
        ("tools", "Tools used", _tools(gathered)),
        ("latency", "Latency", _latency(gathered)),
        ("failures", "Failures and breakers", _failures(gathered)),
        ("inertia", "Next tools", inertia_tables(gathered.inertia)),
        ("backlog", "Unmet requests", _backlog(gathered)),
    )
    return tuple(Section(id_, title, tuple(tables)) for id_, title, tables in made)


def _discovery(gathered: Telemetry) -> Iterator[Table]:
    found = gathered.discovery
    unused, answers = found.without_a_use, found.answers.items()
    rows: list[Row] = [
        number_row("model searches", found.searches),
        number_row("… look-ups by name, server or tags", found.lookups),
        share_row("turns with a search", found.turns_with_a_search, "turn"),
        sample_row("tools ranked per search, mean", found.candidates),
        sample_row("tools returned per search, mean", found.returned),
        *(share_row(f"searches that answered “{a}”", cases, "search", "searches") for a, cases in answers),
        share_row("returned tools called later", found.used, "tool"),
        share_row("… ranked first", found.ranked_first, "call"),
        share_row("… ranked in the top three", found.ranked_in_three, "call"),
        number_row("searches that led to no call", unused.total()),
        *(number_row(f"… {cause}", unused[cause]) for cause in MissCause if unused[cause]),
        share_row("redundant searches", found.redundant, "search", "searches"),
    ]
    rows += [number_row("manual searches", found.by_hand)] if found.by_hand else []
    rows += [number_row("failed searches", found.errors)] if found.errors else []
    yield facts(rows, notes=(_INTERVALS,))
    if found.by_agent:
        ordered = sorted(found.by_agent.values(), key=lambda one: -one.searches)
        yield Table.of(_FREQUENCY, ordered, "Search frequency")
    if found.rankers:
        yield Table.of(_SCORES, found.rankers.items(), "Scores of called tools in the search that found them")
    yield from _gate(gathered)


_FREQUENCY = (
    Column("agent"),
    Column("toolset", lambda one: one.toolset or "all tools"),
    Column("sessions", kind=COUNT),
    Column("turns", kind=COUNT),
    Column("searches", kind=COUNT),
    Column("per turn", lambda one: _ratio(one.searches, one.turns), TWO),
    Column("no call", lambda one: _ratio(one.unused, one.searches), SHARE),
)
_SCORES = (
    Column("ranker", lambda pair: pair[0]),
    Column("called", lambda pair: pair[1].scores_of_called.count, COUNT),
    Column("median score", lambda pair: pair[1].scores_of_called.at(0.5), TWO),
    Column("lowest tenth", lambda pair: pair[1].scores_of_called.at(0.1), TWO),
    Column("not called", lambda pair: pair[1].scores_of_others.count, COUNT),
    Column("median score", lambda pair: pair[1].scores_of_others.at(0.5), TWO),
)


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _gate(gathered: Telemetry) -> Iterator[Table]:
    gate = gathered.gate
    if not gate.decisions:
        return
    rows = (
        sample_row("tools above the threshold", gate.candidates),
        sample_row("bound", gate.active),
        sample_row("blocked by preconditions", gate.gated_out),
        sample_row("below the threshold", gate.below),
        token_row("phase 1: summary tokens", gate.phase1_tokens),
        token_row("phase 2: definition tokens", gate.phase2_tokens),
    )
    yield facts(rows, "The gate's decisions")


def _tools(gathered: Telemetry) -> Iterator[Table]:
    bound = gathered.binding
    rows = [
        number_row("tool calls", gathered.calls.calls),
        number_row("distinct tools called", len(gathered.calls.tools)),
        number_row("model calls", gathered.model.calls),
        sample_row("tools bound per model call, mean", bound.bound),
        token_row("definition tokens per model call, mean", bound.definition_tokens),
        token_row("… including all that discovery adds", bound.discovery_tokens),
        token_row("… if every tool were bound", bound.static_tokens),
        token_row("tool tokens resent per model call", bound.resent_tokens),
    ]
    yield facts(rows)
    events: tuple[tuple[str, Mapping[str, int]], ...] = (
        ("loaded", bound.loads),
        ("evicted", bound.evictions),
        ("loops", bound.loops),
        ("rejected calls", gathered.calls.rejected),
        ("turns ended", gathered.turn_outcomes),
    )
    told = tuple((name, f"{sum(kinds.values()):,}", counted(kinds)) for name, kinds in events if kinds)
    if told:
        yield Table("By cause", ("", "times", "causes"), told, frozenset({1}))


def _more(number: int) -> tuple[str, ...]:
    return (f"and {number - MOST:,} more; see --json",) if number > MOST else ()


def _latency(gathered: Telemetry) -> Iterator[Table]:
    found, calls, gate = gathered.discovery, gathered.calls, gathered.gate.latency_ms
    named = [("searches", found.latency_ms)]
    named += [("the gate", gate)] if gate.count else []
    named += [("model calls", gathered.model.latency_ms), ("tool calls", calls.latency_ms)]
    yield Table.of((Column("", lambda pair: pair[0]), *_QUANTILES), named, notes=(_RANKING_ONLY,))
    timed = [(tool, use.latency_ms) for tool, use in calls.tools.items() if use.latency_ms.count]
    if timed:
        slowest = sorted(timed, key=lambda pair: -(pair[1].at(0.95) or 0))[:MOST]
        columns = (Column("tool", lambda pair: pair[0]), *_QUANTILES)
        yield Table.of(columns, slowest, "Slowest tools", _more(len(timed)))


_RANKING_ONLY = "Search latency covers ranking only."
_QUANTILES = (
    Column("p50", lambda pair: pair[1].at(0.5), MILLISECONDS),
    Column("p95", lambda pair: pair[1].at(0.95), MILLISECONDS),
    Column("p99", lambda pair: pair[1].at(0.99), MILLISECONDS),
    Column("of", lambda pair: pair[1].count, COUNT),
)


def _failures(gathered: Telemetry) -> Iterator[Table]:
    calls = gathered.calls
    rows = [
        share_row("failed tool calls", calls.failures, "call"),
        *kind_rows(calls.failures_by_kind),
        *reliability_rows(gathered.reliability),
        number_row("rejected calls, which reached no server", calls.rejected.total()),
        number_row("calls that a person refused", calls.refused),
        number_row("failed model calls and other errors", gathered.model.errors),
    ]
    yield facts(rows)
    yield from breaker_tables(gathered.reliability)
    for title, name, known in (("By server", "server", calls.servers), ("By tool", "tool", calls.tools)):
        failing = {key: use for key, use in known.items() if use.failures.held}
        if failing:
            yield _failing(title, name, failing)


def _failing(title: str, name: str, known: Mapping[str, CallUse]) -> Table:
    def rate(use: CallUse) -> float:
        return use.failures.held / use.calls

    ordered = sorted(known.items(), key=lambda pair: (-rate(pair[1]), -pair[1].calls, pair[0]))
    columns = (
        Column(name, lambda pair: pair[0]),
        Column("calls", lambda pair: pair[1].calls, COUNT),
        Column("failed", lambda pair: pair[1].failures.held, COUNT),
        Column("rate", lambda pair: rate(pair[1]), SHARE),
        Column("95 %", lambda pair: interval(pair[1].failures), NUMBER),
        Column("kinds", lambda pair: counted(pair[1].failures_by_kind)),
    )
    return Table.of(columns, ordered[:MOST], title, _more(len(known)))


def _backlog(gathered: Telemetry) -> Iterator[Table]:
    """What was asked for and not served: how often, when last, and what was found instead."""
    groups = gathered.backlog.groups
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
    yield from kind_rows(found.retries_by_failure)
    yield share_row("calls saved by a retry", found.saved_by_a_retry, "call")
    yield number_row("substitutes tried", found.fallbacks.total())
    yield from kind_rows(found.fallbacks)
    yield number_row("breaker changes", found.breaker_changes.total())
    yield from kind_rows(found.breaker_changes, "to ")


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
    """How often predictions were right."""
    if not found.predictions and not found.bound_ahead_and_called.count:
        return
    rows: list[Row] = [number_row("predictions", found.predictions)]
    rows.append(share_row("the predicted tool was called", found.predicted_first, "first use"))
    rows.append(share_row("… one of the three predicted", found.predicted_in_three, "first use"))
    rows.append(share_row("bound ahead and then called", found.bound_ahead_and_called, "tool"))
    yield facts(rows, notes=("Only a session's first call to each tool is scored.",))


def stats_json(gathered: Telemetry) -> dict[str, Any]:
    """The whole of it; latencies are in milliseconds."""
    counted = {
        name: as_json(getattr(gathered, name))
        for name in (
            *("sessions", "agents", "profiles", "events", "turns", "turn_outcomes"),
            *("discovery", "calls", "model", "binding", "gate", "reliability", "inertia"),
        )
    }
    counted["discovery"]["by_agent"] = list(map(to_builtins, gathered.discovery.by_agent.values()))
    counted["reliability"]["breakers"] = list(map(to_builtins, gathered.reliability.breakers.values()))
    return counted | {
        "from": gathered.first if gathered.events else None,
        "to": gathered.last if gathered.events else None,
        "backlog": list(map(_group_json, gathered.backlog.groups)),
    }


def _group_json(one: Backlog) -> dict[str, Any]:
    """A request of the backlog; what was most frequent comes first."""
    return {
        "count": one.count,
        "sessions": one.sessions,
        "queries": one.queries,
        "last_seen": one.last,
        "causes": dict(one.causes.most_common()),
        "found": dict(one.found.most_common()),
        "called_instead": dict(one.called.most_common()),
    }
