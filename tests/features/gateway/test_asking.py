"""What servers ask and begin while a client's call runs, through a gateway over stdio and over HTTP."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, Literal

import pytest
from hypothesis import given, strategies as st
from mcp import Client, MCPError, StdioServerParameters, types
from mcp.client.extension import ClientExtension, ResultClaim
from pydantic import FileUrl, RootModel

from inspector.cli.options import Options
from inspector.core.error import ClientRefusal
from inspector.features.gateway import asking
from inspector.features.gateway.asking import TASKS, ClientRelay, Waiting
from inspector.features.gateway.serve import Front, serve
from inspector.mcp.client import link, task as task_module
from inspector.schema.json_value import JsonObject
from tests.support.mcp_case import PATIENCE, SUPPORT, serving

Mode = Literal["legacy", "auto"]
BOUND = {"discovery.embedding_model": "none", "discovery.enabled": False}
ANSWERS = {
    "form": {"action": "accept", "content": {"city": "Where?"}},
    "sample": {"role": "assistant", "content": {"type": "text", "text": "yes"}, "model": "theirs"},
    "folders": {"roots": [{"uri": "file:///work"}]},
}


class TaskBegun(types.Result):
    result_type: Literal["task"] = "task"
    task_id: str


class KnowsTasks(ClientExtension):
    """Lets the SDK's client take a task in place of a result."""

    identifier = TASKS

    def claims(self) -> list[ResultClaim[Any]]:
        return [ResultClaim(result_type="task", model=TaskBegun, resolve=self._never)]

    async def _never(self, _begun: TaskBegun, _context: object) -> types.CallToolResult:
        raise AssertionError


class _TaskRequest(types.Request[dict[str, Any], str]):
    name_param: ClassVar[str | None] = "taskId"


async def about_task(client: Client, method: str, task: str, **more: Any) -> JsonObject:
    request = _TaskRequest(method=f"tasks/{method}", params={"taskId": task, **more})
    return (await client.session.send_request(request, RootModel[dict[str, Any]])).root


async def polled(client: Client, task: str, until: str) -> JsonObject:
    while (found := await about_task(client, "get", task))["status"] != until:
        pass
    return found


async def elicit(_context: object, params: types.ElicitRequestParams) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content={"city": params.message})


async def sample(_context: object, _params: object) -> types.CreateMessageResult:
    return types.CreateMessageResult.model_validate(ANSWERS["sample"])


async def roots(_context: object) -> types.ListRootsResult:
    return types.ListRootsResult(roots=[types.Root(uri=FileUrl("file:///work"))])


def configuration(folder: Path, script: str, *words: str, **env: str) -> Path:
    config = folder / "mcp.json"
    entry = {"command": sys.executable, "args": [str(SUPPORT / script), *words], "env": env}
    config.write_text(json.dumps({"mcpServers": {"asked": entry}}), encoding="utf-8")
    return config


@asynccontextmanager
async def through(over: str, mode: Mode, config: Path, **other: Any) -> AsyncGenerator[Client, None]:
    """A client that answers everything else, of a gateway before the servers of a configuration."""
    asks: dict[str, Any] = {
        "mode": mode,
        "elicitation_callback": elicit,
        "sampling_callback": sample,
        "list_roots_callback": roots,
        "extensions": [KnowsTasks()] if mode == "auto" else None,
        **other,
    }
    database = config.parent / "g.db"
    async with asyncio.timeout(4 * PATIENCE):
        if over == "stdio":
            settings = [
                word for name, value in BOUND.items() for word in ("--set", f"{name}={value}".lower())
            ]
            words = ["gateway", "--config", str(config), "--db", str(database), "--approve", *settings]
            start = StdioServerParameters(
                command=sys.executable, args=["-m", "inspector", *words], env=dict(os.environ)
            )
            async with Client(start, **asks) as client:
                yield client
            return
        front, over_now = Front(), asyncio.Event()
        options = Options(config=config, approve=True, database=database, values=BOUND)
        served = asyncio.create_task(serve(options, front, over_now.wait(), is_shared=True))
        async with serving(front.server.streamable_http_app()) as origin:
            async with Client(f"{origin}/mcp", **asks) as client:
                yield client
            over_now.set()
            await served


