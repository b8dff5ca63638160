"""The gate beside a search over real catalogs, with requests that people wrote for them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

from inspector.core.report import Table
from inspector.core.settings import DiscoverySettings, GateSettings, ManifestSettings
from inspector.core.summary_pool import summary_pool
from inspector.core.tool import Tool, definition
from inspector.measure.cluster import clusters
from inspector.measure.paired import p_value
from inspector.research.labelled import (
    Answers,
    RequestSet,
    everything,
    gated,
    index_of,
    request_sets,
    searched,
)
from inspector.research.source import Source, Steps
from inspector.search.text import found_text
from inspector.tokens.count.measure import BudgetMeter
from inspector.tokens.manifest import entries, fitted_manifest, search_tools_definition

HEADERS = (
    "requests",
    "method",
    "tools given",
    "tokens of the call",
    "of all calls",
    "precision",
    "recall",
    "F1 [95 % interval]",
)


@dataclass(frozen=True, slots=True)
class Sent:
    """Tokens because of tools: in the model call that can call the tool, and in all calls up to it."""

    call: float
    until: float


def request_table(source: Source, meter: BudgetMeter, steps: Steps) -> Table:
    """Static binding, the gate and one search over every set of labelled requests.

    Raises ToolsightError and Stopped.
    """
    rows, notes = [], []
    for one in request_sets(source):
        possible = tuple(case for case in one.cases if case.is_possible)
        if not possible:
            continue
        asked = RequestSet(one.name, one.catalog, possible)
        index = index_of(asked, source, steps, lined=True)
        gate = gated(asked, index, source.clock, steps)
        search = searched(asked, index, source.clock, steps)
        rows += list(_rows(asked, (everything(asked), gate, search), _Tokens(asked, meter)))
        notes.append(_compared(asked, gate, search))
    return Table(
        "Requests over real catalogs, one at a time",
        HEADERS,
        tuple(rows),
        frozenset(range(2, 8)),
        (
            "Labelled requests that some tool fits, each in a session of its own. Tokens are definitions, "
            "summary pool or meta-tool with manifest, and the text of the search.",
            "A search needs a model call before the one that calls the tool, the gate and static binding "
            "need none: compare “of all calls”; and each call has the rest of the conversation, too.",
            *notes,
        ),
    )


class _Tokens:
    """What each method's answers cost over one catalog."""

    def __init__(self, asked: RequestSet, meter: BudgetMeter) -> None:
        tools = asked.catalog.tools
        self._meter = meter
        self._by_id: Mapping[str, Tool] = {tool.id: tool for tool in tools}
        found = fitted_manifest(entries(tools, asked.catalog.summaries), ManifestSettings(), meter.text)
        self._meta = search_tools_definition(found.text)
        self._first = sum(meter.entries([self._meta]))
        self._pool = meter.text(summary_pool(tools, GateSettings().summary_tokens, meter.text))

    def static(self, answers: Answers) -> Sent:
        return self._mean([self._definitions(given) for given in answers.given])

    def gate(self, answers: Answers) -> Sent:
        return self._mean([self._pool + self._definitions(given) for given in answers.given])

    def search(self, answers: Answers) -> Sent:
        calls = [self._searched(given) for given in answers.given]
        return Sent(mean(calls), mean(calls) + self._first)

    def _searched(self, given: frozenset[str]) -> int:
        tools = [self._by_id[tool_id] for tool_id in sorted(given)]
        text = found_text(tools, (), brief=DiscoverySettings().results == "brief")
        sent = [self._meta, *map(definition, tools)]
        return sum(self._meter.entries(sent)) + self._meter.text(text)

    def _definitions(self, given: frozenset[str]) -> int:
        return self._meter.static([self._by_id[tool_id] for tool_id in sorted(given)])

    @staticmethod
    def _mean(tokens: Sequence[int]) -> Sent:
        return Sent(mean(tokens), mean(tokens))


def _rows(asked: RequestSet, answers: Sequence[Answers], tokens: _Tokens) -> Iterator[tuple[str, ...]]:
    static, gate, search = answers
    sent = (tokens.static(static), tokens.gate(gate), tokens.search(search))
    for one, cost in zip(answers, sent, strict=True):
        f1 = one.f1
        yield (
            f"{asked.name}: {len(asked.cases)}, {len(asked.catalog.tools)} tools",
            one.method,
            f"{one.tools_given:.1f}",
            f"{cost.call:,.0f}",
            f"{cost.until:,.0f}",
            f"{mean(q.precision for q in one.qualities):.3f}",
            f"{mean(q.recall for q in one.qualities):.3f}",
            f"{f1.mean:.3f} [{f1.low:.3f}, {f1.high:.3f}]",
        )


def _compared(asked: RequestSet, gate: Answers, search: Answers) -> str:
    changes = [b.f1 - a.f1 for a, b in zip(gate.qualities, search.qualities, strict=True)]
    p = p_value(changes, clusters(asked.cases))
    return (
        f"{asked.name}: F1 of the search less that of the gate {mean(changes):+.3f}; paired test over "
        f"requests, clustered by tool, p {p:.4f}."
    )
