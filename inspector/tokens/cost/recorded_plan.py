"""The plan of a recorded session: the tools it needed, so that every other delivery can be priced."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from inspector.core.budget import CHARACTERS_PER_TOKEN
from inspector.core.events import (
    CatalogBuilt,
    ModelResponded,
    Record,
    SessionStarted,
    SettingsChanged,
)
from inspector.core.message import answer_texts
from inspector.core.number import plural
from inspector.core.turns import ModelCall, turns
from inspector.tokens.cost.delivery import has_proxy, is_native
from inspector.tokens.cost.plan import (
    Assumptions,
    Gate,
    Overhead,
    Plan,
    PlannedCall,
    PlannedTool,
    solved_steps,
    with_searches,
)


@dataclass(frozen=True, slots=True)
class _Call:
    """A recorded model call, in the turn of this message; `output` are the tokens of its answer."""

    made: ModelCall
    message: int
    output: int


def plan_of(
    records: Iterable[Record],
    assumptions: Assumptions | None = None,
    count: Callable[[str], int] | None = None,
) -> Plan | None:
    """The plan of a session; None for one without a model call, or with tools of unknown size.

    What the record does not say is assumed: the searches of a session that had every tool bound or a gate
    (before the first use of a tool), what a gate would have bound in a session without one, and the tokens of
    answers that the provider did not report, which `count` counts (by default characters / 4).
    """
    assumed, records = assumptions or Assumptions(), list(records)
    recorded = _read(records, count or estimated)
    catalog = recorded[-1].made.catalog if recorded else None
    if not recorded or (catalog is not None and catalog.uncounted):
        return None
    tools = _tools(catalog, recorded)
    searched = any(call.made.loaded for call in recorded)
    gated = any(call.made.gate for call in recorded)
    calls = _calls(recorded, tools, assumed)
    what = f"{len(recorded):,} {plural(len(recorded), 'model call')}"
    notes = [f"a recorded session of {what} over {len(tools):,} {plural(len(tools), 'tool')}"]
    if not searched:
        calls = _searched(calls, recorded, tools, assumed)
        notes.append("its searches are assumed: one before the first use of each tool")
    if not gated:
        notes.append("the tools that a gate would bind are drawn at random")
    overhead, names = _overhead(recorded, len(tools), assumed)
    overhead = replace(overhead, manifest_limit=_manifest_limit(records, catalog, overhead.manifest))
    names += [] if searched else ["search_tokens", "search_seconds", "search_output", "own_call"]
    names += [] if gated else ["gate_tools", "seed"]
    steps = solved_steps(records)
    basis = "; ".join(notes)
    return Plan(tuple(tools), overhead, tuple(calls), basis, tuple(names), steps, is_recorded=True)


def estimated(text: str) -> int:
    """The rule of thumb for a text's tokens."""
    return len(text) // CHARACTERS_PER_TOKEN


def _read(records: Iterable[Record], count: Callable[[str], int]) -> list[_Call]:
    return [
        _Call(call, turn.message, 0 if call.answer is None else answer_tokens(call.answer, count))
        for turn in turns(records)
        for call in turn.calls
    ]


def answer_tokens(event: ModelResponded, count: Callable[[str], int]) -> int:
    """The tokens of an answer, by the provider, or else counted."""
    if event.usage.output_tokens is not None:
        return event.usage.output_tokens
    return event.counted or sum(map(count, answer_texts(event.text, event.tool_calls)))


def _tools(catalog: CatalogBuilt | None, calls: Sequence[_Call]) -> list[PlannedTool]:
    """The tools of the catalog, then loaded tools that it no longer has.

    If no tool is deferred, none counts as pinned, since the comparison is about deferring them.
    """
    entries = catalog.entries if catalog is not None else ()
    waits = any(entry.deferred for entry in entries)
    tools = {e.id: PlannedTool(e.id, e.tokens, pinned=waits and not e.deferred) for e in entries}
    for event in (event for call in calls for event in call.made.loaded):
        tools.setdefault(event.tool, PlannedTool(event.tool, event.tokens))
    return list(tools.values())


