"""What a session cost and did, and one scenario under several profiles, with notes on what misleads."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct

from inspector.config.profile import find_profile
from inspector.config.setting import render_value
from inspector.core.budget import Prices
from inspector.core.events import CallFinished, CallRejected, CatalogBuilt, Record
from inspector.core.fold import fold
from inspector.core.number import count, plural
from inspector.core.prompt_cache import Charge
from inspector.core.turns import ModelCall, Turn, turns
from inspector.features.lab.expectation import Finding
from inspector.features.lab.scenario import Scenario
from inspector.tokens.manifest import SEARCH_TOOLS
from inspector.tokens.plan import answer_tokens, estimated, solved_steps

STATIC = "static"
ANSWERED = "answered"


class ModelCallCost(Struct, frozen=True):
    """One model call: its input tokens, those of them because of tools, and how many tools were bound.

    `tool_tokens` are definitions, manifest and summaries, `search_tokens` the searches and their results in
    the conversation. `dollars` include the answer; None without prices. `billed` is what a prompt cache
    charges for the input, in tokens at full price; None if unknown. `static_tokens` are the definitions of
    every tool of its catalog. `message` counts the user's messages.
    With `only_follows_search` the call before it did nothing but search.
    """

    call: int
    tool_tokens: int
    bound: int
    think: bool = False
    search_tokens: int = 0
    input_tokens: int = 0
    message: int = 0
    dollars: float | None = None
    billed: float | None = None
    static_tokens: int = 0
    only_follows_search: bool = False

    @property
    def discovery_tokens(self) -> int:
        """Definitions and searches: all input because of tools."""
        return self.tool_tokens + self.search_tokens


class RunCosts(Struct, frozen=True):
    """Sums over all model calls of a run, and counts.

    `steps` counts the solved steps, see `solved_steps`. `outcome` is `answered` if every turn was, else the
    outcome of the first turn that was not; "" before any turn has ended.
    """

    costs: tuple[ModelCallCost, ...] = ()
    searches: int = 0
    outcome: str = ""
    steps: int = 0

    @property
    def model_calls(self) -> int:
        return len(self.costs)

    @property
    def tool_tokens(self) -> int:
        """Tokens of definitions, manifest and summaries."""
        return sum(cost.tool_tokens for cost in self.costs)

    @property
    def search_tokens(self) -> int:
        """Tokens of the searches and their results."""
        return sum(cost.search_tokens for cost in self.costs)

    @property
    def discovery_tokens(self) -> int:
        """Tokens sent because of tools: their definitions and the searches that found them."""
        return self.tool_tokens + self.search_tokens

    @property
    def input_tokens(self) -> int:
        """Everything that was sent."""
        return sum(cost.input_tokens for cost in self.costs)

    @property
    def dollars(self) -> float | None:
        """US dollars; None without prices or model calls."""
        known = [cost.dollars for cost in self.costs if cost.dollars is not None]
        return sum(known) if known else None

    @property
    def dollars_per_step(self) -> float | None:
        """US dollars for each solved step; None without prices or solved steps."""
        return self.dollars / self.steps if self.dollars is not None and self.steps else None


class Totals(RunCosts, frozen=True):
    """A whole session, answers paid for. `redundant` counts searches that found nothing new."""

    loads: int = 0
    evictions: int = 0
    calls: int = 0
    rejections: int = 0
    loops: int = 0
    redundant: int = 0


def totals(
    records: Sequence[Record], prices: Prices | None = None, count: Callable[[str], int] = estimated
) -> Totals:
    """The totals of a session's records, counted as in the session's state.

    `count` counts the answers whose tokens the provider did not report, by default as characters / 4.
    """
    state, told = fold(records), list(turns(records))
    outcomes = [turn.outcome for turn in told if turn.outcome]
    return Totals(
        costs=tuple(call_costs(told, prices, lambda call: answer_tokens(call.answer, count))),
        searches=state.searches,
        loads=state.loads,
        evictions=state.evictions,
        calls=state.calls,
        rejections=state.rejections,
        loops=state.loops,
        redundant=state.redundant,
        outcome=next((one for one in outcomes if one != ANSWERED), outcomes[0] if outcomes else ""),
        steps=sum(len(solved_steps(turn)) for turn in told),
    )


def call_costs(
    told: Iterable[Turn], prices: Prices | None, output: Callable[[ModelCall], int]
) -> Iterator[ModelCallCost]:
    """What each model call cost with an answer of so many tokens of `output`."""
    last, searched = 0, False
    for turn in told:
        searched, last = searched and turn.message == last, turn.message
        for call in turn.calls:
            sent, parts = call.request, call.request.tokens
            # At full price if no prompt cache is known.
            charge = sent.charge if sent.charge.tokens else Charge(plain=parts.input)
            yield ModelCallCost(
                call=sent.call,
                tool_tokens=parts.tool_tokens,
                bound=len(sent.bound),
                think=sent.think,
                search_tokens=parts.searches,
                input_tokens=parts.input,
                message=turn.message,
                dollars=None if prices is None else prices.cost(charge, sent.terms, output(call)),
                billed=charge.billed(sent.terms) if sent.charge.tokens else None,
                static_tokens=call.catalog.static_tokens if call.catalog is not None else 0,
                only_follows_search=searched,
            )
            if call.answer is not None:
                wanted = call.answer.tool_calls
                searched = bool(wanted) and all(one.name == SEARCH_TOOLS for one in wanted)


class ScenarioResult(Struct, frozen=True):
    """The result of a scenario so far; `records` are those of the whole session, `prices` its model's."""

    scenario: Scenario
    profile: str
    records: tuple[Record, ...]
    findings: tuple[Finding, ...]
    totals: Totals
    prices: Prices | None = None

    @property
    def passed(self) -> bool:
        """Whether everything expected occurred, and nothing forbidden."""
        return all(finding.met for finding in self.findings)


