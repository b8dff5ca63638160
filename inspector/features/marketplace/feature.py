"""Servers that can be installed."""

from typing import TYPE_CHECKING

from inspector.core.feature import CommandInfo, Feature, PageInfo, Parts

if TYPE_CHECKING:
    from inspector.session.workbench import Workbench


def has_plugins(bench: "Workbench", _parts: Parts) -> bool:
    """Whether a catalog offers anything."""
    from inspector.features.marketplace.marketplace import marketplace_of

    return bool(marketplace_of(bench).plugins)


FEATURE = Feature(
    "marketplace",
    pages=(
        PageInfo(
            "marketplace",
            "marketplace",
            "Servers you can install.",
            "tools",
            at="page:MarketplaceScreen",
            has_content=has_plugins,
        ),
    ),
    commands=(
        CommandInfo("marketplace", "command:marketplace", "More", shows=("marketplace",)),
        CommandInfo("marketplace search", "command:search"),
        CommandInfo("marketplace show", "command:show_plugin"),
        CommandInfo("marketplace install", "command:install"),
        CommandInfo("marketplace remove", "command:remove"),
        CommandInfo("marketplace import", "command:import_catalog"),
    ),
    compose="command:compose",
)
