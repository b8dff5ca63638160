"""What tools cost: the next request, loading strategies, and every client of this machine."""

from typing import TYPE_CHECKING

from inspector.core.feature import CommandInfo, Feature, PageInfo, Part

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspector.features.cost.audit.result import Audit


AUDIT: "Part[Callable[[], Audit]]" = Part(beside_session=True)


FEATURE = Feature(
    "cost",
    pages=(
        PageInfo("budget", "budget", "What the next request costs; what-if.", "cost", at="page:BudgetScreen"),
        PageInfo(
            "ways", "strategies", "The same calls under six loading strategies.", "cost", part_of="budget"
        ),
        PageInfo(
            "machine",
            "this machine",
            "What the servers of every MCP client cost.",
            "cost",
            at="audit.page:MachineScreen",
        ),
    ),
    commands=(
        CommandInfo("cost", "command:cost", "Cost", shows=("budget", "ways")),
        CommandInfo("audit", "audit.command:audit", "Cost", shows=("machine",)),
    ),
    provide="audit.command:provide",
)
