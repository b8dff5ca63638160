"""Who may see which tools, and why."""

from typing import TYPE_CHECKING

from inspector.core.feature import CommandInfo, Feature, PageInfo, Parts

if TYPE_CHECKING:
    from inspector.session.workbench import Workbench


def has_policy(bench: "Workbench", _parts: Parts) -> bool:
    """Whether a policy says who sees what."""
    return bench.access_policy is not None


FEATURE = Feature(
    "access",
    pages=(
        PageInfo(
            "access",
            "access",
            "Who may see which tools, and why.",
            "tools",
            at="page:AccessScreen",
            has_content=has_policy,
        ),
    ),
    commands=(CommandInfo("config access", "command:access", shows=("access",)),),
)
