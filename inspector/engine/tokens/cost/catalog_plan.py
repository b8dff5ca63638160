"""The plan of a future session over an existing catalog."""

from dataclasses import replace

from inspector.domain.settings import BindingPolicy, Settings, ToolDelivery
from inspector.engine.tokens.cost.plan import Assumptions, Overhead, Plan, PlannedTool, usual_plan
from inspector.engine.tokens.cost.setup_change import FirstCall, Setup, first_call
from inspector.engine.tokens.count.measure import BudgetMeter


def catalog_plan(setup: Setup, meter: BudgetMeter, assumptions: Assumptions | None = None) -> Plan:
    """An assumed session over the connected tools, with counted definitions, manifest, summaries and prompt.

    If the settings defer no tool, every tool not named in `always_include` counts as deferred, since the
    comparison is about discovery. Raises ConfigError for an unknown toolset.
    """
    listed = _first_call(setup, meter, policy="bounded", delivery="append")
    if not listed.catalog.deferred_ids:
        discovery = replace(setup.settings.discovery, defer_all=True)
        setup = replace(setup, settings=replace(setup.settings, discovery=discovery))
        listed = _first_call(setup, meter, policy="bounded", delivery="append")
    proxied = _first_call(setup, meter, policy="bounded", delivery="call_tool")
    gated = _first_call(setup, meter, policy="gate", delivery="append")
    parts = listed.budget.parts
    deferred = listed.catalog.deferred_ids
    tools = [PlannedTool(tool.id, meter.tool(tool), tool.id not in deferred) for tool in listed.catalog.tools]
    unlimited = replace(setup, settings=_without_limit(setup.settings))
    in_full = _first_call(unlimited, meter, policy="bounded", delivery="append").budget.parts.manifest
    is_shortened = in_full > parts.manifest
    overhead = Overhead(
        system=parts.system,
        meta=parts.meta,
        manifest=parts.manifest,
        call_tool=proxied.budget.parts.meta - parts.meta,
        pool=gated.budget.parts.pool,
        manifest_limit=parts.manifest if is_shortened else setup.settings.manifest.max_tokens,
        manifest_in_full=in_full if is_shortened else 0,
    )
    return usual_plan(tools, overhead, assumptions)


def _without_limit(settings: Settings) -> Settings:
    return replace(settings, manifest=replace(settings.manifest, max_tokens=0))


def _first_call(
    setup: Setup, meter: BudgetMeter, *, policy: BindingPolicy, delivery: ToolDelivery
) -> FirstCall:
    settings = setup.settings
    return first_call(replace(setup, settings=_discovering(settings, policy, delivery)), meter)


def _discovering(settings: Settings, policy: BindingPolicy, delivery: ToolDelivery) -> Settings:
    return replace(
        settings,
        discovery=replace(settings.discovery, enabled=True, auto="always", search_tool=True),
        binding=replace(settings.binding, policy=policy, delivery=delivery),
        gate=replace(settings.gate, summaries=True),
    )
