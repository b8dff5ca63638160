"""The settings of the marketplace (semantic tool discovery, section 10)."""

from dataclasses import dataclass

from inspector.domain.setting_field import knob


@dataclass(frozen=True, slots=True)
class MarketplaceSettings:
    """When a search goes on in the marketplace, and where that is. Nothing is ever installed by itself."""

    enabled: bool = knob(
        True, "go on in the marketplace if a search finds nothing; without a catalog there is none"
    )
    catalogs: tuple[str, ...] = knob(
        (), "files of plugins: Toolsight's own format, a server.json, or an answer of an MCP registry"
    )
    imported: bool = knob(True, "search the catalogs that `toolsight marketplace import` keeps, too")
    results: int = knob(3, "the most plugins that are suggested", low=1, high=20)
