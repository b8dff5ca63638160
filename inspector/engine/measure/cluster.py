"""Which labelled requests belong together: those that need the same tool succeed and fail together."""

from collections import Counter
from collections.abc import Sequence

from inspector.domain.evaluation import EvalCase


def clusters(cases: Sequence[EvalCase]) -> tuple[str, ...]:
    """Each case's cluster: the tool it shares with most other cases, the first by name among equals.

    A case without a tool stands alone. Chains of cases that share one tool each do not become one cluster.
    """
    wanted = [sorted(frozenset[str]().union(*case.relevant)) for case in cases]
    counts = Counter(tool_id for tools in wanted for tool_id in tools)
    return tuple(
        f"tool {min(tools, key=lambda tool_id: (-counts[tool_id], tool_id))}" if tools else f"case {number}"
        for number, tools in enumerate(wanted)
    )
