"""What tools cost: the next request, loading strategies, and every client of this machine."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from inspector.core.feature import CommandInfo, Feature, PageInfo, Part

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspector.cli.options import Options
    from inspector.features.cost.audit.result import Audit
    from inspector.session.workbench import Workbench


AUDIT: "Part[Callable[[], Audit]]" = Part(beside_session=True)


def provide(options: "Options", _bench: "Workbench") -> Mapping[Part[Any], object]:
    """What reads the other configurations on this machine, in a thread."""

    def audit() -> "Audit":
        from inspector.features.cost.audit.machine import audit_machine

        return audit_machine(options)

    return {AUDIT: audit}


FEATURE = Feature(
    "cost",
    pages=(
        PageInfo("budget", "budget", "What the next request costs; what-if.", "cost", at="page:BudgetScreen"),
        PageInfo("calls", "usage", "What every model call cost.", "cost", part_of="budget", view_of="budget"),
        PageInfo(
            "ways", "strategies", "The same calls under five loading strategies.", "cost", part_of="budget"
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
        CommandInfo("cost", "command:cost", "Cost"),
        CommandInfo("audit", "audit.command:audit", "Cost"),
    ),
    provide=provide,
)
