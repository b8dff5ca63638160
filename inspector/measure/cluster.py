"""Which labelled requests belong together: those that need the same tool succeed and fail together."""

from collections import Counter
from collections.abc import Collection, Sequence

from inspector.access.reach import EvalCase


def clusters(cases: Sequence[EvalCase]) -> tuple[str, ...]:
    """The cluster of each labelled request, see `clusters_of`."""
    return clusters_of([frozenset[str]().union(*case.relevant) for case in cases])


def clusters_of(wanted: Sequence[Collection[str]]) -> tuple[str, ...]:
    """The cluster of each case that needs these tools: the one it shares with most other cases.

    Among equals it is the first by name. A case without a tool stands alone. Chains of cases that share one
    tool each do not become one cluster.
    """
    counts = Counter(tool_id for tools in wanted for tool_id in tools)
    return tuple(
        f"tool {min(tools, key=lambda tool_id: (-counts[tool_id], tool_id))}" if tools else f"case {number}"
        for number, tools in enumerate(wanted)
    )
