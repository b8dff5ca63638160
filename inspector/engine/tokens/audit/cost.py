"""Tokens and dollars of a configuration, with every tool bound and with discovery."""

from dataclasses import replace

from inspector.domain.budget import Budget
from inspector.domain.configuration import Configuration
from inspector.domain.price import Prices
from inspector.domain.prompt_cache import UNCACHED, Charge
from inspector.domain.server import ServerSpec
from inspector.engine.tokens.audit.result import TURNS, Bill, ServerAudit, Subject, ToolAudit
from inspector.engine.tokens.cost.setup_change import Setup, first_call
from inspector.engine.tokens.count.measure import BudgetMeter


def tool_tokens(subject: Subject, meter: BudgetMeter, deferred: frozenset[str]) -> int:
    """Tool tokens of a first model call with the given servers deferred: definitions and `search_tools`."""
    specs = tuple(ServerSpec(name, defer_loading=name in deferred) for name in subject.readings)
    settings = subject.settings
    discovery = replace(settings.discovery, enabled=True, defer_all=False, auto="always", search_tool=True)
    binding = replace(settings.binding, policy="bounded", always_include=())
    setup = Setup(
        subject.tools,
        Configuration(subject.configuration.source, specs),
        replace(settings, discovery=discovery, binding=binding),
        summaries=subject.summaries,
    )
    return first_call(setup, meter).tokens


def first_call_budget(subject: Subject, meter: BudgetMeter) -> Budget:
    """The budget of the first model call as configured. Raises ConfigError for an unknown toolset."""
    setup = Setup(
        subject.connected, subject.configuration, subject.settings, subject.toolset, subject.summaries
    )
    return first_call(setup, meter).budget


def bill(tokens: int, prices: Prices | None, turns: int = TURNS) -> Bill | None:
    """What it costs to send `tokens` in each of `turns` turns.

    With a cache, the first turn writes them and every later one reads them: all turns come before the cache
    expires, and each request is long enough to be cached.
    """
    if prices is None:
        return None
    terms = prices.terms
    uncached = prices.cost(Charge(plain=tokens), terms) * turns
    if terms == UNCACHED:
        return Bill(uncached)
    first, later = prices.cost(Charge(written=tokens), terms), prices.cost(Charge(read=tokens), terms)
    return Bill(uncached, first + later * (turns - 1) if turns else 0.0)


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