over_both = pytest.mark.parametrize("over", [pytest.param("stdio", marks=pytest.mark.slow), "http"])


def said(result: types.CallToolResult) -> str:
    [block] = result.content
    assert isinstance(block, types.TextContent)
    return block.text


@pytest.mark.parametrize(
    ("over", "mode", "era"),
    [
        pytest.param("stdio", "legacy", "", marks=pytest.mark.slow),
        *[("http", mode, era) for mode in ("legacy", "auto") for era in ("", "modern")],
    ],
)
async def test_all_that_a_server_asks_at_once_is_answered_by_its_keys(
    tmp_path: Path, over: str, mode: Mode, era: str
) -> None:
    async with through(over, mode, configuration(tmp_path, "mcp_asking_server.py", ASKING=era)) as client:
        result = await client.call_tool("several", {})
    assert json.loads(said(result)) == ANSWERS


async def test_a_newer_client_gets_the_questions_as_the_server_asked_them_and_again_what_it_leaves_out(
    tmp_path: Path,
) -> None:
    async with through(
        "http", "auto", configuration(tmp_path, "mcp_asking_server.py", ASKING="modern")
    ) as client:
        call = client.session.call_tool
        asked = await call("several", {}, allow_input_required=True)
        assert isinstance(asked, types.InputRequiredResult)
        assert asked.input_requests is not None
        form, prompt = asked.input_requests["form"], asked.input_requests["sample"]
        first: Any = {"form": types.ElicitResult.model_validate(ANSWERS["form"])}
        nothing = await call("several", {}, request_state=asked.request_state, allow_input_required=True)
        assert isinstance(nothing, types.InputRequiredResult)
        again = await call(
            "several",
            {},
            input_responses=first,
            request_state=nothing.request_state,
            allow_input_required=True,
        )
        with pytest.raises(MCPError, match="not given out"):
            await call("several", {}, request_state=asked.request_state, allow_input_required=True)
    assert isinstance(form, types.ElicitRequest)
    assert form.params.message == "Where?"
    assert isinstance(prompt, types.CreateMessageRequest)
    assert prompt.params.max_tokens == 5
    assert nothing.input_requests is not None
    assert nothing.input_requests.keys() == ANSWERS.keys()
    assert isinstance(again, types.InputRequiredResult)
    assert again.input_requests is not None
    assert again.input_requests.keys() == {"sample", "folders"}


async def test_a_server_learns_what_the_client_of_each_call_can_be_asked_and_so_the_client_what_it_lacks(
    tmp_path: Path,
) -> None:
    config = configuration(tmp_path, "mcp_asking_server.py", ASKING="modern")
    async with through("http", "auto", config, sampling_callback=None, extensions=None) as client:
        declared = json.loads(said(await client.call_tool("declared", {})))
        assert {*declared} == {"roots", "elicitation", "extensions"}
        with pytest.raises(MCPError, match="no") as refused:
            await client.call_tool("lacking", {})
    assert (refused.value.code, refused.value.data) == (-32021, {"requiredCapabilities": {"sampling": {}}})


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_question_that_cannot_be_read_ends_the_call_with_what_is_wrong(
    tmp_path: Path, mode: Mode
) -> None:
    config = configuration(tmp_path, "mcp_asking_server.py", ASKING="modern")
    async with through("http", mode, config) as client:
        odd, odder = [await client.call_tool(name, {}) for name in ("odd", "odder")]
        assert json.loads(said(await client.call_tool("several", {}))) == ANSWERS
    assert odd.is_error
    assert "elicitation/create cannot be read" in said(odd)
    assert "message is missing" in said(odd)
    assert odder.is_error
    assert "asks for more input" in said(odder)


