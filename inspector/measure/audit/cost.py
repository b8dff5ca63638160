"""Tokens and dollars of a configuration, with every tool bound and with discovery."""

from dataclasses import dataclass, replace

from inspector.core.configuration import Configuration
from inspector.core.price import Prices
from inspector.core.prompt_cache import UNCACHED, CacheTerms
from inspector.core.server import ServerSpec
from inspector.measure.audit.result import ServerAudit, Subject, ToolAudit
from inspector.session.setup.catalog_plan import catalog_planner
from inspector.session.setup.change import Setup, first_call
from inspector.session.setup.priced_session import PricedSession, discovery_delivery, price_session
from inspector.tokens.cost.plan import Assumptions
from inspector.tokens.count.measure import BudgetMeter


@dataclass(frozen=True, slots=True)
class Pricing:
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
        audits.append(ServerAudit(name, reading, costs, tokens, share(tokens, meter)))
    return tuple(audits)


def share(tokens: int, meter: BudgetMeter) -> float:
    """The share of the model's window."""
    return tokens / meter.window if meter.window > 0 else 0.0
