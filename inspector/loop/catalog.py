"""The catalog of the connected tools, the manifest that advertises it, and how a model hears of changes."""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from inspector.config.configuration import Configuration
from inspector.core.access import EVERYTHING, Audience, Sight, matched
from inspector.core.events import CatalogBuilt, CatalogEntry, CatalogTold
from inspector.core.message import Message, NoteMessage
from inspector.core.number import count, percent
from inspector.core.ranking import SearchOffer
from inspector.core.settings import DiscoverySettings, Settings
from inspector.core.stream import Session
from inspector.core.text import without_breaks
from inspector.core.tool import SUMMARY_TOKENS, Catalog, Tool, summary_pool
from inspector.search.answer.retrieval import Live
from inspector.search.index.vocabulary import Tags
from inspector.search.ranker.ranker_list import matching
from inspector.tokens.delivery import is_steady
from inspector.tokens.manifest import ManifestEntry, entries, fitted_manifest, search_tools_definition
from inspector.tokens.measure import BudgetMeter

# Below some size discovery costs more than it saves: the `search_tools` definition, its manifest and every
# search take tokens, and each search takes another model call. `discovery.auto` says which limit holds.

# The layered stack bypasses its layers below as many tools.
STARTS_AT_TOOLS = 20
# Below as many definition tokens discovery never pays off in the catalogs of docs/papers/profiles.md.
STARTS_AT_TOKENS = 2_300
# About what twenty usual definitions take of a window of 128,000 tokens.
_STARTS_AT_SHARE = 0.03


class Decision(Struct, frozen=True):
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


class BuiltCatalog(Struct, frozen=True):
    """A catalog and the event that announces it.

    `servers` are those that the manifest is made of, `instructions` those that the model gets. With
    `searches` discovery is on, also where no tool is left to search for.
    """

    catalog: Catalog
    event: CatalogBuilt
    servers: tuple[ManifestEntry, ...]
    instructions: Mapping[str, str]
    searches: bool


def build_catalog(
    connected: Sequence[Tool],
    configuration: Configuration,
    settings: Settings,
    *,
    toolset: str,
    sight: Sight = EVERYTHING,
    summaries: Mapping[str, str],
    meter: BudgetMeter,
    instructions: Mapping[str, str] | None = None,
    held: tuple[str, ...] = (),
) -> BuiltCatalog:
    """Apply PRD section 2.6 in order. `toolset` is a toolset's name, or "" for all tools.

    `held` are the tools that are kept for servers that are away.
    """
    audience = Audience(configuration.toolset(toolset), sight)
    permitted = tuple(filter(audience.permits, connected))
    tools = audience.of(permitted)
    counted = meter.each(tools)
    static_tokens = sum(counted)
    decision = decide(settings.discovery, len(tools), static_tokens, meter.window)
    catalog = replace(_partitioned(tools, configuration, settings, toolset, decision), permitted=permitted)
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
        hidden=len(connected) - len(permitted),
        pool=pool,
        pool_tokens=meter.text(pool) if pool else 0,
        advisory=catalog.advises,
        rules=manifest.rules,
        decision=decision.text,
        held=held,
        offer=offer,
    )
    return BuiltCatalog(catalog, event, servers, told, searches)


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


# Providers cache a request from its start, where `search_tools` stands with its manifest: if that is written
# anew, the whole conversation is paid again. So what was sent stays as it was, byte for byte, and a note at
# the end of the conversation says what was added, what changed and whose server is away since. Only a tool
# that is withdrawn, which user or toolset may not have any more, rewrites what was said of it.

_CHANGED = "[Tool servers changed. What search_tools said of these is no longer true; it finds:]"
_GONE = "[Tool servers changed. search_tools finds no tools of these any more:]"
_Servers = Mapping[str, tuple[ManifestEntry | None, str]]
"""What the manifest says of each server, None without deferred tools, and its instructions."""
_NOTHING = (None, "")


