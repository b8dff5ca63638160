"""Audits a client's configuration: what its tools cost, and what would make them cost less."""

from msgspec import Struct
from msgspec.structs import replace

from inspector.clients.schema_step import without_descriptions
from inspector.config.configuration import Configuration
from inspector.core.budget import Prices
from inspector.core.number import count, percent
from inspector.core.prompt_cache import UNCACHED, CacheTerms
from inspector.core.server import ServerSpec
from inspector.core.tool import Tool
from inspector.features.cost.audit.result import (
    ConfigurationAudit,
    ServerAudit,
    Subject,
    Suggestion,
    ToolAudit,
)
from inspector.loop.catalog import STARTS_AT_TOOLS
from inspector.schema.json_value import compact
from inspector.session.setup import Setup, catalog_planner, first_call
from inspector.session.verdict import PricedSession, discovery_delivery, price_session
from inspector.tokens.cost import Delivery
from inspector.tokens.measure import BudgetMeter
from inspector.tokens.plan import Assumptions


class Pricing(Struct, frozen=True):
    """What prices a session: prices, the terms of the prompt cache, assumptions.

    With `judges` a configuration gets its verdict, which takes a second or so.
    """

    prices: Prices | None = None
    terms: CacheTerms = UNCACHED
    assumed: Assumptions = Assumptions()
    judges: bool = False

    def session(self, setup: Setup, meter: BudgetMeter, *, judged: bool = False) -> PricedSession:
        """A session over the setup's tools. Raises ConfigError for an unknown toolset."""
        delivery = discovery_delivery(setup.settings, meter.features)
        return price_session(
            catalog_planner(setup, meter),
            self.assumed,
            self.prices,
            terms=self.terms,
            discovery=delivery,
            ranges=(delivery,) if judged else (),
        )


def deferring(subject: Subject, servers: frozenset[str]) -> Setup:
    """The setup with exactly these servers deferred, whatever the configuration says."""
    specs = tuple(ServerSpec(name, defer_loading=name in servers) for name in subject.readings)
    settings = subject.settings
    discovery = replace(settings.discovery, enabled=True, defer_all=False, auto="always", search_tool=True)
    binding = replace(settings.binding, policy="bounded", always_include=())
    return Setup(
        subject.tools,
        Configuration(subject.configuration.source, specs),
        replace(settings, discovery=discovery, binding=binding),
        summaries=subject.summaries,
    )


def tool_tokens(subject: Subject, meter: BudgetMeter, deferred: frozenset[str]) -> int:
    """Tool tokens of a first model call with the given servers deferred: definitions and `search_tools`."""
    return first_call(deferring(subject, deferred), meter).tokens


def server_costs(subject: Subject, meter: BudgetMeter) -> tuple[ServerAudit, ...]:
    """Every server with the cost of its permitted tools."""
    tools = subject.tools
    audits = []
    for name, reading in subject.readings.items():
        costs = tuple(ToolAudit(tool.id, meter.cost(tool)) for tool in tools if tool.server == name)
        tokens = sum(tool.cost.tokens for tool in costs)
        told = None if reading.instructions is None else meter.text(reading.instructions)
        audits.append(ServerAudit(name, reading, costs, tokens, share(tokens, meter), told))
    return tuple(audits)


def share(tokens: int, meter: BudgetMeter) -> float:
    """The share of the model's window."""
    return tokens / meter.window if meter.window > 0 else 0.0


# Suggests changes to a configuration, each with the tokens it concerns.

KEEP, DEFER, SHORTEN, UNUSED = "keep", "defer", "shorten", "unused"
AT_MOST = 3
_DEAREST = 3


def suggestions(
    subject: Subject, audited: ConfigurationAudit, meter: BudgetMeter, pricing: Pricing
) -> tuple[Suggestion, ...]:
    """At most three suggestions: the best of each kind by tokens, then the next best.

    The first one is to leave a configuration as it is if it has too few tools for discovery, or if a
    session costs no less with any of its servers deferred; then none is to defer a server.
    """
    if not audited.tokens:
        return ()
    tools = subject.tools
    is_small = len(tools) < STARTS_AT_TOOLS
    deferrals = [] if is_small else _deferrals(subject, audited, meter, pricing)
    kinds = [deferrals, _wordy(tools, meter), _unused(subject, tools, meter)]
    ranked = [sorted(kind, key=_rank) for kind in kinds]
    best = sorted((kind[0] for kind in ranked if kind), key=_rank)
    rest = sorted((suggestion for kind in ranked for suggestion in kind[1:]), key=_rank)
    return (*([] if deferrals else [_keep(audited, is_small=is_small)]), *best, *rest)[:AT_MOST]


