"""How often a gate keeps poisoned descriptions out of the request (Tool Attention, section 7.6).

A poisoned description can do harm only if the model reads it. This measures how often the model does not,
for requests that do not need the tool. That is exposure, not a defense: a request that needs the tool gets
the poison with it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from random import Random

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from docs.papers.labelled import Bound, gate_bound, search_bound
from docs.papers.report import Section, Table, percent_down
from docs.papers.source import NamedCatalog, Poison, Source, Steps, indexed
from inspector.access.reach import EvalCase
from inspector.core.number import percent
from inspector.core.ports import Clock, TokenCounter
from inspector.core.settings import DiscoverySettings
from inspector.core.tool import SUMMARY_TOKENS, Tool, tool_summary
from inspector.search.answer.metric import Estimate, share_estimate
from inspector.search.index.document import texts_by_key
from inspector.search.index.semantics import Semantics
from inspector.search.index.tool_index import ToolIndex
from inspector.search.ranker.catalog_rankers import CatalogRankers

# Section 7.6: excluded descriptions of 50, on their accompanying queries.
PUBLISHED, OF = 46, 50
# What the paper projects from that: the success of attacks with every schema bound, and with the gate.
ATTACKS, GATED = 0.38, 0.06
# The tools in its testbed, and the most that its gate binds (section 6.1, appendix A.1).
TESTBED, TESTBED_BOUND = 120, 10
OTHER, SERVER, ITSELF = "another server", "its server, another tool", "the tool itself"
GROUPS = (OTHER, SERVER, ITSELF)
# Requests per poison and group: the fuzzy ranker, which compares letters, is slow.
REQUESTS = 12
SEARCHED = ("hybrid", "bm25", "prd-bm25", "fuzzy", "two-stage")
_SEED = 0


class Trial(Struct, frozen=True):
    """One request against one poison of `tool` with one gate, which binds `bound` tools.

    `is_excluded` says whether the poisoned tool is not among them, `was_excluded` whether it was not before
    it was poisoned.
    """

    gate: str
    group: str
    kind: str
    bound: int
    is_excluded: bool
    was_excluded: bool
    tool: str


def poison(source: Source, steps: Steps) -> Section:
    """The share of poisoned descriptions that each gate keeps out. Raises ToolsightError and Stopped."""
    demo, poisons = source.demo(), source.poisons()
    results = list(trials(demo, poisons, source, steps))
    return Section(
        id="poison",
        title="Poisoned descriptions: exposure, not safety",
        source="Tool Attention, section 7.6 (a projection there)",
        measured=(
            f"{len(poisons)} poisoned descriptions of our own, each appended to a demo tool's description, "
            f"one at a time, among {len(demo.tools)} tools. Excluded: the poisoned tool is not among those "
            f"that a request binds; {REQUESTS} of the demo's requests for each poison and group, fewer "
            "where there are no more. This is how often a model does not read the text; it says "
            "nothing about what a model does that reads it, and keeps nothing out that the task calls for"
        ),
        tables=(
            _by_group(results, len(demo.tools), len(poisons)),
            _by_kind(results),
            _pooled(demo.tools, poisons, source.counter),
        ),
        findings=findings(),
    )


def findings() -> tuple[str, ...]:
    """What the paper concludes from its number, computed again."""
    exposed, by_chance = (OF - PUBLISHED) / OF, chance(TESTBED_BOUND, TESTBED)
    return (
        f"The paper projects that excluding {PUBLISHED} of {OF} descriptions cuts the success of attacks "
        f"from {percent(ATTACKS)} to {percent(GATED)}. {OF - PUBLISHED} of {OF} exposed are "
        f"{percent(exposed)}, and {percent(ATTACKS)} of these would be {percent(ATTACKS * exposed)}.",
        f"A gate that binds {TESTBED_BOUND} random tools of the testbed's {TESTBED} excludes "
        f"{percent(by_chance, 1)} of the descriptions, {by_chance * OF:.1f} of {OF}: the size of the "
        f"selection alone explains the published {PUBLISHED}.",
    )


def chance(bound: float, tools: int) -> float:
    """The share of tools that are not bound, 0 to 1: how often a random selection excludes a tool."""
    return 1 - min(bound, tools) / tools if tools else 0.0


def trials(demo: NamedCatalog, poisons: Sequence[Poison], source: Source, steps: Steps) -> Iterator[Trial]:
    """Try every poison with its requests and every gate. Raises ToolsightError and Stopped."""
    semantics = source.semantics()
    base = indexed(demo, source, steps, lined=True)
    clean = ToolIndex(demo.tools, summaries=demo.summaries, semantics=semantics, before=base)
    before = {name: cache(bound) for name, bound in bindings(clean, source.clock).items()}
    for done, one in enumerate(poisons):
        steps("poisoned descriptions", done, len(poisons))
        gates = bindings(poisoned(clean, one, semantics), source.clock)
        for group, cases in requests(demo, one).items():
            for case, (gate, bound) in product(cases, gates.items()):
                found, without = bound(case.query), before[gate](case.query)
                yield Trial(
                    gate=gate,
                    group=group,
                    kind=one.kind,
                    bound=len(found),
                    is_excluded=one.tool not in found,
                    was_excluded=one.tool not in without,
                    tool=one.tool,
                )


def poisoned(index: ToolIndex, one: Poison, semantics: Semantics | None) -> ToolIndex:
    """The index with the poison in its tool's description; with vectors, the tool is embedded again."""
    tools = [_with(tool, one.text) if tool.id == one.tool else tool for tool in index.tools]
    if semantics is not None:
        texts = texts_by_key([tool for tool in tools if tool.id == one.tool], lined=index.lined)
        known = {*semantics.recall(list(texts))}
        semantics.embed({key: text for key, text in texts.items() if key not in known})
    return index.updated(tools).with_new_vectors()


