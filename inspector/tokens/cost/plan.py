"""The tools that a conversation needs, independent of the delivery, so that one plan prices every delivery.

A plan comes from a recorded session (`recorded_plan`) or from assumptions, which are labelled as such.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from math import ceil
from random import Random

from inspector.core.budget import HOUR_SECONDS
from inspector.core.events import CallFinished, CallStarted, Event, Record, UserSaid
from inspector.core.number import count
from inspector.core.prompt_cache import UNCACHED, CacheTerms
from inspector.core.setting_field import knob
from inspector.schema.json_value import compact


@dataclass(frozen=True, slots=True)
class SolvedSteps:
    """The steps solved so far.

    A step is solved by a tool call of the model that its server answered without an error. The same call
    again, with the same arguments in the same turn, solves nothing more.
    """

    count: int = 0
    _turn: frozenset[str] = frozenset()
    _running: Mapping[str, str] = field(default_factory=dict)

    def after(self, event: Event) -> "SolvedSteps":
        """The steps after one more event."""
        match event:
            case UserSaid():
                return SolvedSteps(self.count)
            case CallStarted(by="model"):
                call = f"{event.tool} {compact(dict(event.arguments))}"
                return replace(self, _running={**self._running, event.call_id: call})
            case CallFinished(ok=True) if call := self._running.get(event.call_id, ""):
                if call not in self._turn:
                    return replace(self, count=self.count + 1, _turn=self._turn | {call})
        return self


def solved_steps(records: Iterable[Record]) -> int:
    """The solved steps of a whole session."""
    solved = SolvedSteps()
    for record in records:
        solved = solved.after(record.event)
    return solved.count


# The multipliers come from the providers' own documentation; for a model with known prices, `Prices.terms`
# has its exact ones.


@dataclass(frozen=True, slots=True)
class CachePreset:
    """Named terms. `source` says where they come from, `note` what they leave out."""

    name: str
    terms: CacheTerms
    source: str
    note: str = ""


PRESETS = (
    CachePreset(
        "Anthropic, 5 minutes",
        CacheTerms(write=1.25, read=0.1, marked=True),
        "Anthropic's documentation, Prompt caching: pricing, cache lifetime",
        "minimum prefix: 1,024 tokens for most models, 2,048 or 4,096 for some",
    ),
    CachePreset(
        "Anthropic, 1 hour",
        CacheTerms(write=2.0, read=0.1, ttl_seconds=HOUR_SECONDS, marked=True),
        "Anthropic's documentation, Prompt caching: 1-hour cache duration",
        "minimum prefix: 1,024 tokens for most models, 2,048 or 4,096 for some",
    ),
    CachePreset(
        "OpenAI, gpt-5",
        CacheTerms(write=1.0, read=0.1),
        "OpenAI's documentation, Prompt caching, and its price list",
        "unused prefixes expire after 5 to 10 minutes; assumes 5 minutes",
    ),
    CachePreset(
        "OpenAI, gpt-4o",
        CacheTerms(write=1.0, read=0.5),
        "OpenAI's documentation, Prompt caching, and its price list",
        "unused prefixes expire after 5 to 10 minutes; assumes 5 minutes",
    ),
    CachePreset(
        "Gemini 2.5, implicit",
        CacheTerms(write=1.0, read=0.1),
        "Google's documentation, Context caching: implicit caching",
        "no guaranteed hits, no documented lifetime; assumes 5 minutes; 2.5 Pro has a higher minimum",
    ),
    CachePreset("no cache", UNCACHED, "every token at full price"),
)


# So that 0.1 * 30 is 3 and not a little more.
_ROUNDED = 9
# Assumptions that counted values replace if there is a catalog.
_COUNTED = frozenset({"summary_tokens", "manifest_tokens", "meta_tokens", "call_tool_tokens"})


@dataclass(frozen=True, slots=True)
class PlannedTool:
    """A permitted tool; `tokens` counts its definition. Pinned tools are bound in every model call."""

    id: str
    tokens: int
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class Overhead:
    """Tokens that a delivery adds once per request.

    `meta` is `search_tools` without its `manifest`, `call_tool` the proxy's definition, `pool` the summaries
    that a per-turn gate keeps in the system prompt. `manifest_limit` is the most that the manifest of a
    larger catalog would take, 0 for no limit; `manifest_in_full` is what it would take without one, 0 if it
    is not shortened.
    """

    system: int = 0
    meta: int = 0
    manifest: int = 0
    call_tool: int = 0
    pool: int = 0
    manifest_limit: int = 0
    manifest_in_full: int = 0


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A model call, and what happened since the previous one.

    The conversation grew by `growth` tokens apart from searches, and by `search` tokens of searches and their
    results without definitions; the searches found `discovered`. `gated` holds the tools that a gate would
    bind in this call besides the pinned ones. `seconds` passed. `output` is the tokens of its answer. With
    `anew` the conversation was cut down, and `growth` and `search` are all that is left of it.
    """

    growth: int
    discovered: tuple[str, ...] = ()
    gated: tuple[str, ...] = ()
    search: int = 0
    seconds: float = 0.0
    output: int = 0
    anew: bool = False

    @property
    def only_searched(self) -> bool:
        """Whether the call exists only because of a search: nothing else is new in it."""
        return self.search > 0 and self.growth == 0 and not self.anew