def _rank(suggestion: Suggestion) -> tuple[int, str, str]:
    return -suggestion.tokens, suggestion.kind, suggestion.text


def _keep(audited: ConfigurationAudit, *, is_small: bool) -> Suggestion:
    tools = count(len(audited.tools), "tool")
    why = (
        "static binding is fine at this size"
        if is_small
        else "deferring a server would not make a session cheaper"
    )
    text = f"Leave it as is: {tools}, {audited.tokens:,} tokens per model call; {why}"
    return Suggestion(KEEP, text, audited.tokens)


def _deferrals(
    subject: Subject, audited: ConfigurationAudit, meter: BudgetMeter, pricing: Pricing
) -> list[Suggestion]:
    """Deferring one server, where a session costs less then, its searches included."""
    found = []
    for server in audited.servers:
        if not server.tools:
            continue
        session = pricing.session(deferring(subject, frozenset({server.name})), meter)
        static, other = session.of(Delivery.STATIC).cached, session.of(session.discovery).cached
        saved = (static.discovery_tokens - other.discovery_tokens) // len(static.requests)
        if saved > 0 and session.saved is not None and session.saved > 0:
            text = (
                f"Defer {server.name}: a session costs {percent(session.saved)} less, searches included, "
                f"and each model call sends {saved:,} fewer tool tokens"
            )
            found.append(Suggestion(DEFER, text, saved))
    return found


def _wordy(tools: tuple[Tool, ...], meter: BudgetMeter) -> list[Suggestion]:
    """Shortening the most expensive tools, by the tokens of their descriptions, also those in the schema."""
    found = []
    for tool in sorted(tools, key=lambda one: (-meter.tool(one), one.id))[:_DEAREST]:
        cost = meter.cost(tool)
        bare = without_descriptions(tool.input_schema)
        inside = max(0, meter.text(compact(tool.input_schema)) - meter.text(compact(bare)))
        words = inside + cost.description
        if words:
            text = (
                f"Shorten {tool.id}: its schema takes {cost.schema:,} of {cost.tokens:,} tokens "
                f"({inside:,} in descriptions), and the tool's description {cost.description:,}"
            )
            found.append(Suggestion(SHORTEN, text, words))
    return found


def _unused(subject: Subject, tools: tuple[Tool, ...], meter: BudgetMeter) -> list[Suggestion]:
    """Excluding tools that no recorded session of this configuration called, if any tool was called."""
    usage = subject.usage
    unused = [tool for tool in tools if not usage.calls.get(tool.id)]
    if len(unused) in (0, len(tools)):
        return []
    saved = sum(map(meter.tool, unused))
    text = (
        f"{len(unused)} of {count(len(tools), 'tool')} were never called in "
        f"{count(usage.sessions, 'recorded session')}: excluding them saves {saved:,} tokens per model call"
    )
    return [Suggestion(UNUSED, text, saved)]


def configuration_audit(subject: Subject, meter: BudgetMeter, pricing: Pricing) -> ConfigurationAudit:
    """Count and price a configuration, and suggest changes. Raises ConfigError for an unknown toolset."""
    tools = subject.tools
    tokens = meter.static(tools)
    counted = ConfigurationAudit(
        client=subject.client,
        scope=subject.scope,
        source=subject.configuration.source,
        servers=server_costs(subject, meter),
        tokens=tokens,
        share=share(tokens, meter),
        discovery=tool_tokens(subject, meter, frozenset(subject.readings)) if tools else 0,
        session=pricing.session(subject.setup, meter, judged=pricing.judges) if tools else None,
    )
    return replace(counted, suggestions=suggestions(subject, counted, meter, pricing))
