"""The catalog, and which of its tools fit a turn: preconditions, gate (Tool Attention, sections 4 and 5).

    active = the top k of the tools whose score is at least the threshold and whose preconditions hold

Pinned tools are bound whatever they score, and tools that a precondition keeps out are skipped: neither count
among the k.
"""

import inspect
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import lru_cache
from hashlib import blake2b
from statistics import median
from typing import TYPE_CHECKING

from inspector.config.configuration import Configuration
from inspector.config.predicate import BUILT_IN, MAX_LENGTH, Facts, Predicate, parse_predicate
from inspector.core.access import matches, permitted
from inspector.core.error import ConfigError
from inspector.core.events import CatalogBuilt, CatalogEntry, GateApplied, GateScore
from inspector.core.message import AssistantMessage, Message, ToolMessage, UserMessage
from inspector.core.number import count, percent
from inspector.core.ports import Clock, OwnPredicate
from inspector.core.ranking import SearchOffer
from inspector.core.settings import DiscoverySettings, GateSettings, Settings
from inspector.core.stream import LiveSettings
from inspector.core.text import closest
from inspector.core.tool import Catalog, Tool, summary_pool
from inspector.search.ranker_list import matching
from inspector.search.vocabulary import Tags
from inspector.tokens.manifest import Manifest, entries, fitted_manifest, search_tools_definition
from inspector.tokens.measure import BudgetMeter

if TYPE_CHECKING:
    from inspector.search.catalog_rankers import CatalogRankers
    from inspector.search.index import ToolIndex

Table = Mapping[str, tuple[str, ...]]

_MAX_REASON = 120
_parsed = lru_cache(maxsize=1024)(parse_predicate)


@dataclass(frozen=True, slots=True)
class _Rule:
    """A pattern for tool ids and the predicates it requires."""

    matches: Callable[[str], object]
    texts: tuple[str, ...]


class Preconditions:
    """Evaluates the settings' predicates, each once per check; a failing predicate counts as not holding."""

    def __init__(self, live: LiveSettings, own: Mapping[str, OwnPredicate]) -> None:
        self._live = live
        self._predicates: Mapping[str, OwnPredicate] = {**own, **BUILT_IN}
        self._read: tuple[tuple[str, tuple[str, ...]], ...] = ()
        self._rules: tuple[_Rule, ...] = ()

    def unmet(self, tool_id: str, facts: Facts) -> tuple[str, ...]:
        """The texts of the predicates that keep this tool closed, including errors; () if it is open."""
        return self.closed((tool_id,), facts).get(tool_id, ())

    def closed(self, tool_ids: Iterable[str], facts: Facts) -> Mapping[str, tuple[str, ...]]:
        """The closed tools among these, each with the predicates that keep it closed."""
        rules = self._current_rules()
        if not rules:
            return {}
        unique = dict.fromkeys(text for rule in rules for text in rule.texts)
        reasons = {text: reason for text in unique if (reason := self._reason(text, facts))}
        barred = [
            (rule.matches, tuple(reasons[text] for text in rule.texts if text in reasons)) for rule in rules
        ]
        barred = [(matches, texts) for matches, texts in barred if texts]
        if not barred:
            return {}
        by_tool = {
            tool_id: dict.fromkeys(text for matches, texts in barred if matches(tool_id) for text in texts)
            for tool_id in tool_ids
        }
        return {tool_id: tuple(texts) for tool_id, texts in by_tool.items() if texts}

    def check(self) -> None:
        """Raise ConfigError for a predicate that is unreadable, unknown, or has the wrong arguments."""
        for pattern, texts in self._live.settings.access.preconditions.items():
            for text in texts:
                try:
                    self._check(parse_predicate(text))
                except ConfigError as error:
                    place = f"access.preconditions {pattern[:80]!r}"
                    raise ConfigError(f"{place}: {error.message}", hint=error.hint) from error

    def _check(self, predicate: Predicate) -> None:
        function = self._function(predicate)
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError):
            return
        hint = f"Its signature is {predicate.name}({', '.join(list(signature.parameters)[1:])})."
        try:
            signature.bind(Facts(), *predicate.args, **predicate.kwargs)
        except TypeError as error:
            raise ConfigError(
                f"{predicate.text!r:.80} has the wrong arguments: {error}", hint=hint
            ) from error
        given = (*predicate.args, *predicate.kwargs.values())
        if predicate.name in BUILT_IN and not all(isinstance(value, str) for value in given):
            raise ConfigError(f"{predicate.text!r:.80} needs a string", hint=hint)

    def _function(self, predicate: Predicate) -> OwnPredicate:
        if predicate.name in self._predicates:
            return self._predicates[predicate.name]
        near = closest(predicate.name, self._predicates, limit=1)
        known = f"Did you mean `{near[0]}`?" if near else f"Known: {', '.join(self._predicates)}."
        raise ConfigError(f"there is no predicate {predicate.name!r:.80}", hint=known)

    def _current_rules(self) -> tuple[_Rule, ...]:
        read = tuple(self._live.settings.access.preconditions.items())
        if read != self._read:
            self._rules = tuple(_Rule(re.compile(translate(p)).match, texts) for p, texts in read if texts)
            self._read = read
        return self._rules

    def _reason(self, text: str, facts: Facts) -> str:
        """Why the predicate does not hold: its text, with the error if it failed; "" if it holds."""
        try:
            predicate = _parsed(text)
            holds = self._function(predicate)(facts, *predicate.args, **predicate.kwargs)
            if not isinstance(holds, bool):
                raise TypeError(f"it returned {type(holds).__name__}, not True or False")
        except KeyboardInterrupt:
            raise
        # A user's predicate may raise anything, even SystemExit; the session goes on.
        except BaseException as error:
            return f"{text[:MAX_LENGTH]} (failed: {_failure(error)})"
        return "" if holds is not predicate.negated else text


