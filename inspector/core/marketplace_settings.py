"""The settings of the marketplace (semantic tool discovery, section 10)."""

from dataclasses import dataclass

from inspector.core.setting_field import knob


@dataclass(frozen=True, slots=True)
class MarketplaceSettings:
    """When a search goes on in the marketplace, and where that is. Nothing is ever installed by itself."""

    enabled: bool = knob(
        True, "also search the marketplace if a search finds nothing; this requires a catalog"
    )
    catalogs: tuple[str, ...] = knob(
        (), "plugin files: Toolsight's own format, a server.json, or a response from an MCP registry"
    )
    imported: bool = knob(True, "also search the catalogs added with `toolsight marketplace import`")
    results: int = knob(3, "maximum number of suggested plugins", low=1, high=20)