@over_both
async def test_a_server_that_is_killed_while_it_asks_ends_its_calls_and_the_gateway_goes_on(
    tmp_path: Path, over: str
) -> None:
    async with through(
        over, "auto", configuration(tmp_path, "mcp_asking_server.py", ASKING="modern")
    ) as client:
        call = client.session.call_tool
        pid = int(said(await client.call_tool("pid", {})))
        asked = await call("several", {}, allow_input_required=True)
        assert isinstance(asked, types.InputRequiredResult)
        os.kill(pid, signal.SIGKILL)
        given: Any = {"form": types.ElicitResult(action="decline")}
        ended = await call("several", {}, input_responses=given, request_state=asked.request_state)
        after = await client.call_tool("several", {})
    assert "killed by SIGKILL" in said(ended)
    assert after.is_error
    assert "asked is away" in said(after)


@over_both
async def test_a_client_that_knows_tasks_gets_polls_answers_and_cancels_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, over: str
) -> None:
    # A call whose client follows it has no end of its own.
    monkeypatch.setattr(link, "_MOST_TIMES", 0)
    async with through(over, "auto", configuration(tmp_path, "task_server.py", "modern")) as client:
        begun = [await client.session.call_tool(tool, {}, allow_claimed=True) for tool in ("ask", "endless")]
        ask, endless = (one.task_id for one in begun if isinstance(one, TaskBegun))
        asked = await polled(client, ask, "input_required")
        assert asked["inputRequests"]["year"]["params"]["message"] == "Which year?"
        await about_task(client, "update", ask, inputResponses={"year": {"action": "accept"}})
        done = await polled(client, ask, "completed")
        await about_task(client, "cancel", endless)
        await polled(client, endless, "cancelled")
        with pytest.raises(MCPError, match="no such task"):
            await about_task(client, "get", "made up")
    assert done["result"]["content"][0]["text"] == 'done, {"year": {"action": "accept"}}'


@pytest.mark.parametrize("words", [(), ("modern",)], ids=["2025-11-25", "2026-07-28"])
async def test_a_client_that_knows_no_tasks_gets_their_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setattr(task_module, "pause", lambda _task: 0)
    async with through("http", "legacy", configuration(tmp_path, "task_server.py", *words)) as client:
        assert "done" in said(await client.call_tool("ask", {}))
        with pytest.raises(MCPError, match="Method not found"):
            await about_task(client, "get", "t1")


def modern(**session: Any) -> Any:
    """The context of a request of a client of 2026-07-28."""
    return SimpleNamespace(protocol_version="2026-07-28", session=SimpleNamespace(**session))


async def test_a_client_that_never_comes_back_holds_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "_LONGEST_QUESTION", 0.0)
    with pytest.raises(ClientRefusal, match="did not call again"):
        await Waiting(modern()).answers({"a": {"method": "roots/list"}})


@given(st.lists(st.sets(st.sampled_from("abc")), max_size=6), st.booleans())
async def test_whatever_a_client_answers_when_each_question_is_asked_until_it_is_answered(
    rounds: list[set[str]], is_task: bool
) -> None:
    waiting, open_ = Waiting(modern()), set("abc")

    async def work() -> JsonObject:
        each = await asyncio.gather(*(waiting.answers({key: {"method": "roots/list"}}) for key in "abc"))
        return {key: answer for given in each for key, answer in given.items()}

    waiting.begin(work())
    await waiting.outcome()
    if is_task:
        waiting.went_on({"taskId": "t", "status": "working"})
    for answered in [*rounds, set("abc")]:
        now = waiting.polled() if is_task else await waiting.outcome()
        assert set(now.get("inputRequests", {})) == open_
        waiting.resume(modern(), {key: {"of": key} for key in answered} | {"unknown": {}})
        open_ -= answered
        if not open_:
            break
    assert waiting.work is not None
    assert await waiting.work == {key: {"of": key} for key in "abc"}
    assert (waiting.polled() if is_task else {"result": await waiting.outcome()})["result"].keys() == set(
        "abc"
    )


async def test_two_servers_that_name_their_tasks_alike_are_told_apart() -> None:
    relay, ids = ClientRelay(), []
    for _ in range(2):
        waiting = Waiting(modern())
        waiting.begin(asyncio.sleep(0, {}))
        with relay.waits(waiting):
            relay.task({"taskId": "t1", "status": "working"})
        ids.append(waiting.polled()["taskId"])
        await waiting.outcome()
    assert ids[0] == "t1"
    assert len(set(ids)) == 2