def _failure(error: BaseException) -> str:
    try:
        message = error.message if isinstance(error, ConfigError) else str(error)
    except Exception:
        message = ""
    line = " ".join(f"{type(error).__name__}: {message[: 4 * _MAX_REASON]}".split())
    return line if len(line) <= _MAX_REASON else f"{line[: _MAX_REASON - 1]}…"


# Of what a turn is about, so much text at most.
_SUMMARY, _OBSERVATION = 600, 300
_ROLLING = 4
_HASH_BYTES = 8


class Gate:
    """Scores every tool in an index for a turn."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._latencies: list[float] = []

    def apply(
        self,
        rankers: "CatalogRankers",
        messages: Sequence[Message],
        settings: GateSettings,
        *,
        pinned: Collection[str],
        unmet: Mapping[str, Sequence[str]],
        tokens: Callable[[str], int],
        call: int = 0,
        pool_tokens: int = 0,
    ) -> GateApplied:
        """Select the tools for model call `call`, besides those that are `pinned`.

        `unmet` holds the unmet preconditions by tool; `pool_tokens` is the size of the resident summaries.

        Raises ToolsightError for an unknown ranker, ModelError if embedding fails.
        """
        started = self._clock.monotonic()
        query = gate_query(messages, settings.query)
        # What was used before is no reason to reach the threshold.
        ranker = rankers.plain(settings.ranker)
        ranking = ranker.rank(query)
        if settings.query == "either":
            ranking = ranking.better(ranker.rank(gate_query(messages, "user")))
        tools = rankers.index.tools
        fits = ranking.values >= settings.threshold
        always = [rankers.index.position[tool_id] for tool_id in pinned if tool_id in rankers.index.position]
        fits[always] = False
        passed = [position for position in ranking.order() if fits[position]]
        candidates = [
            GateScore(tools[at].id, float(ranking.values[at]), tuple(unmet.get(tools[at].id, ())))
            for at in passed
        ]
        active = [one.tool for one in candidates if not one.unmet][: settings.top_k]
        elapsed = (self._clock.monotonic() - started) * 1000
        self._latencies.append(elapsed)
        return GateApplied(
            query=query,
            active=tuple(active),
            candidates=tuple(candidates),
            threshold=settings.threshold,
            below=len(tools) - len(always) - len(passed),
            tokens=sum(tokens(tool_id) for tool_id in active),
            milliseconds=elapsed,
            note=ranking.note,
            call=call,
            query_hash=_query_hash(rankers.index, query),
            gated_out=tuple(one.tool for one in candidates if one.unmet),
            pool_tokens=pool_tokens,
            p50_milliseconds=median(self._latencies),
        )


def _query_hash(index: "ToolIndex", query: str) -> str:
    """Identifies the query by its vector or, while there is none, by its text."""
    vector = index.query_vector(query)
    content = vector.tobytes() if vector is not None else query.encode("utf-8", "surrogatepass")
    return blake2b(content, digest_size=_HASH_BYTES).hexdigest()


def gate_query(messages: Sequence[Message], mode: str) -> str:
    """The gate's query: the last user message alone, with earlier messages, or with the last result since.

    With `either`, tools are compared with what this returns and with the message alone.
    """
    requests = [index for index, message in enumerate(messages) if isinstance(message, UserMessage)]
    if not requests:
        return ""
    request, before, since = messages[requests[-1]], messages[: requests[-1]], messages[requests[-1] + 1 :]
    if mode in ("rolling", "either"):
        said = [m.text for m in before if isinstance(m, UserMessage | AssistantMessage) and m.text]
        return f"{request.text} {' '.join(said[-_ROLLING:])[-_SUMMARY:]}".strip()
    if mode == "observation":
        results = [m.text for m in since if isinstance(m, ToolMessage)]
        return f"{request.text} {''.join(results[-1:])[:_OBSERVATION]}".strip()
    return request.text


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