def _calls(
    recorded: Sequence[_Call], tools: Sequence[PlannedTool], assumed: Assumptions
) -> list[PlannedCall]:
    gate, tokens = Gate(tools, assumed), {tool.id: tool.tokens for tool in tools}
    calls: list[PlannedCall] = []
    gated: tuple[str, ...] = ()
    before: _Call | None = None
    for call in recorded:
        made = call.made
        if made.gate is not None:
            gated = made.gate.active
        elif before is None or call.message != before.message:
            gated = gate.turn()
        discovered = tuple(dict.fromkeys(event.tool for event in made.loaded))
        growth, search, anew = _growth(call, before)
        if made.request.delivery == "text" or is_native(made.request.delivery):
            search -= sum(tokens[id_] for id_ in discovered)
        seconds = max(0.0, made.record.at - before.made.record.at) if before is not None else 0.0
        calls.append(
            PlannedCall(
                growth=growth,
                discovered=discovered,
                gated=gated,
                search=max(0, search),
                seconds=seconds,
                output=call.output,
                anew=anew,
            )
        )
        before = call
    return calls


def _growth(call: _Call, before: _Call | None) -> tuple[int, int, bool]:
    """How much the conversation grew apart from searches and by them; all of it if it was cut down."""
    now = call.made.request.tokens
    if before is None:
        return now.history, now.searches, False
    last = before.made.request.tokens
    growth, search = now.history - last.history, now.searches - last.searches
    if call.made.reduced or growth < 0 or search < 0:
        return now.history, now.searches, True
    return growth, search, False


def _searched(
    calls: Sequence[PlannedCall],
    recorded: Sequence[_Call],
    tools: Sequence[PlannedTool],
    assumed: Assumptions,
) -> list[PlannedCall]:
    """The calls with an assumed search wherever an answer used tools for the first time."""
    known = {tool.id for tool in tools if tool.pinned}
    permitted = {tool.id for tool in tools}
    searching: list[PlannedCall] = []
    for call, record in zip(calls, recorded, strict=True):
        fresh = tuple(
            id_ for id_ in dict.fromkeys(record.made.called) if id_ in permitted and id_ not in known
        )
        known.update(fresh)
        searching += with_searches(call, [fresh] if fresh else [], assumed)
    return searching


def _overhead(recorded: Sequence[_Call], tools: int, assumed: Assumptions) -> tuple[Overhead, list[str]]:
    """The overhead that the session counted, and the names of the assumptions about the rest."""
    usual = assumed.overhead(tools)
    parts = [call.made.request.tokens for call in recorded]
    meta, pool = max(part.meta for part in parts), max(part.pool for part in parts)
    if any(has_proxy(call.made.request.delivery) for call in recorded):
        meta = max(0, meta - usual.call_tool)
    names = ["call_tool_tokens"] if pool else ["call_tool_tokens", "summary_tokens"]
    counted = Overhead(
        system=parts[-1].system,
        meta=meta,
        manifest=max(part.manifest for part in parts),
        call_tool=usual.call_tool,
        pool=pool or usual.pool,
    )
    if meta:
        return counted, names
    counted = replace(counted, meta=usual.meta, manifest=usual.manifest)
    return counted, [*names, "meta_tokens", "manifest_tokens"]


def _manifest_limit(records: Sequence[Record], catalog: CatalogBuilt | None, manifest: int) -> int:
    """What a manifest has at most: the size of one that was shortened, or else the session's setting."""
    if catalog is not None and catalog.rules:
        return manifest
    changes = (record.event for record in reversed(records))
    settings = next((e.settings for e in changes if isinstance(e, SessionStarted | SettingsChanged)), {})
    return int(settings.get("manifest", {}).get("max_tokens") or 0)
