"""The settings are checked while a session runs, and a restriction that matches nothing refuses."""

from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from inspector.config.configuration import Configuration
from inspector.config.profile import PROFILES, profile_settings
from inspector.config.setting import with_values
from inspector.core.access import ServerRule
from inspector.core.conversation import ItemKind
from inspector.core.error import SettingProblem, Severity
from inspector.core.ranking import IndexState
from inspector.core.server import ServerSpec
from inspector.core.settings import Settings
from inspector.core.tool import Annotations, Tool
from inspector.loop.settings_check import setting_conflicts
from inspector.loop.unmatched_pattern import Checked
from tests.support.fakes import calls, says
from tests.support.workbench import Rig, configured, connected, happens, opened, shop_and_weather

REFUND: tuple[str, Mapping[str, Any]] = ("shop__refund_order", {})
AGREED = ("milestone_reached('agreed')",)
STATIC = "static"


def precondition(pattern: str) -> Mapping[str, Any]:
    return {"access.preconditions": {pattern: AGREED}}


def severities(rig: Rig) -> list[Severity]:
    return [problem.severity for problem in rig.bench.state.problems]


async def test_a_precondition_with_a_typo_lets_no_call_through() -> None:
    async with connected(
        calls(REFUND), says("done"), values=precondition("shop:refnd_order"), profile=STATIC
    ) as rig:
        ended = await rig.bench.chat("refund it")
        assert ended.outcome == "refused"
        assert "Did you mean `shop:refund_order`?" in ended.text
        assert rig.received == 0
        assert rig.model.requests == []
        assert not rig.bench.state.busy


async def test_tools_that_a_client_leaves_out_are_in_no_list_and_still_remembered() -> None:
    servers = shop_and_weather()
    configuration = configured(servers)
    ruled = tuple(
        replace(spec, rule=ServerRule(None, frozenset({"refund_order"}))) for spec in configuration.servers
    )
    async with connected(servers=servers, configuration=replace(configuration, servers=ruled)) as rig:
        assert [tool.id for tool in rig.bench.catalog.tools if tool.server == "shop"] == ["shop:list_orders"]
        servers["shop"].change([Tool("shop", "refund_order", "x")])
        await happens(rig.bench, "tools")
        assert rig.bench.state.servers["shop"].tools == 0
        (shop,) = (spec for spec in ruled if spec.name == "shop")
        stored = rig.memory.snapshot(shop.fingerprint())
        assert stored is not None
        assert [tool.name for tool in stored.tools] == ["refund_order"]


async def test_a_key_that_means_nothing_is_a_problem_of_its_server() -> None:
    servers = shop_and_weather()
    lost = SettingProblem("mcpServers.shop", "", "has the unknown key `environment`", server="shop")
    configuration = replace(configured(servers), problems=(lost,))
    async with connected(servers=servers, configuration=configuration) as rig:
        assert rig.bench.state.problems == (lost,)


async def test_a_corrected_setting_lets_the_session_go_on() -> None:
    async with connected(says("hello"), values=precondition("shop:refnd_order")) as rig:
        assert (await rig.bench.chat("hi")).outcome == "refused"
        rig.bench.change_setting("access.preconditions", {"shop:refund_order": AGREED})
        assert rig.bench.state.problems == ()
        assert (await rig.bench.chat("hi")).outcome == "answered"


async def test_a_tool_that_a_server_renames_during_a_turn_is_not_called_past_its_precondition() -> None:
    async with opened(values=precondition("shop:refund_*"), profile=STATIC) as rig:
        renamed = Tool("shop", "pay_back", "Refund an order.", annotations=Annotations(read_only=False))

        async def rename(_tool: str, _arguments: object) -> Any:
            rig.servers["shop"].change([renamed])
            await happens(rig.bench, "tools")
            return await rig.servers["weather"].answer("", {})

        rig.servers["calc"].answer = rename
        rig.model.steps += [calls(("calc__evaluate", {}), ("shop__pay_back", {})), says("done")]
        rig.bench.connect()
        await rig.bench.wait_connected()
        ended = await rig.bench.chat("pay it back")
        assert rig.servers["shop"].calls == []
        assert [event.reason for event in rig.events("reject")] == ["settings"]
        assert ended.outcome == "refused"
        assert "matches no tool any more: shop:refund_order is gone" in ended.text
        told = [item.title for item in rig.bench.state.conversation.items if item.kind is ItemKind.ERROR]
        assert told[0].endswith("is gone")


async def test_a_turn_waits_for_the_servers_that_a_precondition_may_be_about() -> None:
    servers = shop_and_weather()
    servers["weather"].hangs = True
    configuration = Configuration(
        "test.json", (ServerSpec("shop", "shop"), ServerSpec("weather", "weather", connect_timeout=0.05))
    )
    values = precondition("*:refnd_*")
    async with opened(
        calls(REFUND), servers=servers, configuration=configuration, values=values, profile=STATIC
    ) as rig:
        rig.bench.connect()
        assert severities(rig) == [Severity.PENDING]
        ended = await rig.bench.chat("refund it")
        # The other server failed, so no tool can be meant any more.
        assert ended.outcome == "refused"
        assert rig.received == 0
        assert rig.events("user")[0].text == "refund it"


async def test_what_the_check_finds_is_redacted_and_still_told_once() -> None:
    configuration = Configuration("test.json", (ServerSpec("shop", "shop", env={"TOKEN": "refnd_order"}),))
    values = precondition("shop:refnd_order")
    async with connected(configuration=configuration, values=values) as rig:
        rig.bench.change_setting("binding.capacity", 3)
        (told,) = rig.events("problems")
        assert "refnd_order" not in told.summary()


# Settings that make each other void are told, and no shipped profile has any.

DEFERRED = Configuration("test", (ServerSpec("shop", "x", defer_loading=True),))
NEW = IndexState()


def told(settings: Settings, index: IndexState = NEW) -> list[tuple[str, str]]:
    checked = Checked(DEFERRED, settings, "", {}, index=index)
    found = list(setting_conflicts(checked))
    assert all(problem.severity is Severity.WARNING and problem.hint for problem in found)
    return [(problem.path, problem.entry) for problem in found]


@pytest.mark.parametrize("name", PROFILES)
def test_no_shipped_profile_has_a_conflict(name: str) -> None:
    assert told(profile_settings(name)) == []


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"discovery.search_tool": False}, ("discovery.search_tool", "")),
        ({"discovery.ranker": "dense", "discovery.embedding_model": "none"}, ("discovery.ranker", "dense")),
        (
            {"binding.policy": "gate", "guard.enabled": False, "binding.delivery": "native"},
            ("binding.delivery", "native"),
        ),
        ({"binding.delivery": "native"}, ("binding.delivery", "native")),
    ],
)
def test_settings_that_void_each_other_are_told(values: dict[str, Any], expected: tuple[str, str]) -> None:
    assert told(with_values(Settings(), values)) == [expected]
