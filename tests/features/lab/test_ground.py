"""What a race runs on: the session's connected servers, nothing that changes something."""

import pytest
from msgspec.structs import replace

from inspector.core.definition import definition_hash
from inspector.core.error import ConfigError, ConnectError
from inspector.core.events import Decision
from inspector.core.ports import ApprovalRequest
from inspector.core.server import ServerPhase
from inspector.core.session import Binding, ServerState, SessionState, ToolState
from inspector.core.tool import Annotations, Tool
from inspector.features.lab.ground import Ground, ground_of, question, require_tools
from inspector.features.lab.run import ChangingConnector, LabClock, ScenarioRun
from inspector.loop.approval import AllowedBefore
from tests.support.fakes import calls, says
from tests.support.workbench import configured, connected, opened, shop_and_weather

REFUND = Tool("shop", "refund_order", "Refund an order.", annotations=Annotations(read_only=False))


async def test_only_a_definition_that_was_allowed_may_change_something() -> None:
    approver = AllowedBefore(frozenset({definition_hash(REFUND)}))
    changed = replace(REFUND, description="Refund everything.")
    decided = [await approver.ask(ApprovalRequest(tool, {}, "")) for tool in (REFUND, changed)]
    assert decided == [Decision.SESSION, Decision.NO]


@pytest.mark.parametrize("allowed", [False, True])
async def test_a_race_calls_a_tool_that_changes_something_only_if_the_session_allowed_it(
    allowed: bool,
) -> None:
    servers = shop_and_weather()
    refund = servers["shop"].tools[1]
    hashes = frozenset({definition_hash(refund)}) if allowed else frozenset()
    steps = calls(("shop__refund_order", {}), ("shop__list_orders", {})), says("Done.")
    rig = opened(*steps, servers=servers, approver=AllowedBefore(hashes), profile="static")
    async with rig as made:
        made.bench.connect()
        await made.bench.wait_connected()
        connector = ChangingConnector(made.bench.ports.connector)
        result = await ScenarioRun(made.bench, question("Refund it."), LabClock(made.clock), connector).run()
    assert result.totals.steps == (2 if allowed else 1)
    assert made.received == (2 if allowed else 1)


async def test_the_ground_of_a_session_is_its_connected_servers_its_model_and_its_approvals() -> None:
    async with connected() as rig:
        await rig.bench.stop("weather")
        ground = ground_of(rig.bench)
        assert ground.servers == frozenset({"shop", "calc"})
        assert [spec.name for spec in ground.configured("toolsight").servers] == ["shop", "calc"]
        assert (ground.model, ground.allowed) == (rig.bench.state.model, rig.bench.state.approved)


def test_static_binding_stays_static_whatever_the_file_says() -> None:
    values = {"binding.policy": "bounded", "chat.max_steps": 3}
    ground = Ground(replace(configured(["shop"]), values=values), "told")
    assert ground.configured("static").values == {"chat.max_steps": 3}
    assert ground.configured("toolsight").values == values


def test_without_a_server_there_is_nothing_to_race_on() -> None:
    with pytest.raises(ConfigError, match="no server is connected"):
        Ground(configured(["shop"]), "told", servers=frozenset()).configured("static")


def test_servers_that_all_failed_are_an_error_and_one_that_is_up_is_enough() -> None:
    failed = ServerState("shop", ServerPhase.FAILED, reason="gone")
    with pytest.raises(ConnectError, match="shop: gone"):
        require_tools(SessionState(servers={"shop": failed}))
    require_tools(SessionState(servers={"shop": failed}, tools={"a:b": ToolState("a:b", 1, Binding.PINNED)}))
