"""What a gate makes of a second message: "The gate" of docs/papers/profiles.md.

`python -m docs.benchmark.follow_up` prints it. The first message is a request of fixtures/evalsets, the
second a follow-up that only makes sense after it, or a request for a tool of another server. Nothing is
answered in between, since the scripted model's answers name tools as no other does.
"""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from docs.benchmark import say
from docs.benchmark.data import own, prepared
from inspector.access.reach import EvalCase
from inspector.core.message import UserMessage
from inspector.core.number import percent, wilson
from inspector.core.ports import SystemClock
from inspector.core.settings import DiscoverySettings, GateQuery, GateSettings
from inspector.loop.gate import Gate
from inspector.search.ranker.catalog_rankers import CatalogRankers

SETS = ("demo", "demo_search")
QUERIES: tuple[GateQuery, ...] = ("user", "rolling", "either")
FOLLOW_UPS = {
    "weather": "And Rome?",
    "home-automation": "And in the kitchen?",
    "notes": "And the other one, too.",
    "files": "The same for the second one, please.",
    "shop": "And for order 1043?",
    "office": "And for Anna?",
    "tracker": "And number 17?",
    "clock": "And in Tokyo?",
    "calc": "And for twice as much?",
}
Bound = Callable[[GateQuery, Sequence[str]], frozenset[str]]


def gate_over(rankers: CatalogRankers) -> Bound:
    """The tools that the gate selects after messages of the user, with the default threshold and k."""
    gate = Gate(SystemClock())

    def bound(query: GateQuery, messages: Sequence[str]) -> frozenset[str]:
        settings = replace(GateSettings(), query=query)
        said = [UserMessage(text) for text in messages]
        return frozenset(gate.apply(rankers, said, settings, pinned=(), unmet={}, tokens=len).active)

    return bound


def servers(case: EvalCase) -> frozenset[str]:
    return frozenset(tool_id.partition(":")[0] for group in case.relevant for tool_id in group)


def has_all(case: EvalCase, bound: frozenset[str]) -> bool:
    return all(group & bound for group in case.relevant)


def kept(bound: Bound, query: GateQuery, cases: Sequence[EvalCase]) -> list[tuple[bool, int]]:
    """By request whose tool was bound: whether it is after a follow-up too, and how many are."""
    reached = [case for case in cases if has_all(case, bound(query, [case.query]))]
    after = [bound(query, [case.query, FOLLOW_UPS[min(servers(case))]]) for case in reached]
    return [(has_all(case, tools), len(tools)) for case, tools in zip(reached, after, strict=True)]


def switched(bound: Bound, query: GateQuery, cases: Sequence[EvalCase]) -> list[tuple[bool, int]]:
    """By pair of requests for different servers: whether the second's tool is bound, and how many are."""
    others = [*cases[len(cases) // 2 :], *cases[: len(cases) // 2]]
    pairs = [(one, two) for one, two in zip(cases, others, strict=True) if not servers(one) & servers(two)]
    after = [bound(query, [one.query, two.query]) for one, two in pairs]
    return [(has_all(two, tools), len(tools)) for (_, two), tools in zip(pairs, after, strict=True)]


def cell(seen: Sequence[tuple[bool, int]]) -> str:
    """The share with its interval, of how many, and the mean number of tools bound."""
    share, size = sum(hit for hit, _ in seen) / len(seen), len(seen)
    low, high = wilson(share, size)
    mean = sum(count for _, count in seen) / size
    return f"{percent(share)} [{100 * low:.0f}, {100 * high:.0f}] of {size}, {mean:.1f} tools"


def main() -> None:
    say("| requests | `gate.query` | tool kept at a follow-up | tool of a new request bound |")
    say("| :-- | :-- | --: | --: |")
    for evalset in map(own, SETS):
        bound = gate_over(CatalogRankers(prepared(evalset, lined=True).index, DiscoverySettings()))
        cases = [case for case in evalset.cases if case.is_possible]
        for query in QUERIES:
            followed, new = cell(kept(bound, query, cases)), cell(switched(bound, query, cases))
            say(f"| {evalset.name} | `{query}` | {followed} | {new} |")


if __name__ == "__main__":
    main()
