"""Stored tools and their versions, beside those of connected servers."""

from inspector.core.feature import CommandInfo, Feature, PageInfo

FEATURE = Feature(
    "registry",
    pages=(
        PageInfo(
            "registry",
            "registry",
            "Stored tools and their versions.",
            "tools",
            at="page:RegistryScreen",
            is_optional=True,
        ),
    ),
    commands=(
        CommandInfo("registry", "command:registry", "More"),
        CommandInfo("registry import", "command:import_tools"),
        CommandInfo("registry show", "search_command:show_tool"),
        CommandInfo("registry search", "search_command:search"),
        CommandInfo("registry export", "command:export"),
    ),
)
