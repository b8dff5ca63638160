"""Stored tools and their versions, beside those of connected servers."""

from typing import TYPE_CHECKING

from inspector.core.feature import CommandInfo, Feature, PageInfo, Part, Parts

if TYPE_CHECKING:
    from inspector.features.registry.library import RegistryLibrary
    from inspector.session.workbench import Workbench


REGISTRY: "Part[RegistryLibrary]" = Part()


def has_tools(_bench: "Workbench", parts: Parts) -> bool:
    """Whether a tool is in the registry. Raises ToolsightError if it cannot be read."""
    library = parts.get(REGISTRY)
    return library is not None and library.has_tools()


FEATURE = Feature(
    "registry",
    pages=(
        PageInfo(
            "registry",
            "registry",
            "Stored tools and their versions.",
            "tools",
            at="page:RegistryScreen",
            has_content=has_tools,
        ),
    ),
    commands=(
        CommandInfo("registry", "command:registry", "More", shows=("registry",)),
        CommandInfo("registry import", "command:import_tools"),
        CommandInfo("registry show", "command:show_tool"),
        CommandInfo("registry search", "command:search"),
        CommandInfo("registry export", "command:export"),
    ),
    stores="source:stored_tools",
    provide="source:provide",
)
