"""What another choice would make of the first model call."""

from collections.abc import Mapping
from typing import Any

from hypothesis import given, strategies as st
from msgspec.structs import replace

from inspector.config.configuration import Configuration
from inspector.config.setting import with_values
from inspector.core.access import ServerRule, Toolset
from inspector.core.server import ServerSpec
from inspector.core.session import Binding
from inspector.core.settings import DiscoverySettings, Settings
from inspector.core.tool import Tool
from inspector.session.setup import Setup, SetupChange, Steps, change_effect, exemptions, first_call, steps
from inspector.tokens.measure import BudgetMeter
from tests.support.fakes import CharacterCounter
from tests.support.workbench import connected

WINDOW = 100_000
TOOLS = tuple(
    Tool(server, f"tool_{number}", f"Tool number {number} of the server {server}.")
    for server, count in (("shop", 3), ("mail", 2), ("calc", 1))
    for number in range(count)
)


def meter(window: int = WINDOW) -> BudgetMeter:
    return BudgetMeter(CharacterCounter(), lambda: window)


def setup(values: Mapping[str, Any] | None = None, **toolsets: Toolset) -> Setup:
    """All servers deferred but calc."""
    specs = tuple(ServerSpec(name, name, defer_loading=name != "calc") for name in ("shop", "mail", "calc"))
    return Setup(
        TOOLS,
        Configuration("test.json", specs, toolsets),
        with_values(Settings(DiscoverySettings(auto="always")), values or {}),
    )


def test_a_pin_goes_where_the_toolset_names_its_own() -> None:
    own = Toolset(
        "own", servers={"shop": ServerRule(), "mail": ServerRule()}, always_include=("shop:tool_0",)
    )
    found = change_effect(
        replace(setup(own=own), toolset="own"), SetupChange().with_pin("mail:tool_0"), meter()
    )
    assert found.then.pinned == ("shop:tool_0", "mail:tool_0")
    assert found.then.binding("mail:tool_0") is Binding.PINNED
    assert found.then.binding("calc:tool_0") is None


def test_with_the_gate_the_summaries_are_counted_and_tools_are_still_to_come() -> None:
    parts = first_call(setup({"binding.policy": "gate", "binding.delivery": "append"}), meter()).budget.parts
    assert parts.pool > 0
    assert parts.meta == parts.manifest == 0
    proxy = first_call(setup({"binding.policy": "gate", "binding.delivery": "text"}), meter()).budget.parts
    assert proxy.tools == parts.tools
    assert proxy.meta > 0


async def test_the_first_call_is_the_one_that_a_session_measures() -> None:
    async with connected() as rig:
        bench = rig.bench
        specs = bench.configuration
        tools = tuple(tool for server in rig.servers.values() for tool in server.tools)
        found = first_call(Setup(tools, specs, bench.settings), meter(1000))
        assert bench.state.budget is not None
        assert found.budget.parts == bench.state.budget.parts
        assert found.budget.static_tools == bench.state.budget.static_tools


@given(
    st.sets(st.sampled_from(["shop", "mail", "calc"])), st.sets(st.sampled_from([tool.id for tool in TOOLS]))
)
def test_what_is_saved_adds_up_for_any_change(servers: set[str], pins: set[str]) -> None:
    found = change_effect(setup(), SetupChange(frozenset(servers), frozenset(pins)), meter())
    for call in (found.now, found.then):
        assert call.budget.saved == call.budget.static_tools - call.tokens
    assert all(found.then.binding(tool_id) is Binding.PINNED for tool_id in pins)
    assert found.then.budget.static_tools == found.now.budget.static_tools


def applied(start: Setup, change: SetupChange) -> Steps:
    return steps(start, change, change_effect(start, change, meter()))


def test_a_pin_in_a_toolset_with_pins_of_its_own_is_a_line_for_the_file() -> None:
    own = Toolset("own", servers={"shop": ServerRule()}, always_include=())
    start = replace(setup(own=own), toolset="own")
    assert applied(start, SetupChange().with_pin("shop:tool_0")) == Steps(
        {}, ('in the toolset own: "always_include": ["shop:tool_0"]',)
    )


@given(
    st.sets(st.sampled_from(["shop", "mail", "calc"])),
    st.sets(st.sampled_from([tool.id for tool in TOOLS])),
    st.sampled_from(["bounded", "keep", "all"]),
)
def test_what_is_set_has_the_effect_that_was_shown(servers: set[str], pins: set[str], policy: str) -> None:
    start, change = setup({"binding.policy": policy}), SetupChange(frozenset(servers), frozenset(pins))
    found = change_effect(start, change, meter())
    todo = steps(start, change, found)
    if not todo.by_hand:
        made = first_call(replace(start, settings=with_values(start.settings, todo.knobs)), meter())
        assert made.budget.parts.tools == found.then.budget.parts.tools
        assert made.catalog.deferred_ids == found.then.catalog.deferred_ids


def test_why_a_tool_is_always_bound_or_may_repeat_is_said_by_setting_and_pattern() -> None:
    values = {"binding.always_include": ("shop:*",), "guard.exempt": ("calc:*", "*:tool_0")}
    assert exemptions(setup(values), "shop:tool_0") == {
        "binding.always_include": "shop:*",
        "guard.exempt": "*:tool_0",
    }
    assert exemptions(setup(values), "mail:tool_1") == {}
    own = replace(
        setup(values, own=Toolset("own", "", {"shop": ServerRule()}, always_include=("*:tool_1",))),
        toolset="own",
    )
    assert exemptions(own, "shop:tool_1") == {"tool_sets.own.always_include": "*:tool_1"}
