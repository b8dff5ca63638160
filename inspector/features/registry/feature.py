"""Stored tools and their versions, beside those of connected servers."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from inspector.core.feature import CommandInfo, Feature, PageInfo, Part, Parts

if TYPE_CHECKING:
    from inspector.cli.options import Options
    from inspector.features.registry.library import RegistryLibrary
    from inspector.session.workbench import Workbench


REGISTRY: "Part[RegistryLibrary]" = Part()


def provide(options: "Options", bench: "Workbench") -> Mapping[Part[Any], object]:
    """The registry of the session, searched with the session's own model."""
    from inspector.cli.composition import open_health
    from inspector.features.registry.library import RegistryLibrary

    ports = bench.ports
    if ports.registry is None:
        return {}
    library = RegistryLibrary(
        ports.registry,
        lambda: ports.embedder_for(bench.settings.discovery.embedding_model),
        lambda: bench.sight,
        open_health(options),
    )
    return {REGISTRY: library}


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
        CommandInfo("registry", "command:registry", "More"),
        CommandInfo("registry import", "command:import_tools"),
        CommandInfo("registry show", "search_command:show_tool"),
        CommandInfo("registry search", "search_command:search"),
        CommandInfo("registry export", "command:export"),
    ),
    provide=provide,
)