class _Sent(Struct, frozen=True):
    """What a request said of the servers, under which settings, toolset and model."""

    event: CatalogBuilt
    servers: _Servers
    terms: tuple[object, ...]


class CatalogNews:
    """Holds what was sent of the catalog, and says at the end of the conversation what is different now."""

    def __init__(self, session: Session, live: Live, count: Callable[[str], int]) -> None:
        self._session = session
        self._live = live
        self._count = count
        self._now: _Sent | None = None
        self._sent: _Sent | None = None
        self._told: list[tuple[NoteMessage, _Servers]] = []
        self._known: dict[str, Tool] = {}
        self._tools: Mapping[str, Tool] = {}
        self._untold: Mapping[str, Tool] = {}
        self.withdrawn: Mapping[str, Tool] = {}
        """The tools that the model has been told of and may not know since the last change, by id."""

    def rebuilt(self, built: BuiltCatalog, offered: Mapping[str, Tool]) -> CatalogBuilt:
        """The catalog as it will be sent: what was said of it before stays, unless other terms hold now.

        They do if a tool was withdrawn. `offered` are the tools of all servers, by id, whoever may know them.
        """
        live = self._live
        audience = live.audience
        self.withdrawn = {
            tool_id: tool
            for tool_id, tool in self._known.items()
            if not audience.admits(offered.get(tool_id, tool))
        }
        self._known = {key: one for key, one in self._known.items() if key not in self.withdrawn}
        self._tools = self._untold = built.catalog.by_id
        listed = {entry.server: entry for entry in built.servers}
        servers = {
            name: (listed.get(name), built.instructions.get(name, ""))
            for name in (*listed, *built.instructions)
        }
        self._now = _Sent(built.event, servers, (live.settings, live.toolset, live.model.name))
        sent = self._sent
        if self.withdrawn or sent is None or not built.searches or not self._stays(sent):
            self._sent, self._told = None, []
            return built.event
        said = sent.event
        return replace(
            built.event,
            manifest=said.manifest,
            rules=said.rules,
            offer=said.offer,
            meta_tokens=said.meta_tokens,
            instructions=said.instructions,
        )

    def _stays(self, sent: _Sent) -> bool:
        binding = self._live.settings.binding
        is_same = self._now is not None and self._now.terms == sent.terms
        return is_same and is_steady(binding, self._live.features) and bool(sent.event.meta_tokens)

    def sent(self) -> None:
        """A request went out: what it said of the catalog stays from now on."""
        self._sent = self._sent or self._now
        self._known |= self._untold
        self._untold = {}

    def notes(self, messages: Sequence[Message]) -> tuple[NoteMessage, ...]:
        """What the next request has to add to the conversation so far; () mostly.

        A note that had to make room for others is told again, as far as it still holds.
        """
        if self._sent is None or self._now is None:
            return ()
        known = dict(self._sent.servers)
        for note, servers in self._told:
            known |= servers if note in messages else {}
        now = self._now.servers
        changed = {
            name: now.get(name, _NOTHING)
            for name in (*known, *now)
            if known.get(name, _NOTHING) != now.get(name, _NOTHING)
        }
        if not changed:
            return ()
        tools = tuple(tool.id for tool in self._tools.values() if tool.server in changed)
        note = NoteMessage(self._text(changed), tools=tools)
        self._told.append((note, changed))
        self._session.emit(CatalogTold(tuple(changed), note.text))
        return (note,)

    def _text(self, changed: _Servers) -> str:
        here = [entry for entry, _ in changed.values() if entry is not None]
        gone = [without_breaks(name) for name, (entry, _) in changed.items() if entry is None]
        manifest = fitted_manifest(here, self._live.settings.manifest, self._count, header=_CHANGED)
        instructions = instructions_text({name: text for name, (_, text) in changed.items()})
        return "\n\n".join(
            filter(None, (manifest.text, f"{_GONE} {', '.join(gone)}" if gone else "", instructions))
        )