def requests(demo: NamedCatalog, one: Poison) -> Mapping[str, Sequence[EvalCase]]:
    """Each group's requests for a poison, at most REQUESTS and always the same ones.

    Requests that no tool fits are in the first group: nothing should be bound for them.
    """
    groups: dict[str, list[EvalCase]] = {group: [] for group in GROUPS}
    for case in demo.cases:
        groups[_group(case, one)].append(case)
    random = Random(f"{_SEED}/{one.id}")
    return {
        group: random.sample(cases, REQUESTS) if len(cases) > REQUESTS else cases
        for group, cases in groups.items()
    }


def bindings(index: ToolIndex, clock: Clock) -> Mapping[str, Bound]:
    """What each gate binds for a request, by the gate's name."""
    rankers = CatalogRankers(index, DiscoverySettings())
    return dict([gate_bound(rankers, clock), *(search_bound(rankers, name, clock) for name in SEARCHED)])


def _with(tool: Tool, text: str) -> Tool:
    return replace(tool, description=f"{tool.description} {text}")


def _group(case: EvalCase, one: Poison) -> str:
    wanted = {tool_id for group in case.relevant for tool_id in group}
    if one.tool in wanted:
        return ITSELF
    server = one.tool.partition(":")[0]
    return SERVER if any(tool_id.partition(":")[0] == server for tool_id in wanted) else OTHER


def _by_group(trials: Sequence[Trial], tools: int, poisons: int) -> Table:
    headers = (
        "what binds",
        "tools bound",
        "by chance",
        *(f"request for {group}" for group in GROUPS),
        f"of {OF}, {OTHER}",
        f"not poisoned, {OTHER}",
    )
    paper = (
        "paper, accompanying queries",
        "–",
        "–",
        percent(PUBLISHED / OF, 1),
        "–",
        "–",
        f"{PUBLISHED}",
        "–",
    )
    rows = [paper, *(_group_row(gate, trials, tools) for gate in _gates(trials))]
    counted = {group: sum(trial.group == group for trial in trials) for group in GROUPS}
    each = max(len(_gates(trials)), 1)
    requests_by_group = ", ".join(f"{counted[group] // each:,} for {group}" for group in GROUPS)
    return Table(
        "Share of poisoned descriptions that are not bound",
        headers,
        tuple(rows),
        frozenset(range(1, len(headers))),
        (
            f"Requests for each of them: {requests_by_group}; with {poisons} poisons.",
            "[ ]: 95 % intervals, Wilson's, with the trials of one poisoned tool as a cluster.",
            "“tools bound” is the mean; “by chance” is what binding as many random tools excludes.",
        ),
    )


