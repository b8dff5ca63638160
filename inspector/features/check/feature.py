"""What keeps tools from being found, chosen and called right."""

from inspector.core.feature import CommandInfo, Feature, PageInfo

FEATURE = Feature(
    "check",
    pages=(
        PageInfo(
            "findings",
            "findings",
            "What keeps tools from being found, chosen, called right.",
            "tools",
            at="page:FindingsScreen",
        ),
    ),
    commands=(
        CommandInfo("check", "command:check", "Find", shows=("findings",)),
        CommandInfo("diff", "diff_command:diff", "Find"),
    ),
)