@dataclass(frozen=True, slots=True)
class Plan:
    """Tools in catalog order and model calls in order.

    `basis` says where it comes from; `assumed` names the `Assumptions` it uses. `steps` counts the tool calls
    that solve something, 0 if unknown. Found tools stay bound: evictions belong to a policy, not to what a
    conversation needs. `is_recorded` if the calls were made and not assumed.
    """

    tools: tuple[PlannedTool, ...]
    overhead: Overhead
    calls: tuple[PlannedCall, ...]
    basis: str = ""
    assumed: tuple[str, ...] = ()
    steps: int = 0
    is_recorded: bool = False

    @property
    def searches(self) -> int:
        """How many model calls follow a search."""
        return sum(bool(call.discovered or call.search) for call in self.calls)

    @property
    def tool_tokens(self) -> int:
        """Tokens of all definitions, which static binding sends with every call."""
        return sum(tool.tokens for tool in self.tools)


@dataclass(frozen=True, slots=True)
class Assumptions:
    """Assumptions about a session that has not been recorded."""

    calls: int = knob(30, "model calls, not counting those that only follow a search", low=1, high=1000)
    calls_per_turn: int = knob(3, "model calls per user message; a gate selects once per turn", low=1)
    growth: int = knob(
        1200, "tokens that the request, answer and results add to the conversation per model call", low=0
    )
    searches_per_call: float = knob(
        0.15, "searches per model call; the first comes before call 1", low=0, high=10
    )
    found: int = knob(3, "tools found per search, all of them new", low=0)
    search_tokens: int = knob(200, "tokens per search and its result, not counting definitions", low=0)
    own_call: bool = knob(True, "a search takes a separate model call, which static binding does not need")
    gate_tools: int = knob(10, "tools that a gate binds per turn, drawn at random each time", low=0)
    summary_tokens: int = knob(40, "tokens per tool summary, if not counted", low=0)
    manifest_tokens: int = knob(4, "manifest tokens per tool, if not counted", low=0)
    meta_tokens: int = knob(143, "tokens of search_tools without its manifest, if not counted")
    call_tool_tokens: int = knob(80, "tokens of call_tool, if not counted", low=0)
    seconds: float = knob(20.0, "seconds between model calls in the same turn", low=0)
    pause: float = knob(60.0, "seconds from the end of a turn to the next user message", low=0)
    search_seconds: float = knob(5.0, "seconds from a search to the next model call", low=0)
    output: int = knob(250, "tokens per answer, which are also part of `growth`", low=0)
    search_output: int = knob(40, "tokens per answer that is a search", low=0)
    seed: int = knob(0, "random seed for the tools that searches find and a gate binds")

    def overhead(self, tools: int) -> Overhead:
        """The overhead of a catalog of `tools` tools if nothing was counted."""
        return Overhead(
            meta=self.meta_tokens,
            manifest=self.manifest_tokens * tools,
            call_tool=self.call_tool_tokens,
            pool=self.summary_tokens * tools,
        )

    def searches_before(self, call: int) -> int:
        """How many searches there are for model call `call` (from 1); they are spread evenly."""
        return self._searches_until(call) - self._searches_until(call - 1)

    @property
    def searches(self) -> int:
        """The searches of the whole session."""
        return self._searches_until(self.calls)

    def _searches_until(self, call: int) -> int:
        return ceil(round(self.searches_per_call * call, _ROUNDED))

    def opens_turn(self, call: int) -> bool:
        """Whether a message of the user comes before this model call (from 1)."""
        return (call - 1) % self.calls_per_turn == 0

    @property
    def text(self) -> str:
        """What decides the price most, in words."""
        return (
            f"{self.calls_per_turn} calls per turn, {self.searches_per_call:g} searches per call that find "
            f"{count(self.found, 'tool')} each, {self.growth:,} conversation tokens per call, "
            f"{self.seconds:g} s between calls and {self.pause:g} s between turns"
        )

    @property
    def steps(self) -> int:
        """The solved steps: each model call calls a tool, except the last one of a turn, which answers."""
        return self.calls - ceil(self.calls / self.calls_per_turn)