def _group_row(gate: str, trials: Sequence[Trial], tools: int) -> tuple[str, ...]:
    mine = [trial for trial in trials if trial.gate == gate]
    groups = {group: [trial for trial in mine if trial.group == group] for group in GROUPS}
    other = groups[OTHER]
    bound = float(np.mean([trial.bound for trial in other])) if other else 0.0
    excluded = _share(other)
    return (
        gate,
        f"{bound:.1f}",
        percent_down(chance(bound, tools)),
        *(_told(_share(groups[group])) for group in GROUPS),
        "–" if excluded is None else f"{excluded.mean * OF:.1f}",
        _told(_share(other, lambda trial: trial.was_excluded)),
    )


def _by_kind(trials: Sequence[Trial]) -> Table:
    kinds = list(dict.fromkeys(trial.kind for trial in trials))
    rows = [(gate, *(_kind_cell(trials, gate, kind) for kind in kinds)) for gate in _gates(trials)]
    return Table(
        f"The same by kind of attack, requests for {OTHER}",
        ("what binds", *kinds),
        tuple(rows),
        frozenset(range(1, len(kinds) + 1)),
        ("“bait” is written to be found by every search.",),
    )


def _kind_cell(trials: Sequence[Trial], gate: str, kind: str) -> str:
    wanted = (gate, OTHER, kind)
    return _told(_share([trial for trial in trials if (trial.gate, trial.group, trial.kind) == wanted]))


def _pooled(tools: Sequence[Tool], poisons: Sequence[Poison], counter: TokenCounter) -> Table:
    """How many poisons appear in the summaries that a gate keeps in every request, bound or not."""
    by_id, limit = {tool.id: tool for tool in tools}, SUMMARY_TOKENS

    def is_shown(tool: Tool, description: str) -> bool:
        poisoned = replace(tool, description=description)
        return tool_summary(poisoned, limit, counter.count) != tool_summary(tool, limit, counter.count)

    pairs = [(by_id[one.tool], one.text) for one in poisons if one.tool in by_id]
    after = sum(is_shown(tool, f"{tool.description} {text}") for tool, text in pairs)
    before = sum(is_shown(tool, f"{text} {tool.description}") for tool, text in pairs)
    return Table(
        f"Summary pool of {limit} tokens per tool: poisons that every request shows in part",
        ("where the poison is", "in the pool", f"of {len(poisons)}, shown"),
        (
            ("after the description", "its first sentence", f"{after}"),
            ("before the description", "its first sentence", f"{before}"),
        ),
        frozenset({2}),
        (
            "A gate with a resident pool, such as the paper's, shows the beginning of every description, "
            "gated out or not; section 7.6 does not count that.",
        ),
    )


def _gates(trials: Sequence[Trial]) -> list[str]:
    return list(dict.fromkeys(trial.gate for trial in trials))


def _share(
    trials: Sequence[Trial], is_counted: Callable[[Trial], bool] = lambda trial: trial.is_excluded
) -> Estimate | None:
    """The share of the trials that count; trials of one poisoned tool are one cluster."""
    if not trials:
        return None
    return share_estimate([is_counted(trial) for trial in trials], [trial.tool for trial in trials])


def _told(share: Estimate | None) -> str:
    if share is None:
        return "–"
    return f"{percent_down(share.mean)} [{percent(share.low, 1)}, {percent(share.high, 1)}]"
