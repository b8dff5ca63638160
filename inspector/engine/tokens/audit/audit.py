"""Audits a client's configuration."""

from dataclasses import replace

from inspector.domain.price import Prices
from inspector.engine.tokens.audit.cost import bill, server_costs, share, tool_tokens
from inspector.engine.tokens.audit.result import ConfigurationAudit, Subject
from inspector.engine.tokens.audit.suggestion import suggestions
from inspector.engine.tokens.count.measure import BudgetMeter


def audit(subject: Subject, meter: BudgetMeter, prices: Prices | None) -> ConfigurationAudit:
    """Count a configuration and suggest changes. Raises ConfigError for an unknown toolset."""
    tools = subject.tools
    tokens = meter.static(tools)
    discovery = tool_tokens(subject, meter, frozenset(subject.readings)) if tools else 0
    counted = ConfigurationAudit(
        client=subject.client,
        scope=subject.scope,
        source=subject.configuration.source,
        servers=server_costs(subject, meter),
        tokens=tokens,
        share=share(tokens, meter),
        discovery=discovery,
        bill=bill(tokens, prices),
        discovery_bill=bill(discovery, prices),
    )
    return replace(counted, suggestions=suggestions(subject, counted, meter))
