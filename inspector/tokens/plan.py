"""What a conversation needs of tools, independent of the delivery, so that one plan prices every delivery.

A plan comes from the turns of a recorded session (`plan_of`) or from assumptions (`usual_plan`), which are
labelled as such.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import ceil
from random import Random
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from inspector.core.budget import CHARACTERS_PER_TOKEN
from inspector.core.events import CatalogBuilt, ModelResponded, Record
from inspector.core.message import answer_texts
from inspector.core.number import count
from inspector.core.turns import ModelCall, ToolCall, Turn, turns
from inspector.schema.json_value import compact
from inspector.tokens.delivery import is_native
from inspector.tokens.synthetic import CODE, has_proxy


def solved_steps(turn: Turn) -> list[ToolCall]:
    """The tool calls of the model that solved a step: their server answered them without an error.

    The same call again, with the same arguments in the same turn, solves nothing more.
    """
    ended = [call for call in turn.tool_calls if call.end is not None and call.end.ok]
    told = {f"{call.event.tool} {compact(dict(call.event.arguments))}": call for call in reversed(ended)}
    return list(told.values())


class PlannedTool(Struct, frozen=True):
    """A permitted tool; `tokens` counts its definition. Pinned tools are bound in every model call."""

    id: str
    tokens: int
    pinned: bool = False


class Overhead(Struct, frozen=True):
    """Tokens that a delivery adds once per request.

    `meta` is `search_tools` without its `manifest`, `call_tool` and `run_script` are those definitions, and
    declarations take the share `declared` of the definitions' tokens. `pool` holds the summaries that a
    per-turn gate keeps in the system prompt. `manifest_limit` is the most that the manifest of a larger
    catalog would take, 0 for no limit; `manifest_in_full` is what it would take without one, 0 if it is not
    shortened.
    """

    system: int = 0
    meta: int = 0
    manifest: int = 0
    call_tool: int = 0
    pool: int = 0
    manifest_limit: int = 0
    manifest_in_full: int = 0
    run_script: int = 0
    declared: float = 1.0


class PlannedCall(Struct, frozen=True):
    """A model call, and what happened since the previous one.

    The conversation grew by `growth` tokens apart from searches, and by `search` tokens of searches and their
    results without definitions; the searches found `discovered`. `gated` holds the tools that a gate would
    bind in this call besides the pinned ones. `seconds` passed. `output` is the tokens of its answer. With
    `anew` the conversation was cut down, and `growth` and `search` are all that is left of it. If it is
    `scripted`, a script begun by the answer before it can go on with the calls of its own.
    """

    growth: int
    discovered: tuple[str, ...] = ()
    gated: tuple[str, ...] = ()
    search: int = 0
    seconds: float = 0.0
    output: int = 0
    anew: bool = False
    scripted: bool = False

    @property
    def only_searched(self) -> bool:
        """Whether the call exists only because of a search: nothing else is new in it."""
        return self.search > 0 and self.growth == 0 and not self.anew


class Plan(Struct, frozen=True):
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


# So that 0.1 * 30 is 3 and not a little more.
_ROUNDED = 9
# Assumptions that counted values replace if there is a catalog.
_COUNTED = frozenset(
    {
        *("summary_tokens", "manifest_tokens", "meta_tokens", "call_tool_tokens"),
        *("run_script_tokens", "declared_share"),
    }
)


class Assumptions(Struct, frozen=True):
    """Assumptions about a session that has not been recorded."""

    calls: Annotated[
        int, "model calls, not counting those that only follow a search", Meta(ge=1, le=1000)
    ] = 30
    calls_per_turn: Annotated[
        int, "model calls per user message; a gate selects once per turn", Meta(ge=1)
    ] = 3
    growth: Annotated[
        int,
        "tokens that the request, answer and results add to the conversation per model call",
        Meta(ge=0),
    ] = 1200
    searches_per_call: Annotated[
        float, "searches per model call; the first comes before call 1", Meta(ge=0, le=10)
    ] = 0.15
    found: Annotated[int, "tools found per search, all of them new", Meta(ge=0)] = 3
    search_tokens: Annotated[
        int, "tokens per search and its result, not counting definitions", Meta(ge=0)
    ] = 200
    own_call: Annotated[bool, "a search takes a separate model call, which static binding does not need"] = (
        True
    )
    gate_tools: Annotated[int, "tools that a gate binds per turn, drawn at random each time", Meta(ge=0)] = 10
    summary_tokens: Annotated[int, "tokens per tool summary, if not counted", Meta(ge=0)] = 40
    manifest_tokens: Annotated[int, "manifest tokens per tool, if not counted", Meta(ge=0)] = 4
    meta_tokens: Annotated[int, "tokens of search_tools without its manifest, if not counted"] = 143
    call_tool_tokens: Annotated[int, "tokens of call_tool, if not counted", Meta(ge=0)] = 80
    run_script_tokens: Annotated[int, "tokens of run_script, if not counted", Meta(ge=0)] = 120
    declared_share: Annotated[
        float, "tokens of a tool's declaration as a share of its definition's, if not counted", Meta(ge=0)
    ] = 0.7
    calls_per_script: Annotated[
        int, "tool calls that one script makes; recorded agents could have made 1.3 at most", Meta(ge=1)
    ] = 1
    seconds: Annotated[float, "seconds between model calls in the same turn", Meta(ge=0)] = 20.0
    pause: Annotated[float, "seconds from the end of a turn to the next user message", Meta(ge=0)] = 60.0
    search_seconds: Annotated[float, "seconds from a search to the next model call", Meta(ge=0)] = 5.0
    output: Annotated[int, "tokens per answer, which are also part of `growth`", Meta(ge=0)] = 250
    search_output: Annotated[int, "tokens per answer that is a search", Meta(ge=0)] = 40
    seed: Annotated[int, "random seed for the tools that searches find and a gate binds"] = 0

    @property
    def text(self) -> str:
        """What decides the price most, in words."""
        return (
            f"{self.calls_per_turn} calls per turn, {self.searches_per_call:g} searches per call that find "
            f"{count(self.found, 'tool')} each, {self.growth:,} conversation tokens per call, "
            f"{self.seconds:g} s between calls and {self.pause:g} s between turns"
        )

    def searches_until(self, call: int) -> int:
        """How many searches there are up to a model call (from 1); they are spread evenly."""
        return ceil(round(self.searches_per_call * call, _ROUNDED))

    def gates(self, tools: Sequence[PlannedTool]) -> Iterator[tuple[str, ...]]:
        """The tools that a gate would bind in each turn, drawn at random."""
        random, open_ids = Random(self.seed), [tool.id for tool in tools if not tool.pinned]
        while True:
            yield tuple(random.sample(open_ids, min(self.gate_tools, len(open_ids))))

    def finds(self, tools: Sequence[PlannedTool]) -> Iterator[tuple[str, ...]]:
        """The tools that each search finds, drawn from those not pinned; none once all are found."""
        open_ids = [tool.id for tool in tools if not tool.pinned]
        searches = self.searches_until(self.calls)
        if not self.found:
            yield from [()] * searches if open_ids else []
            return
        # A different random stream from the gate's, so that neither depends on how much the other draws.
        drawn = Random(self.seed + 1).sample(open_ids, min(searches * self.found, len(open_ids)))
        for start in range(0, len(drawn), self.found):
            yield tuple(drawn[start : start + self.found])

    def searched(self, call: PlannedCall, found: Sequence[tuple[str, ...]]) -> list[PlannedCall]:
        """The model calls for one that needs assumed searches first, each with the tools that it finds."""
        if not found:
            return [call]
        if not self.own_call or not self.search_tokens:
            every = tuple(dict.fromkeys(tool_id for ids in found for tool_id in ids))
            search = call.search + self.search_tokens * len(found)
            return [replace(call, discovered=(*call.discovered, *every), search=search)]
        answer = PlannedCall(
            growth=0,
            gated=call.gated,
            search=self.search_tokens,
            seconds=self.search_seconds,
            output=self.search_output,
        )
        answers = [replace(answer, discovered=ids) for ids in found]
        asked = replace(call, output=self.search_output)
        return [asked, *answers[:-1], replace(answers[-1], output=call.output)]


def usual_plan(
    tools: Sequence[PlannedTool], overhead: Overhead, assumptions: Assumptions | None = None
) -> Plan:
    """An assumed session over a catalog, see `Assumptions`; deterministic for a seed.

    Each model call calls a tool, except the last one of a turn, which answers: the calls solve a step each.
    """
    assumed = assumptions or Assumptions()
    gates, finds = assumed.gates(tools), assumed.finds(tools)
    calls: list[PlannedCall] = []
    gated: tuple[str, ...] = ()
    for number in range(1, assumed.calls + 1):
        opens_turn = (number - 1) % assumed.calls_per_turn == 0
        gated = next(gates) if opens_turn else gated
        seconds = assumed.pause if opens_turn else assumed.seconds
        usual = PlannedCall(assumed.growth, gated=gated, seconds=seconds, output=assumed.output)
        searches = assumed.searches_until(number) - assumed.searches_until(number - 1)
        found = [ids for _, ids in zip(range(searches), finds, strict=False)]
        place = (number - 1) % assumed.calls_per_turn
        is_last = number == assumed.calls or place == assumed.calls_per_turn - 1
        if place % assumed.calls_per_script and not is_last and not found:
            usual = replace(usual, scripted=True)
        calls += assumed.searched(usual, found)
    return Plan(
        tuple(tools),
        overhead,
        tuple(calls),
        f"an assumed session of {count(assumed.calls, 'model call')} over {count(len(tools), 'tool')}",
        tuple(name for name in assumed.__struct_fields__ if name not in _COUNTED),
        assumed.calls - ceil(assumed.calls / assumed.calls_per_turn),
    )


def plan_of(
    records: Iterable[Record],
    assumptions: Assumptions | None = None,
    tokens: Callable[[str], int] | None = None,
) -> Plan | None:
    """The plan of a session; None for one without a model call, or with tools of unknown size.

    What the record does not say is assumed: the searches of a session that had every tool bound or a gate
    (before the first use of a tool), what a gate would have bound in a session without one, and the tokens of
    answers that the provider did not report, which `tokens` counts (by default characters / 4).
    """
    assumed, told = assumptions or Assumptions(), list(turns(records))
    recorded = [(turn.message, call) for turn in told for call in turn.calls]
    catalog = recorded[-1][1].catalog if recorded else None
    if not recorded or (catalog is not None and catalog.uncounted):
        return None
    made = [call for _, call in recorded]
    tools = _tools(catalog, made)
    overhead, names = _overhead(made, len(tools), assumed)
    # A manifest has at most the size of one that was shortened, or else what the session's setting says.
    if catalog is not None and catalog.rules:
        limit = overhead.manifest
    else:
        limit = int(told[-1].session.settings.get("manifest", {}).get("max_tokens") or 0)
    notes = [f"a recorded session of {count(len(made), 'model call')} over {count(len(tools), 'tool')}"]
    if not any(call.loaded for call in made):
        names += ["search_tokens", "search_seconds", "search_output", "own_call"]
        notes.append("its searches are assumed: one before the first use of each tool")
    if not any(call.gate for call in made):
        names += ["gate_tools", "seed"]
        notes.append("the tools that a gate would bind are drawn at random")
    return Plan(
        tuple(tools),
        replace(overhead, manifest_limit=limit),
        tuple(_calls(recorded, tools, assumed, tokens or estimated)),
        "; ".join(notes),
        tuple(names),
        sum(len(solved_steps(turn)) for turn in told),
        is_recorded=True,
    )


def estimated(text: str) -> int:
    """The rule of thumb for a text's tokens."""
    return len(text) // CHARACTERS_PER_TOKEN


