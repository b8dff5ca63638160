"""Toolsight's own tools: one registration is enough to be offered, counted, called and shown."""

from collections.abc import Sequence
from typing import Any

import pytest

from inspector.core.conversation import Conversation, ItemKind
from inspector.core.events import CallFinished, CallStarted
from inspector.core.message import ToolCall
from inspector.core.session import SessionState
from inspector.core.settings import BindingSettings, Settings
from inspector.core.tool import Catalog, function_definition
from inspector.tokens.synthetic import SYNTHETIC, Answer, Host, SyntheticTool
from tests.loop.test_chat import Bench
from tests.support.fakes import calls, says

PROXY = Settings(binding=BindingSettings(delivery="call_tool"))


class Clock(SyntheticTool):
    """Says the time to a model."""

    name = "tell_time"

    def definition(self, _catalog: Catalog, _state: SessionState, _delivery: str) -> dict[str, Any] | None:
        return function_definition(self.name, "What time it is.", {"type": "object", "properties": {}})

    def answer(self, calls: Sequence[ToolCall], _beside: Sequence[str], host: Host) -> Sequence[Answer]:
        for call in calls:
            host.session.emit(CallStarted(call.id, self.name, call.arguments))
            host.session.emit(CallFinished(call.id, self.name, ok=True, text="noon"))
        return [Answer("noon") for _ in calls]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    monkeypatch.setitem(SYNTHETIC, Clock.name, tool := Clock())
    return tool


@pytest.mark.parametrize(
    "call",
    [("tell_time", {"zone": "UTC"}), ("call_tool", {"name": "tell_time", "arguments": {"zone": "UTC"}})],
    ids=["called", "called through the proxy"],
)
async def test_a_registered_tool_answers_and_its_call_is_shown(
    clock: Clock, call: tuple[str, dict[str, Any]]
) -> None:
    bench = Bench(calls(call), says("done"), settings=PROXY)
    await bench.say()
    assert bench.tool_messages() == ["noon"]
    assert bench.servers.calls == []
    shown = Conversation()
    for record in bench.store.read("s"):
        shown = shown.after(record)
    item = next(item for item in shown.items if item.kind is ItemKind.CALL)
    assert (item.title, item.text, item.arguments) == (clock.name, "noon", {"zone": "UTC"})


@pytest.mark.usefixtures("clock")
async def test_its_call_beside_a_search_and_a_servers_call_is_answered_in_place() -> None:
    reply = calls(
        ("calc__evaluate", {}),
        ("tell_time", {}),
        ("search_tools", {"tool_names": ["evaluate"]}),
        ("nope", {}),
    )
    bench = Bench(reply, says("done"))
    await bench.say()
    said = bench.tool_messages()
    assert said[1] == "noon"
    assert "calc:evaluate" in said[2]
    assert said[3].startswith("Error: There is no tool 'nope'.")
    assert [call[:2] for call in bench.servers.calls] == [("calc", "evaluate")]
