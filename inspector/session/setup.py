"""What the first model call would cost under other choices, before making them."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from glob import escape
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from inspector.config.configuration import Configuration
from inspector.core.access import matching
from inspector.core.budget import Budget
from inspector.core.events import Record
from inspector.core.fold import fold
from inspector.core.message import ModelRequest
from inspector.core.session import Binding
from inspector.core.settings import BindingPolicy, Settings, ToolDelivery
from inspector.core.tool import Catalog, Tool
from inspector.loop.catalog import build_catalog
from inspector.schema.json_value import compact
from inspector.tokens.declaration import declaration
from inspector.tokens.delivery import DefinitionLoader, effective_delivery, system_text, tools_array
from inspector.tokens.measure import BudgetMeter
from inspector.tokens.plan import Assumptions, Overhead, Plan, PlannedTool, usual_plan


class Setup(Struct, frozen=True):
    """Everything that determines the first model call, except the tokenizer.

    `connected` holds the tools before the toolset filter.
    """

    connected: tuple[Tool, ...]
    configuration: Configuration
    settings: Settings
    toolset: str = ""
    summaries: Mapping[str, str] = field(default_factory=dict)
    instructions: Mapping[str, str] = field(default_factory=dict)


class SetupChange(Struct, frozen=True):
    """The changed choices; an empty change is the session as it is.

    `servers` are deferred instead of bound, or the reverse; `pins` holds the ids of tools to pin or unpin.
    """

    servers: frozenset[str] = frozenset()
    pins: frozenset[str] = frozenset()

    def with_server(self, name: str) -> "SetupChange":
        """The change with one more server deferred or bound."""
        return replace(self, servers=self.servers ^ {name})

    def with_pin(self, tool_id: str) -> "SetupChange":
        """The change with one more tool pinned or unpinned."""
        return replace(self, pins=self.pins ^ {tool_id})


class FirstCall(Struct, frozen=True):
    """The first model call, before any user message: its budget, its catalog, and why.

    `pinned` holds the patterns of pinned tools. With the gate there are no `tools` yet: it selects them by
    the user's message.
    """

    budget: Budget
    catalog: Catalog
    pinned: tuple[str, ...]
    decision: str = ""

    @property
    def tokens(self) -> int:
        """The tool tokens of the call."""
        return self.budget.parts.tool_tokens

    @property
    def share(self) -> float:
        """The tool tokens as a share of the window."""
        return self.tokens / self.budget.window if self.budget.window > 0 else 0.0

    def binding(self, tool_id: str) -> Binding | None:
        """A tool's initial binding; None if the toolset hides it."""
        if self.catalog.get(tool_id) is None:
            return None
        return Binding.DEFERRED if tool_id in self.catalog.deferred_ids else Binding.PINNED


class ChangeEffect(Struct, frozen=True):
    """The first model call before and after a change."""

    change: SetupChange
    now: FirstCall
    then: FirstCall


def change_effect(setup: Setup, change: SetupChange, meter: BudgetMeter) -> ChangeEffect:
    """The effect of a change."""
    now = first_call(setup, meter)
    return ChangeEffect(change, now, first_call(changed(setup, change, now), meter))


def first_call(setup: Setup, meter: BudgetMeter) -> FirstCall:
    """Build the catalog and the request as a session would, and count them. Raises ConfigError."""
    settings = setup.settings
    built = build_catalog(
        setup.connected,
        setup.configuration,
        settings,
        toolset=setup.toolset,
        summaries=setup.summaries,
        instructions=setup.instructions,
        meter=meter,
    )
    catalog, event = built.catalog, built.event
    state = fold([Record("", 1, 0.0, event)])
    loader = DefinitionLoader(catalog, meter.features.dialect)
    request = ModelRequest(
        system=system_text(settings.chat.system_prompt, state),
        messages=(),
        tools=tools_array(catalog, state, effective_delivery(settings.binding, meter.features), loader),
        max_output=settings.budget.output_reserve,
    )
    budget = meter.measure(
        request,
        event.static_tokens,
        pool=event.pool,
        manifest=event.manifest,
        instructions=event.instructions,
    )
    return FirstCall(budget, catalog, pinned_patterns(setup), event.decision)


def changed(setup: Setup, change: SetupChange, now: FirstCall) -> Setup:
    """The setup after a change; `now` says which servers are deferred before it.

    If the policy binds every tool, deferring a server turns on discovery for that server.
    """
    settings, configuration = setup.settings, setup.configuration
    if change.servers:
        waiting = waiting_servers(setup, now) ^ change.servers
        specs = (replace(spec, defer_loading=spec.name in waiting) for spec in configuration.servers)
        configuration = replace(configuration, servers=tuple(specs))
        discovery = replace(settings.discovery, enabled=True, defer_all=False, auto="always")
        policy = "bounded" if settings.binding.policy == "all" else settings.binding.policy
        settings = replace(settings, discovery=discovery, binding=replace(settings.binding, policy=policy))
    moved = replace(setup, settings=settings, configuration=configuration)
    return with_pins(moved, change.pins) if change.pins else moved