def answer_tokens(answer: ModelResponded | None, tokens: Callable[[str], int]) -> int:
    """The tokens of an answer, by the provider, or else counted; 0 before it comes."""
    if answer is None:
        return 0
    if answer.usage.output_tokens is not None:
        return answer.usage.output_tokens
    return answer.counted or sum(map(tokens, answer_texts(answer.text, answer.tool_calls)))


def _tools(catalog: CatalogBuilt | None, made: Sequence[ModelCall]) -> list[PlannedTool]:
    """The tools of the catalog, then loaded tools that it no longer has.

    If no tool is deferred, none counts as pinned, since the comparison is about deferring them.
    """
    entries = catalog.entries if catalog is not None else ()
    waits = any(entry.deferred for entry in entries)
    tools = {e.id: PlannedTool(e.id, e.tokens, pinned=waits and not e.deferred) for e in entries}
    for event in (event for call in made for event in call.loaded):
        tools.setdefault(event.tool, PlannedTool(event.tool, event.tokens))
    return list(tools.values())


def _calls(
    recorded: Sequence[tuple[int, ModelCall]],
    tools: Sequence[PlannedTool],
    assumed: Assumptions,
    tokens: Callable[[str], int],
) -> Iterator[PlannedCall]:
    """The model calls; where none was searched for, with a search where an answer used tools first."""
    gates, sizes = assumed.gates(tools), {tool.id: tool.tokens for tool in tools}
    is_searched = any(call.loaded for _, call in recorded)
    waiting = {tool.id for tool in tools if not tool.pinned and not is_searched}
    gated: tuple[str, ...] = ()
    last, before, in_script = -1, None, 0
    for message, call in recorded:
        if call.gate is not None:
            gated = call.gate.active
        elif message != last:
            gated = next(gates)
        discovered = tuple(dict.fromkeys(event.tool for event in call.loaded))
        growth, search, anew = _growth(call, before)
        if call.request.delivery in ("text", CODE) or is_native(call.request.delivery):
            share = assumed.declared_share if call.request.delivery == CODE else 1.0
            search -= sum(round(sizes[id_] * share) for id_ in discovered)
        goes_on = message == last and before is not None and _goes_on(call, before)
        in_script = in_script % assumed.calls_per_script + 1 if goes_on else 1
        planned = PlannedCall(
            growth=growth,
            discovered=discovered,
            gated=gated,
            search=max(0, search),
            seconds=max(0.0, call.record.at - before.record.at) if before is not None else 0.0,
            output=answer_tokens(call.answer, tokens),
            anew=anew,
            scripted=in_script > 1,
        )
        fresh = tuple(id_ for id_ in dict.fromkeys(call.called) if id_ in waiting)
        waiting.difference_update(fresh)
        yield from assumed.searched(planned, [fresh] if fresh else [])
        last, before = message, call


