"""What the servers offer: every server and tool, and calls to them by hand."""

from inspector.core.feature import CommandInfo, Feature, PageInfo

FEATURE = Feature(
    "tools",
    pages=(
        PageInfo(
            "servers",
            "servers",
            "Every server and tool; stderr; call a tool.",
            "tools",
            at="page:ToolsScreen",
        ),
    ),
    commands=(
        CommandInfo("servers", "command:servers", "See"),
        CommandInfo("tools", "command:tools", "See", shows=("manifest", "servers")),
        CommandInfo("call", "call_command:call", "See"),
    ),
)