@dataclass(slots=True)
class Gate:
    """Draws the tools that a gate would bind per turn, uniformly at random, if no gate was recorded."""

    tools: Sequence[PlannedTool]
    assumptions: Assumptions
    _random: Random = field(init=False)

    def __post_init__(self) -> None:
        self._random = Random(self.assumptions.seed)

    def turn(self) -> tuple[str, ...]:
        """The ids for one turn."""
        open_ids = [tool.id for tool in self.tools if not tool.pinned]
        return tuple(self._random.sample(open_ids, min(self.assumptions.gate_tools, len(open_ids))))


def usual_plan(
    tools: Sequence[PlannedTool], overhead: Overhead, assumptions: Assumptions | None = None
) -> Plan:
    """An assumed session over a catalog, see `Assumptions`; deterministic for a seed."""
    assumed = assumptions or Assumptions()
    gate, found = Gate(tools, assumed), _found(tools, assumed)
    calls: list[PlannedCall] = []
    gated: tuple[str, ...] = ()
    for number in range(1, assumed.calls + 1):
        opens = assumed.opens_turn(number)
        gated = gate.turn() if opens else gated
        usual = PlannedCall(
            assumed.growth,
            gated=gated,
            seconds=assumed.pause if opens else assumed.seconds,
            output=assumed.output,
        )
        searched = [found.pop(0) for _ in range(assumed.searches_before(number)) if found]
        calls += with_searches(usual, searched, assumed)
    return Plan(
        tuple(tools),
        overhead,
        tuple(calls),
        f"an assumed session of {count(assumed.calls, 'model call')} over {count(len(tools), 'tool')}",
        tuple(field.name for field in fields(assumed) if field.name not in _COUNTED),
        assumed.steps,
    )


def with_searches(
    call: PlannedCall, found: Sequence[tuple[str, ...]], assumed: Assumptions
) -> list[PlannedCall]:
    """The model calls for one that needs assumed searches first, each with the tools that it finds."""
    if not found:
        return [call]
    if not assumed.own_call or not assumed.search_tokens:
        every = tuple(dict.fromkeys(tool_id for ids in found for tool_id in ids))
        search = call.search + assumed.search_tokens * len(found)
        return [replace(call, discovered=(*call.discovered, *every), search=search)]
    asked = replace(call, output=assumed.search_output)
    answers = [
        PlannedCall(
            growth=0,
            discovered=ids,
            gated=call.gated,
            search=assumed.search_tokens,
            seconds=assumed.search_seconds,
            output=assumed.search_output,
        )
        for ids in found
    ]
    return [asked, *answers[:-1], replace(answers[-1], output=call.output)]


def _found(tools: Sequence[PlannedTool], assumed: Assumptions) -> list[tuple[str, ...]]:
    """The tools each search finds, drawn from those not pinned; nobody searches once all are found."""
    open_ids = [tool.id for tool in tools if not tool.pinned]
    if not assumed.found:
        return [()] * assumed.searches if open_ids else []
    wanted = assumed.searches * assumed.found
    # A different random stream from the gate's, so that neither depends on how much the other draws.
    drawn = Random(assumed.seed + 1).sample(open_ids, min(wanted, len(open_ids)))
    return [tuple(drawn[start : start + assumed.found]) for start in range(0, len(drawn), assumed.found)]
