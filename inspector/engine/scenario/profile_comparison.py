"""Compares one scenario under several profiles, and notes where its script misleads."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from inspector.domain.events import (
    CallFinished,
    CallRejected,
    CatalogBuilt,
    GateApplied,
    ModelRequested,
    Record,
    SearchPerformed,
    UserSaid,
)
from inspector.domain.knob import render_value
from inspector.domain.manifest import SEARCH_TOOLS
from inspector.domain.profile import find_profile
from inspector.engine.scenario.run import ScenarioResult
from inspector.engine.scenario.totals import Totals

STATIC = "static"


@dataclass(frozen=True, slots=True)
class ComparedProfile:
    """One profile in a comparison.

    `static_tokens` is the cost of binding every tool: measured in the run of `static` if there is one,
    else computed from the catalog for each of this profile's model calls, or 0 if neither is known.
    `messages` holds the tool tokens of the model calls, by user message.
    """

    profile: str
    totals: Totals
    static_tokens: int
    messages: tuple[tuple[int, ...], ...]

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
        """The share of `static_tokens` that was saved; negative if more was spent."""
        return 1 - self.totals.tool_tokens / self.static_tokens if self.static_tokens else None


@dataclass(frozen=True, slots=True)
class AlignedCall:
    """Model call number `call` after user message number `message`, both from 1.

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


def compare_profiles(results: Sequence[ScenarioResult], *, scripted: bool) -> ProfileComparison:
    """Compare results of the same scenario, one per profile, in their order.

    If `scripted`, the model said the same under every profile, and the notes say where that misleads.
    """
    static = next((result for result in results if result.profile == STATIC), None)
    rows = tuple(_compared(result, static) for result in results)
    notes = [note for result in results for note in _notes(result, scripted=scripted)]
    notes += _undone(results)
    return ProfileComparison(
        results[0].scenario.title if results else "",
        rows,
        tuple(_aligned([row.messages for row in rows])),
        tuple(notes),
        static is not None,
    )


def _compared(result: ScenarioResult, static: ScenarioResult | None) -> ComparedProfile:
    base = static.totals.tool_tokens if static else static_tokens(result.records)
    return ComparedProfile(result.profile, result.totals, base, _messages(result.records))


def static_tokens(records: Sequence[Record]) -> int:
    """The cost of binding every tool, by the catalog at each model call."""
    current = total = 0
    for record in records:
        if isinstance(record.event, CatalogBuilt):
            current = record.event.static_tokens
        elif isinstance(record.event, ModelRequested):
            total += current
    return total


def _messages(records: Sequence[Record]) -> tuple[tuple[int, ...], ...]:
    by_message: list[list[int]] = []
    for record in records:
        if isinstance(record.event, UserSaid):
            by_message.append([])
        elif isinstance(record.event, ModelRequested) and by_message:
            by_message[-1].append(record.event.tokens.tool_tokens)
    return tuple(map(tuple, by_message))


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
        yield f"{result.profile}: {calls} rejected: this script assumes a search."
    if any(isinstance(event, GateApplied) for event in events):
        kept_out = sum(event.reason == "deferred" for event in rejected)
        if kept_out:
            calls = _count(kept_out, "scripted call", "scripted calls")
            yield f"{result.profile}: {calls} rejected: the gate did not select the tool."
    needless = _needless_searches(result.records)
    if needless:
        calls = _count(needless, "scripted search", "scripted searches")
        yield f"{result.profile}: {calls} made with every tool bound: this script assumes deferred tools."


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
            yield f"{result.profile}: no successful call of {', '.join(missing)}, which others made."


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
