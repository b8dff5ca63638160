"""The catalog of the connected tools, and the manifest that advertises it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from inspector.config.configuration import Configuration
from inspector.core.access import matched, permitted
from inspector.core.events import CatalogBuilt, CatalogEntry
from inspector.core.number import count, percent
from inspector.core.ranking import SearchOffer
from inspector.core.settings import DiscoverySettings, Settings
from inspector.core.tool import SUMMARY_TOKENS, Catalog, Tool, summary_pool
from inspector.search.index.vocabulary import Tags
from inspector.search.ranker.ranker_list import matching
from inspector.tokens.manifest import entries, fitted_manifest, search_tools_definition
from inspector.tokens.measure import BudgetMeter

# Below some size discovery costs more than it saves: the `search_tools` definition, its manifest and every
# search take tokens, and each search takes another model call. `discovery.auto` says which limit holds.

# The layered stack bypasses its layers below as many tools.
STARTS_AT_TOOLS = 20
# Below as many definition tokens discovery never pays off in the catalogs of docs/papers/profiles.md.
STARTS_AT_TOKENS = 2_300
# About what twenty usual definitions take of a window of 128,000 tokens.
_STARTS_AT_SHARE = 0.03


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
        inputs = f"{count(tools, 'tool')}, discovery starts at {STARTS_AT_TOOLS}"
        return _decision(tools >= STARTS_AT_TOOLS, inputs)
    if settings.auto == "tokens":
        inputs = f"{count(tokens, 'definition token')}, discovery starts at {STARTS_AT_TOKENS:,}"
        return _decision(tokens >= STARTS_AT_TOKENS, inputs)
    if settings.auto == "window":
        share = tokens / window if window > 0 else 1.0
        inputs = f"{percent(share, 1)} of the window, discovery starts at {percent(_STARTS_AT_SHARE, 1)}"
        return _decision(share >= _STARTS_AT_SHARE, inputs)
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
    counted = meter.each(tools)
    static_tokens = sum(counted)
    decision = decide(settings.discovery, len(tools), static_tokens, meter.window)
    catalog = _partitioned(tools, configuration, settings, toolset, decision)
    gated = settings.binding.policy == "gate"
    searches = decision.is_on and settings.discovery.search_tool and not gated
    servers = entries(catalog.deferred, summaries) if searches else ()
    manifest = fitted_manifest(servers, settings.manifest, meter.text)
    pool = ""
    if gated:
        pool = summary_pool(catalog.deferred, SUMMARY_TOKENS, meter.text)
    offer = _offer(tools, configuration, settings)
    told = _instructions(instructions or {}, catalog, settings)
    meta = []
    if manifest.text or catalog.advises:
        meta = [search_tools_definition(manifest.text, offer, advisory=catalog.advises)]
    event = CatalogBuilt(
        instructions=instructions_text(told),
        toolset=toolset,
        entries=tuple(
            CatalogEntry(tool.id, tokens, tool.id in catalog.deferred_ids)
            for tool, tokens in zip(tools, counted, strict=True)
        ),
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


def _instructions(instructions: Mapping[str, str], catalog: Catalog, settings: Settings) -> Mapping[str, str]:
    """What servers say about their use, for the system prompt.

    With nothing to search for there is no manifest to carry its first sentences, so all of it goes along.
    """
    if catalog.deferred and not settings.chat.server_instructions:
        return {}
    servers = {tool.server for tool in catalog.tools}
    return {name: text for name, text in instructions.items() if name in servers and text}


def _offer(tools: Sequence[Tool], configuration: Configuration, settings: Settings) -> SearchOffer:
    """What `search_tools` says of itself; tags are those of permitted tools."""
    discovery = settings.discovery
    tags = Tags({spec.name: spec.tags for spec in configuration.servers}, discovery.tags)
    return SearchOffer(
        matching(discovery.ranker, has_vectors=discovery.embedding_model != "none"),
        tags.offered(tools) if "domains" in discovery.offers else (),
        max(discovery.max_limit, discovery.max_search_results) if "limit" in discovery.offers else 0,
        similarity="similarity" in discovery.offers,
        server_query="server" in discovery.offers,
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
    waits = [tool.id for tool in tools if tool.server in waiting]
    return Catalog(tools, frozenset(waits).difference(matched(waits, pinned)))
