"""Servers that can be installed."""

from inspector.core.feature import CommandInfo, Feature, PageInfo

FEATURE = Feature(
    "marketplace",
    pages=(
        PageInfo(
            "marketplace",
            "marketplace",
            "Servers you can install.",
            "tools",
            at="page:MarketplaceScreen",
            is_optional=True,
        ),
    ),
    commands=(
        CommandInfo("marketplace", "command:marketplace", "More"),
        CommandInfo("marketplace search", "command:search"),
        CommandInfo("marketplace show", "command:show_plugin"),
        CommandInfo("marketplace install", "command:install"),
        CommandInfo("marketplace remove", "command:remove"),
        CommandInfo("marketplace import", "command:import_catalog"),
    ),
)