def _goes_on(call: ModelCall, before: ModelCall) -> bool:
    """Whether a script could make an answer's calls right after those of the answer before."""
    acts = (*before.acts, *call.acts)
    only_calls = bool(before.acts and call.acts) and all(isinstance(act, ToolCall) for act in acts)
    return only_calls and not call.loaded and not call.reduced and call.request.delivery != CODE


def _growth(call: ModelCall, before: ModelCall | None) -> tuple[int, int, bool]:
    """How much the conversation grew apart from searches and by them; all of it if it was cut down."""
    now = call.request.tokens
    if before is None:
        return now.history, now.searches, False
    last = before.request.tokens
    growth, search = now.history - last.history, now.searches - last.searches
    if call.reduced or growth < 0 or search < 0:
        return now.history, now.searches, True
    return growth, search, False


def _overhead(made: Sequence[ModelCall], tools: int, assumed: Assumptions) -> tuple[Overhead, list[str]]:
    """The overhead that the session counted, and the names of the assumptions about the rest."""
    parts = [call.request.tokens for call in made]
    meta, manifest = max(part.meta for part in parts), max(part.manifest for part in parts)
    pool = max(part.pool for part in parts)
    names = ["call_tool_tokens", "run_script_tokens", "declared_share", "calls_per_script"]
    names += [] if pool else ["summary_tokens"]
    if any(call.request.delivery == CODE for call in made):
        meta = max(0, meta - assumed.run_script_tokens)
    elif any(has_proxy(call.request.delivery) for call in made):
        meta = max(0, meta - assumed.call_tool_tokens)
    if not meta:
        meta, manifest = assumed.meta_tokens, assumed.manifest_tokens * tools
        names += ["meta_tokens", "manifest_tokens"]
    pool = pool or assumed.summary_tokens * tools
    told = Overhead(parts[-1].prompt, meta, manifest, assumed.call_tool_tokens, pool)
    return replace(told, run_script=assumed.run_script_tokens, declared=assumed.declared_share), names
