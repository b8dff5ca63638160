"""Plans of future sessions over an existing catalog, with counted definitions, manifest and prompt."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from inspector.core.settings import BindingPolicy, Settings, ToolDelivery
from inspector.session.setup.change import FirstCall, Setup, first_call
from inspector.tokens.cost.plan import Assumptions, Overhead, Plan, PlannedTool, usual_plan
from inspector.tokens.count.measure import BudgetMeter

Planner = Callable[[Assumptions], Plan]
"""Makes a session's plan under other assumptions."""


def catalog_planner(setup: Setup, meter: BudgetMeter) -> Planner:
    """Plans future sessions over the setup's tools, which are counted once, here.

    If the settings defer no tool, every tool not named in `always_include` counts as deferred, since the
    comparison is about discovery. Raises ConfigError for an unknown toolset.
    """
    listed = _first_call(setup, meter, policy="bounded", delivery="append")
    if not listed.catalog.deferred_ids:
        discovery = replace(setup.settings.discovery, defer_all=True)
        setup = replace(setup, settings=replace(setup.settings, discovery=discovery))
        listed = _first_call(setup, meter, policy="bounded", delivery="append")
    deferred = listed.catalog.deferred_ids
    tools = [PlannedTool(tool.id, meter.tool(tool), tool.id not in deferred) for tool in listed.catalog.tools]
    return partial(usual_plan, tools, _overhead(setup, meter, listed))


def _overhead(setup: Setup, meter: BudgetMeter, listed: FirstCall) -> Overhead:
    """Count what the deliveries add once per request; `listed` is the first call with append."""
    parts = listed.budget.parts
    proxied = _first_call(setup, meter, policy="bounded", delivery="call_tool")
    gated = _first_call(setup, meter, policy="gate", delivery="append")
    unlimited = replace(setup, settings=_without_limit(setup.settings))
    in_full = _first_call(unlimited, meter, policy="bounded", delivery="append").budget.parts.manifest
    is_shortened = in_full > parts.manifest
    return Overhead(
        system=parts.system,
        meta=parts.meta,
        manifest=parts.manifest,
        call_tool=proxied.budget.parts.meta - parts.meta,
        pool=gated.budget.parts.pool,
        manifest_limit=parts.manifest if is_shortened else setup.settings.manifest.max_tokens,
        manifest_in_full=in_full if is_shortened else 0,
    )


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
