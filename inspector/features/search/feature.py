"""Searches, and why they find a tool or do not."""

from inspector.core.feature import CommandInfo, Feature, PageInfo

FEATURE = Feature(
    "search",
    pages=(
        PageInfo(
            "search",
            "search",
            "Search, and see why a tool is or is not found.",
            "find",
            at="page:SearchScreen",
        ),
    ),
    commands=(CommandInfo("search", "command:search", "Find", shows=("search",)),),
)
