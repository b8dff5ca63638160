"""One MCP server in front of all servers of a configuration, for a client that cannot search."""

from inspector.core.feature import CommandInfo, Feature

FEATURE = Feature(
    "gateway",
    commands=(
        CommandInfo("gateway", "command:gateway", "Talk"),
        CommandInfo("gateway add", "command:add"),
        CommandInfo("gateway remove", "command:remove"),
    ),
    lends={"gateway": "serve:open_gateway"},
)
