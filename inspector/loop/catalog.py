"""Builds the catalog of the connected tools: is discovery on, toolset, deferral, then the manifest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from inspector.config.configuration import Configuration
from inspector.core.access import matches, permitted
from inspector.core.events import CatalogBuilt, CatalogEntry
from inspector.core.number import count, percent
from inspector.core.ranking import SearchOffer
from inspector.core.settings import DiscoverySettings, Settings
from inspector.core.tool import Catalog, Tool, summary_pool
from inspector.search.ranker_list import matching
from inspector.search.vocabulary import Tags
from inspector.tokens.manifest import Manifest, entries, fitted_manifest, search_tools_definition
from inspector.tokens.measure import BudgetMeter

# Below some size discovery costs more than it saves: the `search_tools` definition, its manifest and every
# search take tokens, and each search takes another model call. The limit is a setting: a number of tools (the
# layered stack bypasses its layers below 20), of tokens, or a share of the window.


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether discovery is on; `text` gives the rule and its numbers."""

    is_on: bool
    text: str


def decide(settings: DiscoverySettings, tools: int, tokens: int, window: int) -> Decision:
    """Decide for a catalog of `tools` tools whose definitions take `tokens` tokens as one array."""
    if not settings.enabled:
        return Decision(False, "off: discovery.enabled is off")
    if settings.auto == "tools":
        inputs = f"{count(tools, 'tool')}, discovery starts at {settings.auto_tools}"
        return _decision(tools >= settings.auto_tools, inputs)
    if settings.auto == "tokens":
        inputs = f"{count(tokens, 'definition token')}, discovery starts at {settings.auto_tokens:,}"
        return _decision(tokens >= settings.auto_tokens, inputs)
    if settings.auto == "window":
        share = tokens / window if window > 0 else 1.0
        inputs = f"{percent(share, 1)} of the window, discovery starts at {percent(settings.auto_share, 1)}"
        return _decision(share >= settings.auto_share, inputs)
    return Decision(True, "on: always")


def _decision(is_on: bool, inputs: str) -> Decision:
    return Decision(is_on, f"{'on' if is_on else 'off'}: {inputs}")


@dataclass(frozen=True, slots=True)
class BuiltCatalog:
    """A catalog and the event that announces it."""

    catalog: Catalog
    event: CatalogBuilt


def build_catalog(
    connected: Sequence[Tool],
    configuration: Configuration,
    settings: Settings,
    *,
    toolset: str,
    summaries: Mapping[str, str],
    meter: BudgetMeter,
    instructions: Mapping[str, str] | None = None,
    held: tuple[str, ...] = (),
) -> BuiltCatalog:
    """Apply PRD section 2.6 in order. `toolset` is a toolset's name, or "" for all tools.

    `held` are the tools that are kept for servers that are away.
    """
    tools = permitted(connected, configuration.toolset(toolset))
    static_tokens = meter.static(tools)
    decision = decide(settings.discovery, len(tools), static_tokens, meter.window)
    catalog = _partitioned(tools, configuration, settings, toolset, decision)
    gated = settings.binding.policy == "gate"
    manifest = Manifest("", 0, ())
    if catalog.deferred and settings.discovery.search_tool and not gated:
        manifest = fitted_manifest(entries(catalog.deferred, summaries), settings.manifest, meter.text)
    pool = ""
    if gated and settings.gate.summaries:
        pool = summary_pool(catalog.deferred, settings.gate.summary_tokens, meter.text)
    offer = _offer(tools, configuration, settings)
    meta = []
    if manifest.text or catalog.advises:
        meta = [search_tools_definition(manifest.text, offer, advisory=catalog.advises)]
    event = CatalogBuilt(
        instructions=_instructions(instructions or {}, catalog, settings),
        toolset=toolset,
        entries=tuple(CatalogEntry(t.id, meter.tool(t), t.id in catalog.deferred_ids) for t in tools),
        manifest=manifest.text,
        meta_tokens=sum(meter.entries(meta)),
        static_tokens=static_tokens,
        hidden=len(connected) - len(tools),
        pool=pool,
        pool_tokens=meter.text(pool) if pool else 0,
        advisory=catalog.advises,
        rules=manifest.rules,
        decision=decision.text,
        held=held,
        offer=offer,
    )
    return BuiltCatalog(catalog, event)


def instructions_text(instructions: Mapping[str, str]) -> str:
    """The instructions of each server under its name; "" if there are none."""
    parts = [f"Instructions of server {server}:\n{text}" for server, text in instructions.items() if text]
    return "\n\n".join(parts)


def _instructions(instructions: Mapping[str, str], catalog: Catalog, settings: Settings) -> str:
    """What servers say about their use, for the system prompt.

    With nothing to search for there is no manifest to carry its first sentences, so all of it goes along.
    """
    if catalog.deferred and not settings.chat.server_instructions:
        return ""
    servers = {tool.server for tool in catalog.tools}
    return instructions_text({name: text for name, text in instructions.items() if name in servers})


def _offer(tools: Sequence[Tool], configuration: Configuration, settings: Settings) -> SearchOffer:
    """What `search_tools` says of itself; tags are those of permitted tools."""
    discovery = settings.discovery
    tags = Tags({spec.name: spec.tags for spec in configuration.servers}, discovery.tags)
    return SearchOffer(
        matching(discovery.ranker, has_vectors=discovery.embedding_model != "none"),
        tags.offered(tools) if discovery.offer_domains else (),
        max(discovery.max_limit, discovery.max_search_results) if discovery.offer_limit else 0,
        similarity=discovery.offer_similarity,
        server_query=discovery.offer_server_query,
    )


def _partitioned(
    tools: tuple[Tool, ...],
    configuration: Configuration,
    settings: Settings,
    toolset: str,
    decision: Decision,
) -> Catalog:
    """Split the permitted tools into pinned and deferred. A toolset can override `always_include`."""
    discovery, policy = settings.discovery, settings.binding.policy
    if not decision.is_on or policy == "all":
        return Catalog(tools, advises=bool(tools) and decision.is_on and discovery.search_tool)
    chosen = configuration.toolset(toolset)
    own = chosen.always_include if chosen is not None else None
    pinned = settings.binding.always_include if own is None else own
    waiting = configuration.deferred_servers(discovery)
    deferred = (tool.id for tool in tools if tool.server in waiting and not matches(tool.id, pinned))
    return Catalog(tools, frozenset(deferred))
