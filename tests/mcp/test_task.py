"""A call that its server runs as a task: followed, asked for input, cancelled, whatever the server sends."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from inspector.core.error import ArgumentsRejected, CallTimeout, ClientRefusal, ProtocolError, ServerExited
from inspector.core.message import TaskState
from inspector.core.server import Era, ServerSpec
from inspector.core.settings import ClientCapabilities
from inspector.mcp.client import task as task_module
from inspector.mcp.client.connector import McpConnector
from inspector.mcp.client.server_request import Patience
from inspector.mcp.client.task import MOST_ROUNDS, RELATED, TaskCall, pause
from inspector.mcp.elicitation import Action, ElicitationAnswer
from inspector.mcp.port import Opening, ServerLink, SessionClient
from tests.support.fakes import FixedElicitor
from tests.support.mcp_case import PATIENCE, SUPPORT, python

BEGUN = {"taskId": "t1", "status": "working"}
DONE = {"content": [{"type": "text", "text": "done"}]}
FORM = {"year": {"method": "elicitation/create", "params": {}}}


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_module, "pause", lambda _task: 0)


def state(status: str, **more: Any) -> dict[str, Any]:
    return {**BEGUN, "status": status, **more}


class Server:
    """Answers each poll with the next of `polls`, the last one for ever; errors are raised."""

    def __init__(self, *polls: Any, result: Any = DONE) -> None:
        self.polls = list(polls)
        self.result = result
        self.sent: list[tuple[str, Mapping[str, Any]]] = []
        self.told: list[TaskState] = []
        self.seen: list[Mapping[str, Any]] = []
        self.polled = asyncio.Event()
        """Set by the third poll."""

    async def ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        self.sent.append((method, params))
        if self.methods.count("get") == 3:
            self.polled.set()
        found = {"tasks/result": self.result, "tasks/cancel": {}, "tasks/update": {}}.get(method)
        if method == "tasks/get":
            found = self.polls.pop(0) if len(self.polls) > 1 else self.polls[0]
        if isinstance(found, asyncio.Future):
            return dict(await found)
        if isinstance(found, Exception):
            raise found
        assert isinstance(found, dict)
        return found

    async def answer(self, requests: Mapping[str, Any]) -> Mapping[str, Any]:
        return {key: {"action": "accept"} for key in requests}

    def follow(self, begun: Mapping[str, Any] = BEGUN) -> Any:
        return TaskCall("go", self.ask, self.answer, self.told.append, self.seen.append).result(begun)

    @property
    def methods(self) -> list[str]:
        return [method.removeprefix("tasks/") for method, _ in self.sent]


async def test_a_task_is_polled_until_it_ends_and_its_result_is_that_of_the_call() -> None:
    server = Server(state("working", statusMessage="page 2"), state("working"), state("completed"))
    assert await server.follow() == DONE
    assert server.methods == ["get", "get", "get", "result"]
    assert [(one.status, one.message, one.polls) for one in server.told] == [
        ("working", "", 0),
        ("working", "page 2", 1),
        ("working", "", 2),
        ("completed", "", 3),
    ]


async def test_a_result_that_comes_with_the_last_poll_is_not_asked_for() -> None:
    server = Server(state("completed", result=DONE))
    assert await server.follow({"resultType": "task", **BEGUN}) == DONE
    assert server.methods == ["get"]


async def test_a_task_that_needs_input_asks_once_its_result_is_waited_for_and_is_polled_meanwhile() -> None:
    waiting = asyncio.get_running_loop().create_future()
    server = Server(state("input_required"), state("input_required"), state("working"), result=waiting)
    following = asyncio.ensure_future(server.follow())
    await server.polled.wait()
    waiting.set_result(DONE)
    assert await following == DONE
    assert server.methods.count("result") == 1
    assert server.told[-1].status == "completed"
    assert [one["status"] for one in server.seen[:3]] == ["working", "input_required", "input_required"]


async def test_a_server_that_refuses_to_wait_with_its_result_is_asked_for_it_at_the_end() -> None:
    server = Server(state("input_required"), state("completed"), result=ProtocolError("not yet"))

    async def ask(method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        if method == "tasks/get" and len(server.polls) == 1:
            server.result = DONE
        return await Server.ask(server, method, params)

    server.ask = ask  # type: ignore[method-assign]
    assert await server.follow() == DONE
    assert server.methods.count("result") == 2


async def test_what_a_task_asks_for_is_answered_once_though_polls_name_it_again() -> None:
    asks = state("input_required", inputRequests=FORM)
    server = Server(asks, asks, asks, state("completed", result=DONE))
    assert await server.follow() == DONE
    assert [params for method, params in server.sent if method == "tasks/update"] == [
        {"taskId": "t1", "inputResponses": {"year": {"action": "accept"}}}
    ]


async def test_a_task_that_asks_without_end_is_cancelled() -> None:
    asks = [state("input_required", inputRequests={str(n): {}}) for n in range(MOST_ROUNDS + 1)]
    server = Server(*asks)
    with pytest.raises(ClientRefusal, match="10 answers"):
        await server.follow()
    assert server.methods[-1] == "cancel"


@pytest.mark.parametrize(
    ("last", "result", "says"),
    [
        (ArgumentsRejected("tasks/get: Task not found (-32602)"), DONE, "does not know its task"),
        (ProtocolError("tasks/get: Method not found (-32601)"), DONE, "cannot be followed"),
        (state("cancelled", statusMessage="out of quota"), DONE, "cancelled its task: out of quota"),
        (state("failed", error={"code": -32000, "message": "no disk"}), DONE, r"no disk \(-32000\)"),
        (state("failed", statusMessage="no disk"), ProtocolError("no"), "failed without a result: no disk"),
        (state("completed"), ProtocolError("none (-32601)"), r"completed without a result: none \(-32601\)"),
        (state("completed"), {**DONE, "_meta": {RELATED: {"taskId": "t2"}}}, "for another task"),
        ({"taskId": "t1"}, DONE, "does not say how its task goes"),
    ],
)
async def test_a_task_that_gives_no_result_says_why(last: Any, result: Any, says: str) -> None:
    with pytest.raises(ProtocolError, match=says):
        await Server(last, result=result).follow()


@pytest.mark.parametrize("id_", [None, ["t1"]])
async def test_a_task_without_an_id_is_the_servers_bug(id_: object) -> None:
    with pytest.raises(ProtocolError, match="without an id"):
        await Server(BEGUN).follow({"taskId": id_, "status": "working"})


async def test_what_a_task_says_is_cut_and_its_id_is_sent_whole() -> None:
    long = "x" * 100_000
    server = Server(state("completed", taskId=long, result=DONE))
    await server.follow({"taskId": long, "status": long, "statusMessage": f"{long}\x1b[2J"})
    assert server.sent == [("tasks/get", {"taskId": long})]
    assert all(len(text) <= 300 for one in server.told for text in (one.id, one.status, one.message))


async def test_whoever_gives_up_a_call_cancels_its_task() -> None:
    server = Server(state("working"))
    following = asyncio.ensure_future(server.follow())
    await server.polled.wait()
    following.cancel()
    await asyncio.wait({following})
    assert following.cancelled()
    assert server.sent[-1] == ("tasks/cancel", {"taskId": "t1"})
    assert server.told[-1].status == "told to cancel"


async def test_a_server_that_does_not_confirm_a_cancellation_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(task_module, "_PATIENCE", 0)
    server = Server(state("working"))
    never = asyncio.get_running_loop().create_future()

    async def ask(method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        return await never if method == "tasks/cancel" else await Server.ask(server, method, params)

    server.ask = ask  # type: ignore[method-assign]
    following = asyncio.ensure_future(server.follow())
    await asyncio.sleep(0)
    following.cancel()
    await asyncio.wait({following})
    assert server.told[-1].status == "not cancelled"


async def test_a_server_that_ends_ends_the_call_as_any_other() -> None:
    with pytest.raises(ServerExited):
        await Server(ServerExited("it ended")).follow()


@given(st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text()), st.booleans())
def test_a_task_is_polled_at_a_pace_within_limits_whatever_its_server_wants(
    wanted: object, is_modern: bool
) -> None:
    assert 0.2 <= pause({"pollIntervalMs" if is_modern else "pollInterval": wanted}) <= 60


# Over the wire, in both forms.

ERAS = (Era.LEGACY, Era.MODERN)
YES = ElicitationAnswer(Action.ACCEPT, {"year": "1999"})


class Wire:
    """A connection to the server of tasks, with what its client sent."""

    def __init__(self, folder: Path, era: Era, *, tasks: bool = True) -> None:
        self._connector = McpConnector(folder)
        arguments = ("modern",) if era is Era.MODERN else ()
        script = python(SUPPORT / "task_server.py", "tasks", era=era)
        self._spec = ServerSpec(script.name, command=script.command, args=(*script.args, *arguments), era=era)
        capabilities = ClientCapabilities(tasks=tasks)
        self._client = SessionClient(
            "tasks", capabilities, (), FixedElicitor(YES), lambda: lambda _event: None
        )

    def opened(self) -> AbstractAsyncContextManager[ServerLink]:
        return self._connector.connect(self._spec, Opening(client=self._client))

    def sent(self, method: str) -> list[dict[str, Any]]:
        frames = self._connector.frames("tasks").frames()
        return [json.loads(one.text).get("params", {}) for one in frames if one.sent and one.method == method]


@pytest.mark.parametrize("era", ERAS)
async def test_a_tool_that_runs_only_as_a_task_is_called_as_one(tmp_path: Path, era: Era) -> None:
    wire, told = Wire(tmp_path, era), list[TaskState]()
    async with wire.opened() as link:
        await link.list_tools()
        result = await link.call("report", {}, timeout=PATIENCE, on_task=told.append)
    assert (result.text, result.is_error) == ("done", False)
    assert [one.status for one in told][-1] == "completed"
    assert ("task" in wire.sent("tools/call")[0]) is (era is Era.LEGACY)
    assert bool(wire.sent("tasks/result")) is (era is Era.LEGACY)


@pytest.mark.parametrize("era", ERAS)
async def test_a_task_gets_what_it_asks_a_person_for(tmp_path: Path, era: Era) -> None:
    wire = Wire(tmp_path, era)
    async with wire.opened() as link:
        await link.list_tools()
        result = await link.call("ask", {}, timeout=PATIENCE)
    assert '"year": "1999"' in result.text
    # An answer says whose task it is for, as the question did.
    assert (RELATED in result.text) is (era is Era.LEGACY)


@pytest.mark.parametrize("era", ERAS)
async def test_a_task_that_takes_too_long_is_cancelled_on_its_server(
    tmp_path: Path, era: Era, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The time is over once the task has begun.
    monkeypatch.setattr(Patience, "renew", lambda _, limit, _seconds: limit.expired() or limit.reschedule(0))
    wire, told = Wire(tmp_path, era), list[TaskState]()
    async with wire.opened() as link:
        await link.list_tools()
        with pytest.raises(CallTimeout):
            await link.call("endless", {}, timeout=PATIENCE, on_task=told.append)
    assert wire.sent("tasks/cancel")[0]["taskId"] == "t1"
    assert told[-1].status == "told to cancel"


@pytest.mark.parametrize("era", ERAS)
async def test_without_tasks_declared_the_tool_is_called_plainly_and_what_fails_says_so(
    tmp_path: Path, era: Era
) -> None:
    wire = Wire(tmp_path, era, tasks=False)
    async with wire.opened() as link:
        await link.list_tools()
        with pytest.raises(ProtocolError, match="runs only as a task") as refused:
            await link.call("report", {}, timeout=PATIENCE)
    assert "`client" in refused.value.hint


async def test_a_task_that_ends_takes_back_what_it_asked() -> None:
    server = Server(state("input_required", inputRequests=FORM), state("completed", result=DONE))
    taken_back = asyncio.Event()

    async def answer(_requests: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            return dict(await asyncio.get_running_loop().create_future())
        finally:
            taken_back.set()

    server.answer = answer  # type: ignore[assignment, method-assign]
    assert await server.follow() == DONE
    await asyncio.wait_for(taken_back.wait(), PATIENCE)
    assert server.methods == ["get", "get"]