class ComparedProfile(Struct, frozen=True):
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
        return share_saved(self.static_tokens, self.totals.discovery_tokens)

    @property
    def input_saved(self) -> float | None:
        """The share of `static_input` that was saved; negative if more was sent."""
        return share_saved(self.static_input, self.totals.input_tokens)


Offered = frozenset[tuple[str, int]]
"""The tools of a run's last catalog, with their tokens."""


def offered(catalogs: Sequence[CatalogBuilt], before: Offered = frozenset()) -> Offered:
    """The tools of the last catalog; those `before` if there is none."""
    return frozenset((entry.id, entry.tokens) for entry in catalogs[-1].entries) if catalogs else before


def incomparable(runs: Iterable[tuple[str, Offered]]) -> str:
    """Why runs by these names cannot be compared, in a sentence; "" if all had the same tools."""
    names, tools = zip(*runs, strict=True)
    if len(set(tools)) < 2:
        return ""
    told = ", ".join(f"{name} had {count(len(had), 'tool')}" for name, had in zip(names, tools, strict=True))
    differ = len(frozenset.union(*tools) - frozenset.intersection(*tools))
    why = "" if len({len(had) for had in tools}) > 1 else f", {differ} of them different"
    return f"Not comparable: {told}{why}. Run it again once the same servers start everywhere."


def share_saved(static: float, other: float) -> float | None:
    """The share (0 to 1) of what static binding takes that was saved; None if that is nothing."""
    return 1 - other / static if static else None


class ProfileComparison(Struct, frozen=True):
    """Results of one scenario. If `measured`, static binding was run, not computed from the catalog."""

    title: str
    rows: tuple[ComparedProfile, ...]
    notes: tuple[str, ...]
    measured: bool


def compare_profiles(results: Sequence[ScenarioResult], *, scripted: bool) -> ProfileComparison:
    """Compare results of the same scenario, one per profile, in their order.

    If `scripted`, the model said the same under every profile, and the notes say where that misleads.
    """
    static = next((result for result in results if result.profile == STATIC), None)
    rows = tuple(_compared(result, static, scripted=scripted) for result in results)
    built = (
        (result.profile, offered([one for turn in turns(result.records) for one in turn.of(CatalogBuilt)]))
        for result in results
    )
    unequal = incomparable(built) if results else ""
    notes = [note for result in results for note in _notes(result, scripted=scripted)]
    return ProfileComparison(
        results[0].scenario.title if results else "",
        rows,
        (*filter(None, (unequal,)), *notes, *_undone(results)),
        static is not None,
    )


def _compared(result: ScenarioResult, static: ScenarioResult | None, *, scripted: bool) -> ComparedProfile:
    if static is not None and scripted and result is not static:
        # A script searches under static binding too, where nobody would: those calls are not its price.
        needed = [cost for cost in static.totals.costs if not cost.only_follows_search]
        tools = sum(cost.tool_tokens for cost in needed)
        every = sum(cost.input_tokens - cost.search_tokens for cost in needed)
    elif static is not None:
        tools, every = static.totals.discovery_tokens, static.totals.input_tokens
    else:
        # By the catalog at each model call; those that follow nothing but searches are not needed then.
        needed = [cost for cost in result.totals.costs if not cost.only_follows_search]
        tools = sum(cost.static_tokens for cost in needed)
        every = tools and tools + sum(cost.input_tokens - cost.discovery_tokens for cost in needed)
    return ComparedProfile(result.profile, result.totals, tools, every)


def _notes(result: ScenarioResult, *, scripted: bool) -> Iterator[str]:
    yield from _overruled(result)
    if not scripted:
        return
    rejected = (event for turn in turns(result.records) for event in turn.of(CallRejected))
    if searches := sum(event.name == SEARCH_TOOLS for event in rejected):
        were = f"{count(searches, 'scripted search', 'scripted searches')} {plural(searches, 'was', 'were')}"
        yield f"{result.profile}: {were} rejected; the script expects a search tool."


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
        {event.tool: None for turn in turns(result.records) for event in turn.of(CallFinished) if event.ok}
        for result in results
    ]
    by_count = Counter(tool for tools in called for tool in tools)
    usual = [tool for tool, count in by_count.items() if 2 * count >= len(results)]
    for result, tools in zip(results, called, strict=True):
        missing = [tool for tool in usual if tool not in tools]
        if missing:
            yield f"{result.profile}: no successful call to {', '.join(missing)}, unlike other profiles."
