"""A catalog: what waits, what is bound, and when discovery is worth it."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, strategies as st

from inspector.config.configuration import Configuration
from inspector.config.profile import PROFILES, profile_settings
from inspector.config.setting import with_values
from inspector.core.access import ServerRule, Toolset, matches
from inspector.core.server import ServerSpec
from inspector.core.settings import DiscoverySettings, Settings, Size
from inspector.core.tool import Tool
from inspector.loop.catalog import BuiltCatalog, build_catalog, decide
from tests.support.fakes import character_meter

TOOLS = (
    Tool("shop", "list_orders", "List orders by status."),
    Tool("shop", "refund_order", "Refund an order."),
    Tool("weather", "get_forecast", "Forecast for a city."),
    Tool("calc", "evaluate", "Evaluate an expression."),
)
SHOP_ONLY = {"shop": ServerRule(exclude=frozenset({"refund_order"})), "calc": ServerRule()}
CONFIGURATION = Configuration(
    "test",
    (
        ServerSpec("shop", "x", defer_loading=True, tags=("money",)),
        ServerSpec("weather", "x", defer_loading=True),
        ServerSpec("calc", "x"),
    ),
    {
        "few": Toolset("few", "", SHOP_ONLY),
        "own": Toolset("own", "", SHOP_ONLY, always_include=("*:list_*",)),
        "none": Toolset("none", "", SHOP_ONLY, always_include=()),
        "sums": Toolset("sums", "", {"calc": ServerRule()}),
        "nothing": Toolset("nothing"),
    },
)
METER = character_meter()
WAITING = ["shop:list_orders", "shop:refund_order", "weather:get_forecast"]


def built(toolset: str = "", tools: Sequence[Tool] = TOOLS, **values: Any) -> BuiltCatalog:
    chosen = {path.replace("__", "."): value for path, value in values.items()}
    settings = with_values(Settings(DiscoverySettings(auto="always")), chosen)
    return build_catalog(
        tools,
        CONFIGURATION,
        settings,
        toolset=toolset,
        summaries={"shop": "Orders."},
        instructions={"shop": "Ask before a refund.", "weather": "Cities only."},
        meter=METER,
    )


def deferred(catalog: BuiltCatalog) -> list[str]:
    return [tool.id for tool in catalog.catalog.deferred]


def test_the_tools_of_deferring_servers_wait_and_the_others_are_pinned() -> None:
    catalog = built()
    assert deferred(catalog) == WAITING
    assert [(entry.id, entry.deferred) for entry in catalog.event.entries] == [
        *((tool_id, True) for tool_id in WAITING),
        ("calc:evaluate", False),
    ]


def test_a_tool_that_is_always_included_does_not_wait() -> None:
    assert deferred(built(binding__always_include=("shop:*", "*:get_?orecast"))) == []
    assert deferred(built(binding__always_include=("*:refund_order",))) == [WAITING[0], WAITING[2]]


@pytest.mark.parametrize(("toolset", "waiting"), [("few", []), ("own", []), ("none", ["shop:list_orders"])])
def test_a_toolsets_own_always_included_tools_replace_the_settings(toolset: str, waiting: list[str]) -> None:
    catalog = built(toolset, binding__always_include=("shop:list_orders",))
    assert deferred(catalog) == waiting
    assert deferred(built("own", binding__always_include=("calc:*",))) == []


@pytest.mark.parametrize("toolset", ["sums", "nothing"])
@pytest.mark.parametrize("delivery", ["append", "call_tool", "code"])
def test_where_nothing_waits_there_is_no_meta_tool(toolset: str, delivery: str) -> None:
    event = built(toolset, binding__delivery=delivery).event
    assert (event.manifest, event.meta_tokens, event.advisory) == ("", 0, False)


@pytest.mark.parametrize(
    "values", [{"discovery__enabled": False}, {"binding__policy": "all", "discovery__search_tool": False}]
)
def test_without_a_search_nothing_advises(values: dict[str, Any]) -> None:
    event = built(**values).event
    assert not any(entry.deferred for entry in event.entries)
    assert (event.manifest, event.meta_tokens, event.advisory) == ("", 0, False)


def test_the_gate_has_summaries_instead_of_a_manifest() -> None:
    event = built("few", binding__policy="gate").event
    assert (event.manifest, event.meta_tokens) == ("", 0)
    assert "shop:list_orders: List orders by status." in event.pool
    assert "refund_order" not in event.pool
    assert event.pool_tokens == len(event.pool)


@given(
    st.sampled_from(list(PROFILES)),
    st.sampled_from(["", *CONFIGURATION.toolsets]),
    st.booleans(),
    st.lists(st.sampled_from(["shop:*", "*:get_*", "*", "[", "nothing"]), max_size=2),
)
def test_in_every_profile_a_catalog_holds_what_is_permitted_and_tells_no_more(
    profile: str, toolset: str, defer_all: bool, pinned: list[str]
) -> None:
    values = {"discovery.defer_all": defer_all, "binding.always_include": pinned}
    settings = profile_settings(profile, values=values)
    catalog = build_catalog(TOOLS, CONFIGURATION, settings, toolset=toolset, summaries={}, meter=METER)
    chosen = CONFIGURATION.toolset(toolset)
    permitted = [tool for tool in TOOLS if chosen is None or chosen.permits(tool)]
    event, told = catalog.event, catalog.event.manifest + catalog.event.pool
    assert list(catalog.catalog.tools) == permitted
    assert [entry.id for entry in event.entries] == [tool.id for tool in permitted]
    assert event.hidden == len(TOOLS) - len(permitted)
    assert not any(tool.name in told for tool in TOOLS if tool.id not in deferred(catalog))
    own = chosen.always_include if chosen else None
    assert not any(matches(tool_id, pinned if own is None else own) for tool_id in deferred(catalog))
    assert not (told and not deferred(catalog))
    assert (event.meta_tokens > 0) == (bool(event.manifest) or event.advisory)


ALL_INSTRUCTIONS = (
    "Instructions of server shop:\nAsk before a refund.\n\nInstructions of server weather:\nCities only."
)


def test_with_deferred_tools_the_model_gets_server_instructions_only_if_a_setting_says_so() -> None:
    assert built().event.instructions == ""
    assert built(chat__server_instructions=True).event.instructions == ALL_INSTRUCTIONS


def test_the_model_is_offered_tags_and_a_limit_only_where_a_setting_says_so() -> None:
    assert (built().event.offer.domains, built().event.offer.limit) == ((), 0)
    offer = built(discovery__offers=("domains", "limit")).event.offer
    assert (offer.domains, offer.limit) == (("money",), 10)


@pytest.mark.parametrize(
    ("rule", "below", "from_here"),
    [
        ("tools", (19, 10**6), (20, 1)),
        ("tokens", (10**4, 2_299), (1, 2_300)),
        ("window", (99, 2_999), (1, 3_000)),
    ],
)
def test_a_small_catalog_is_bound_whole(
    rule: Size, below: tuple[int, int], from_here: tuple[int, int]
) -> None:
    settings = DiscoverySettings(auto=rule)
    assert not decide(settings, *below, 100_000).is_on
    assert decide(settings, *from_here, 100_000).is_on


@pytest.mark.parametrize(
    ("tool_id", "keeps"),
    [
        ("memory:read_graph", True),
        ("docs:search_knowledge_base", True),
        ("agent:update_plan", True),
        ("travel:find_plane", False),
    ],
)
def test_the_bounded_profile_keeps_tools_for_memory_knowledge_and_planning(tool_id: str, keeps: bool) -> None:
    settings = profile_settings("kaman")
    assert matches(tool_id, settings.guard.exempt) is keeps
    assert matches(tool_id, settings.binding.always_include) is keeps
    assert not matches(tool_id, profile_settings("toolsight").binding.always_include)
