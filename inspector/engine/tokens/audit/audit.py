"""Audits a client's configuration."""

from dataclasses import replace

from inspector.engine.tokens.audit.cost import Pricing, server_costs, share, tool_tokens
from inspector.engine.tokens.audit.result import ConfigurationAudit, Subject
from inspector.engine.tokens.audit.suggestion import suggestions
from inspector.engine.tokens.count.measure import BudgetMeter


def audit(subject: Subject, meter: BudgetMeter, pricing: Pricing) -> ConfigurationAudit:
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