def waiting_servers(setup: Setup, now: FirstCall) -> frozenset[str]:
    """The servers whose tools are deferred, apart from pinned ones."""
    if not now.catalog.deferred_ids:
        return frozenset()
    return setup.configuration.deferred_servers(setup.settings.discovery)


def pinned_patterns(setup: Setup) -> tuple[str, ...]:
    """The patterns of pinned tools, from the toolset or else from the setting."""
    chosen = setup.configuration.toolset(setup.toolset)
    own = chosen.always_include if chosen is not None else None
    return setup.settings.binding.always_include if own is None else own


def exemptions(setup: Setup, tool_id: str) -> dict[str, str]:
    """Why a tool is always bound, and why it may repeat calls: by setting, the pattern that matches it."""
    chosen = setup.configuration.toolset(setup.toolset)
    own = chosen is not None and chosen.always_include is not None
    pinned = f"tool_sets.{setup.toolset}.always_include" if own else "binding.always_include"
    found = {
        pinned: matching(tool_id, pinned_patterns(setup)),
        "guard.exempt": matching(tool_id, setup.settings.guard.exempt),
    }
    return {path: pattern for path, pattern in found.items() if pattern}


def with_pins(setup: Setup, pins: frozenset[str]) -> Setup:
    """The setup with tools pinned or unpinned, in the toolset if it names its own, else in the setting."""
    patterns = toggled(pinned_patterns(setup), pins)
    chosen = setup.configuration.toolset(setup.toolset)
    if chosen is not None and chosen.always_include is not None:
        toolsets = {**setup.configuration.toolsets, setup.toolset: replace(chosen, always_include=patterns)}
        return replace(setup, configuration=replace(setup.configuration, toolsets=toolsets))
    binding = replace(setup.settings.binding, always_include=patterns)
    return replace(setup, settings=replace(setup.settings, binding=binding))


def toggled(patterns: Sequence[str], pins: frozenset[str]) -> tuple[str, ...]:
    """The patterns with these ids added, or removed if they are listed exactly."""
    own = {tool_id: (tool_id, escape(tool_id)) for tool_id in sorted(pins)}
    dropped = {name for names in own.values() for name in names if name in patterns}
    added = (names[1] for names in own.values() if not any(name in patterns for name in names))
    return (*(pattern for pattern in patterns if pattern not in dropped), *added)


class Steps(Struct, frozen=True):
    """How to make a change in the session: settings by path, and lines that only the file can hold."""

    knobs: Mapping[str, Any]
    by_hand: tuple[str, ...]


def steps(setup: Setup, change: SetupChange, effect: ChangeEffect) -> Steps:
    """How to make a change."""
    knobs: dict[str, Any] = {}
    by_hand: list[str] = []
    if change.servers:
        waiting = waiting_servers(setup, effect.now) ^ change.servers
        knobs = _deferral(setup, waiting)
        if not knobs:
            by_hand = [
                f'for the server {name}: "defer_loading": {compact(name in waiting)}'
                for name in sorted(change.servers)
            ]
    if change.pins:
        chosen = setup.configuration.toolset(setup.toolset)
        if chosen is not None and chosen.always_include is not None:
            by_hand.append(
                f'in the toolset {setup.toolset}: "always_include": {compact(list(effect.then.pinned))}'
            )
        else:
            knobs["binding.always_include"] = effect.then.pinned
    return Steps(knobs, tuple(by_hand))


def _deferral(setup: Setup, waiting: frozenset[str]) -> dict[str, Any]:
    """The settings that defer all servers or none; empty if only some are, which no setting can express."""
    if not waiting:
        return {"discovery.enabled": False}
    if waiting < {spec.name for spec in setup.configuration.servers}:
        return {}
    knobs = {"discovery.enabled": True, "discovery.defer_all": True, "discovery.auto": "always"}
    return {**knobs, "binding.policy": "bounded"} if setup.settings.binding.policy == "all" else knobs


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
    coded = _first_call(setup, meter, policy="bounded", delivery="code")
    gated = _first_call(setup, meter, policy="gate", delivery="append")
    settings = setup.settings
    unlimited = replace(setup, settings=replace(settings, manifest=replace(settings.manifest, max_tokens=0)))
    in_full = _first_call(unlimited, meter, policy="bounded", delivery="append").budget.parts.manifest
    is_shortened = in_full > parts.manifest
    return Overhead(
        system=parts.prompt,
        meta=parts.meta,
        manifest=parts.manifest,
        call_tool=proxied.budget.parts.meta - parts.meta,
        pool=gated.budget.parts.pool,
        manifest_limit=parts.manifest if is_shortened else setup.settings.manifest.max_tokens,
        manifest_in_full=in_full if is_shortened else 0,
        run_script=coded.budget.parts.meta - parts.meta,
        declared=_declared(listed.catalog.tools, meter),
    )


def _declared(tools: Sequence[Tool], meter: BudgetMeter) -> float:
    """The tokens of declarations as a share of those of definitions, in up to 200 tools evenly spread."""
    some = tools[:: max(1, len(tools) // 100)]
    sizes = sum(map(meter.tool, some))
    return sum(meter.text(declaration(tool)) for tool in some) / sizes if sizes else 1.0


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
    )
