"""Compares one scenario under several profiles, and notes where its script misleads."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from inspector.config.setting import find_profile, render_value
from inspector.core.budget import Prices
from inspector.core.events import (
    CallFinished,
    CallRejected,
    CatalogBuilt,
    GateApplied,
    Record,
    SearchPerformed,
)
from inspector.scenario.run import ScenarioResult
from inspector.scenario.totals import ModelCallCost, Totals, static_parts
from inspector.tokens.manifest import SEARCH_TOOLS

STATIC = "static"


@dataclass(frozen=True, slots=True)
class ComparedProfile:
    """One profile in a comparison.

    `static_tokens` is the cost of binding every tool, `static_input` everything that is sent then: measured
    in the run of `static` if there is one, else computed for those of this profile's model calls that binding
    every tool would need; 0 if neither is known.
    """

    profile: str
    totals: Totals
    static_tokens: int
    static_input: int

    @property
    def first(self) -> int | None:
        """Tool tokens of the first model call, None without one."""
        return self.totals.costs[0].tool_tokens if self.totals.costs else None

    @property
    def last(self) -> int | None:
        """Tool tokens of the last model call; None without one."""
        return self.totals.costs[-1].tool_tokens if self.totals.costs else None

    @property
    def saved(self) -> float | None:
        """The share of `static_tokens` that was saved, searches counted; negative if more was spent."""
        return 1 - self.totals.discovery_tokens / self.static_tokens if self.static_tokens else None

    @property
    def input_saved(self) -> float | None:
        """The share of `static_input` that was saved; negative if more was sent."""
        return 1 - self.totals.input_tokens / self.static_input if self.static_input else None

    @property
    def turns(self) -> tuple[int, ...]:
        """Tokens of definitions and searches by turn, each summed over its model calls."""
        return tuple(sum(cost.discovery_tokens for cost in calls) for calls in self.messages)

    @property
    def messages(self) -> tuple[tuple[ModelCallCost, ...], ...]:
        """The model calls by the user's message."""
        last = max((cost.message for cost in self.totals.costs), default=0)
        return tuple(
            tuple(cost for cost in self.totals.costs if cost.message == message)
            for message in range(1, last + 1)
        )


@dataclass(frozen=True, slots=True)
class AlignedCall:
    """Model call number `call` of turn number `message`, both from 1.

    `tool_tokens` matches the profiles by position; None for a profile that needed fewer calls.
    """

    message: int
    call: int
    tool_tokens: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class ProfileComparison:
    """Results of one scenario. If `measured`, static binding was run, not computed from the catalog."""

    title: str
    rows: tuple[ComparedProfile, ...]
    calls: tuple[AlignedCall, ...]
    notes: tuple[str, ...]
    measured: bool
    prices: Prices | None = None

    @property
    def turns(self) -> tuple[tuple[int | None, ...], ...]:
        """Tokens of definitions and searches: a row a turn, by profile; None if it has no such turn."""
        last = max((len(row.turns) for row in self.rows), default=0)
        return tuple(
            tuple(row.turns[turn] if turn < len(row.turns) else None for row in self.rows)
            for turn in range(last)
        )


def compare_profiles(results: Sequence[ScenarioResult], *, scripted: bool) -> ProfileComparison:
    """Compare results of the same scenario, one per profile, in their order.

    If `scripted`, the model said the same under every profile, and the notes say where that misleads.
    """
    static = next((result for result in results if result.profile == STATIC), None)
    rows = tuple(_compared(result, static, scripted=scripted) for result in results)
    notes = [note for result in results for note in _notes(result, scripted=scripted)]
    notes += _undone(results)
    return ProfileComparison(
        results[0].scenario.title if results else "",
        rows,
        tuple(_aligned([_tool_tokens(row) for row in rows])),
        tuple(notes),
        static is not None,
        next((result.prices for result in results if result.prices is not None), None),
    )


def _compared(result: ScenarioResult, static: ScenarioResult | None, *, scripted: bool) -> ComparedProfile:
    if static is not None and scripted and result is not static:
        # A script searches under static binding too, where nobody would: those calls are not its price.
        needed = [cost for cost in static.totals.costs if not cost.only_follows_search]
        input_tokens = sum(cost.input_tokens - cost.search_tokens for cost in needed)
        base = sum(cost.tool_tokens for cost in needed), input_tokens
    elif static is not None:
        base = static.totals.discovery_tokens, static.totals.input_tokens
    else:
        parts = static_parts(result.records)
        base = (parts.tools, parts.input) if parts.tools else (0, 0)
    return ComparedProfile(result.profile, result.totals, *base)


def _tool_tokens(row: ComparedProfile) -> Sequence[Sequence[int]]:
    return [[cost.tool_tokens for cost in calls] for calls in row.messages]


def _aligned(profiles: Sequence[Sequence[Sequence[int]]]) -> Iterator[AlignedCall]:
    for message in range(max(map(len, profiles), default=0)):
        calls = [profile[message] if message < len(profile) else () for profile in profiles]
        for call in range(max(map(len, calls))):
            cells = tuple(tokens[call] if call < len(tokens) else None for tokens in calls)
            yield AlignedCall(message + 1, call + 1, cells)


def _notes(result: ScenarioResult, *, scripted: bool) -> Iterator[str]:
    yield from _overruled(result)
    if not scripted:
        return
    events = [record.event for record in result.records]
    rejected = [event for event in events if isinstance(event, CallRejected)]
    searches = sum(event.name == SEARCH_TOOLS for event in rejected)
    if searches:
        calls = _count(searches, "scripted search", "scripted searches")
        yield f"{result.profile}: {calls} rejected; the script expects a search tool."
    if any(isinstance(event, GateApplied) for event in events):
        kept_out = sum(event.reason == "deferred" for event in rejected)
        if kept_out:
            calls = _count(kept_out, "scripted call", "scripted calls")
            yield f"{result.profile}: {calls} rejected, because the gate did not select the tool."
    needless = _needless_searches(result.records)
    if needless:
        calls = _count(needless, "scripted search", "scripted searches")
        yield f"{result.profile}: {calls} made with every tool bound, but the script expects deferred tools."


def _overruled(result: ScenarioResult) -> Iterator[str]:
    """Note settings of the scenario that override the profile's values and so change the profile."""
    values = find_profile(result.profile).values
    for path, value in result.scenario.settings.items():
        if path in values and values[path] != value:
            mine, own = render_value(value) or "nothing", render_value(values[path]) or "nothing"
            yield f"{result.profile}: {path} is {mine} instead of the profile's {own}."


def _undone(results: Sequence[ScenarioResult]) -> Iterator[str]:
    """Note tools that at least half of the profiles called but one did not: fewer calls also cost less."""
    called = [
        {e.tool: None for record in result.records if isinstance(e := record.event, CallFinished) and e.ok}
        for result in results
    ]
    by_count = Counter(tool for tools in called for tool in tools)
    usual = [tool for tool, count in by_count.items() if 2 * count >= len(results)]
    for result, tools in zip(results, called, strict=True):
        missing = [tool for tool in usual if tool not in tools]
        if missing:
            yield f"{result.profile}: no successful call to {', '.join(missing)}, unlike other profiles."


def _needless_searches(records: Sequence[Record]) -> int:
    advisory, count = False, 0
    for record in records:
        if isinstance(record.event, CatalogBuilt):
            advisory = record.event.advisory
        elif isinstance(record.event, SearchPerformed) and record.event.by == "model":
            count += advisory
    return count


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one} was" if number == 1 else f"{number} {many} were"
