"""From connected tools to a catalog: the toolset filter first, then deferral, then the manifest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from inspector.domain.catalog import Catalog
from inspector.domain.configuration import Configuration
from inspector.domain.event import CatalogBuilt, CatalogEntry
from inspector.domain.manifest import entries, manifest_text, search_tools_definition
from inspector.domain.tool import Tool, definition
from inspector.domain.toolset import permitted
from inspector.engine.budget.measure import BudgetMeter


@dataclass(frozen=True, slots=True)
class BuiltCatalog:
    """A catalog and the event that announces it."""

    catalog: Catalog
    event: CatalogBuilt


def build_catalog(
    connected: Sequence[Tool],
    configuration: Configuration,
    toolset: str,
    summaries: Mapping[str, str],
    meter: BudgetMeter,
) -> BuiltCatalog:
    """Apply PRD section 2.6 in its order. `toolset` is a name of the configuration, or "" for all tools."""
    tools = permitted(connected, configuration.toolset(toolset))
    deferred = frozenset(tool.server for tool in tools if configuration.is_deferred(tool.server))
    catalog = Catalog(tools, deferred)
    waiting = entries(catalog.deferred, summaries)
    manifest = manifest_text(waiting) if waiting else ""
    event = CatalogBuilt(
        toolset=toolset,
        entries=tuple(CatalogEntry(t.id, meter.tool(t), t.server in deferred) for t in tools),
        manifest=manifest,
        meta_tokens=meter.definitions([search_tools_definition(manifest)]) if manifest else 0,
        static_tokens=meter.definitions([definition(tool) for tool in tools]),
        hidden=len(connected) - len(tools),
    )
    return BuiltCatalog(catalog, event)
