"""Who may see which tools, and why."""

from inspector.core.feature import CommandInfo, Feature, PageInfo

FEATURE = Feature(
    "access",
    pages=(
        PageInfo(
            "access",
            "access",
            "Who may see which tools, and why.",
            "tools",
            at="page:AccessScreen",
            is_optional=True,
        ),
    ),
    commands=(CommandInfo("config access", "command:access"),),
)
