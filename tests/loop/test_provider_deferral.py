"""What Anthropic and OpenAI are sent when they load found definitions themselves."""

import pytest

from inspector.core.error import ModelError
from inspector.core.message import ModelRequest, UserMessage
from tests.loop.test_chat import TOOLS
from tests.support.local_servers import Answer, stub_server
from tests.support.provider import FORECAST, ORDERS, claude, conversation, gpt

# The first of them imports litellm, which takes seconds; test_litellm_openai.py is the quick one of its kind.
pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")


async def test_claude_is_declared_every_deferred_tool_and_sent_references_alone() -> None:
    bench, _, stub = await conversation(claude, "messages", delivery="native")
    for body in stub.received:
        waiting = [tool["name"] for tool in body["tools"] if tool.get("defer_loading")]
        assert waiting == [tool.wire_name for tool in TOOLS[:3]]
        assert [tool["name"] for tool in body["tools"] if not tool.get("defer_loading")] == [
            "search_tools", "calc__evaluate",
        ]  # fmt: skip
        assert not any(tool.get("defer_loading") and "cache_control" in tool for tool in body["tools"])
    first, second = (stub.received[index]["messages"][-1]["content"] for index in (1, 2))
    assert first[0]["content"] == [{"type": "tool_reference", "tool_name": ORDERS}]
    assert [block["type"] for block in second] == ["tool_result", "tool_result", "text"]
    assert second[1]["content"] == [{"type": "tool_reference", "tool_name": FORECAST}]
    assert "no_such_tool" in second[2]["text"]
    assert [event.delivery for event in bench.events("request")] == ["tool_reference"] * len(stub.received)


async def test_gpt_searches_with_its_own_tool_and_gets_definitions_back() -> None:
    bench, _, stub = await conversation(gpt, "responses", delivery="native")
    first, second, third, *_ = stub.received
    assert [tool["type"] for tool in first["tools"]] == ["tool_search", "function"]
    assert first["tools"][0]["execution"] == "client"
    assert [tool.get("strict") for tool in first["tools"]] == [None, False]
    (output,) = (item for item in second["input"] if item.get("type") == "tool_search_output")
    assert [(tool["name"], tool["defer_loading"]) for tool in output["tools"]] == [(ORDERS, True)]
    assert output["call_id"] == "c00"
    told = [item["content"] for item in third["input"] if item.get("role") == "developer"]
    assert len(told) == 1
    assert "no_such_tool" in told[0]
    assert first["store"] is False
    assert [event.delivery for event in bench.events("request")] == ["tool_search"] * len(stub.received)


async def test_a_search_that_openai_refuses_says_why() -> None:
    refusal = {"error": {"message": "slow down", "type": "error", "code": None}}
    with (
        stub_server(Answer(429, (("retry-after", "7"),), refusal)) as stub,
        pytest.raises(ModelError) as caught,
    ):
        [
            _
            async for _ in gpt(stub).stream(
                ModelRequest("", (UserMessage("x"),), (), 9, deferral="tool_search")
            )
        ]
    assert "limiting your request rate (429): try again in 7 s" in caught.value.message
