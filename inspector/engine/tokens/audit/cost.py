"""Tokens and money of a configuration, with every tool bound and with discovery."""

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
    """Tool tokens of a first call with some servers deferred: definitions, `search_tools`, manifest."""
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
    """The first model call as the configuration is set up. Raises ConfigError for an unknown toolset."""
    setup = Setup(
        subject.connected, subject.configuration, subject.settings, subject.toolset, subject.summaries
    )
    return first_call(setup, meter).budget


def bill(tokens: int, prices: Prices | None, turns: int = TURNS) -> Bill | None:
    """What so many tokens cost when they are sent in each of so many turns.

    Cached, the first turn writes them and every other one reads them: all come in time, and each request is
    long enough to be cached.
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
    """Every server with what those of its tools cost that the toolset permits."""
    tools = subject.tools
    found = []
    for name, reading in subject.readings.items():
        costs = tuple(ToolAudit(tool.id, meter.cost(tool)) for tool in tools if tool.server == name)
        tokens = sum(one.cost.tokens for one in costs)
        found.append(ServerAudit(name, reading, costs, tokens, share(tokens, meter)))
    return tuple(found)


def share(tokens: int, meter: BudgetMeter) -> float:
    """Of the model's window."""
    return tokens / meter.window if meter.window > 0 else 0.0
