"""`toolsight race --client`: an agent of ours in the place of a client, before the demo's servers."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from inspector.core.error import ProtocolError
from inspector.features.clients import race as module
from inspector.features.clients.measured.answer import answer
from inspector.features.clients.measured.conversation import required_values
from inspector.features.clients.measured.wire import Call, Heard, Outcome, SentTool
from inspector.features.clients.race import RaceTalk, model_calls
from inspector.schema.json_value import JsonObject
from tests.support.commands import Toolsight, servers_in_process as servers_in_process
from tests.support.local_servers import Answer, stub_server
from tests.support.started_agent import KEY, agent as agent, leaves_nothing, toolsight as toolsight

RACE = ("race", "--client", "claude-code", "Which orders are late?", "--demo")
PLAIN = ("--set", "discovery.embedding_model=none")


@pytest.mark.slow
def test_a_client_runs_with_all_tools_and_with_the_search_and_calls_the_same_tool(
    agent: Path, tmp_path: Path, toolsight: Toolsight
) -> None:
    done = toolsight(*RACE, *PLAIN, "--json")
    assert done.exit_code == 0, done.stderr
    raced = json.loads(done.stdout)
    every, search = raced["every"], raced["search"]
    assert (raced["client"], raced["version"]) == ("claude-code", "9.8.7")
    assert every["tool_calls"] == [f"mcp__toolsight__{raced['tool']}"]
    assert search["tool_calls"] == ["mcp__toolsight__search_tools", "mcp__toolsight__call_tool"]
    assert (len(every["calls"]), len(search["calls"])) == (2, 3)
    assert every["answer"] == search["answer"] != ""
    # All definitions stand in every request of one, and few in those of the other.
    assert {call["tools"] for call in every["calls"]} == {every["listed"]}
    assert search["calls"][0]["tool_tokens"] < every["calls"][0]["tool_tokens"] / 2
    assert raced["saved"] == 1 - search["tokens"] / every["tokens"]
    assert " less: " in raced["verdict"]
    assert KEY not in (agent / "environment.json").read_text()
    assert leaves_nothing(agent, tmp_path, "race-*")


@pytest.mark.slow
def test_a_client_that_waits_with_a_search_of_its_own_is_led_through_it(
    agent: Path, toolsight: Toolsight
) -> None:
    (agent / "mode").write_text("defer")
    done = toolsight(*RACE, *PLAIN, "--json")
    assert done.exit_code == 0, done.stderr
    raced = json.loads(done.stdout)
    assert raced["every"]["tool_calls"] == ["ToolSearch", f"mcp__toolsight__{raced['tool']}"]
    found = ["ToolSearch", "mcp__toolsight__search_tools", "ToolSearch", "mcp__toolsight__call_tool"]
    assert raced["search"]["tool_calls"] == found
    assert any("has a search of its own" in note for note in raced["notes"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "told", "hint"),
    [
        ("hang", "not done after 1 second and 0 requests", "Log in to go on."),
        ("end", "ended with exit code 0 after 0 requests", "I have no key."),
        ("end early", "ended with exit code 0 after 1 request", "I am tired."),
    ],
)
def test_a_client_that_hangs_or_gives_up_ends_the_race_and_leaves_nothing(
    agent: Path,
    tmp_path: Path,
    toolsight: Toolsight,
    monkeypatch: pytest.MonkeyPatch,
    mode: str,
    told: str,
    hint: str,
) -> None:
    if mode == "hang":
        monkeypatch.setattr(module, "_SECONDS", 1)
    (agent / "mode").write_text(mode)
    done = toolsight(*RACE, *PLAIN)
    assert done.exit_code == 1
    error, _, hints = done.stderr.partition("hint:")
    assert told in error
    assert hint in hints
    assert leaves_nothing(agent, tmp_path, "race-*")


OWN = ("--model", "anthropic/claude-sonnet-4-5", *PLAIN)


@pytest.mark.slow
def test_the_persons_own_model_answers_with_their_key_after_an_estimate(
    agent: Path, tmp_path: Path, toolsight: Toolsight, monkeypatch: pytest.MonkeyPatch
) -> None:
    asks = Call("toolu_1", "mcp__toolsight__search_tools", {"query": "late orders"})
    replies = [(asks,), (), ()]
    wholes = [answer(Heard("messages", "m", streamed=False), 1, calls, "Two.") for calls in replies]
    with stub_server(*(Answer(body=whole) for whole in wholes)) as stub:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", stub.address)
        refused = toolsight(*RACE, *OWN)
        assert (refused.exit_code, stub.received) == (2, [])
        assert "two runs of some" in refused.stderr
        assert "about $0." in refused.stderr
        done = toolsight(*RACE, *OWN, "--yes", "--json")
    assert done.exit_code == 0, done.stderr
    raced = json.loads(done.stdout)
    assert {one["x-api-key"] for one in stub.headers} == {KEY}
    assert raced["search"]["tool_calls"] == ["search_tools"]
    assert (len(raced["search"]["calls"]), len(raced["every"]["calls"])) == (2, 1)
    assert raced["search"]["answer"].endswith("Two.")
    assert "anthropic/claude-sonnet-4-5 answered" in " ".join(raced["notes"])
    assert KEY not in done.stdout + (agent / "environment.json").read_text()
    assert leaves_nothing(agent, tmp_path, "race-*")


@pytest.mark.slow
def test_a_provider_that_refuses_the_key_ends_the_race_with_what_it_says(
    agent: Path, tmp_path: Path, toolsight: Toolsight, monkeypatch: pytest.MonkeyPatch
) -> None:
    with stub_server(Answer(401, body={"error": f"invalid {KEY}"})) as stub:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", stub.address)
        done = toolsight(*RACE, *OWN, "--yes")
    assert (done.exit_code, len(stub.received)) == (1, 1)
    assert "anthropic refused the request: HTTP 401" in done.stderr
    assert "invalid [redacted]" in done.stderr
    assert leaves_nothing(agent, tmp_path, "race-*")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--client", "codeks", "--demo"), "there is no command known for 'codeks'"),
        (("--client", "codex", "--demo"), "Install it with `npm install -g @openai/codex`."),
        (
            ("--client", "claude-code", "--demo", "--model", "mine/m"),
            "no address known for the model",
        ),
        (("--client", "claude-code", "--demo", "--model", "openai/gpt-5"), "OPENAI_API_KEY is not set"),
        (("--client", "claude-code"), "this folder has no configuration"),
        (("--client", "claude-code", "--", "nobody.py"), "nobody.py"),
    ],
)
def test_a_race_that_cannot_start_says_why(
    agent: Path,
    tmp_path: Path,
    toolsight: Toolsight,
    monkeypatch: pytest.MonkeyPatch,
    words: Sequence[str],
    told: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    done = toolsight("race", "Which orders are late?", *words)
    assert done.exit_code == 2
    assert told in done.stderr
    assert not (agent / "environment.json").exists()


# What the stand-in has the client do.


class Listing:
    """A gateway that has listed these tools."""

    def __init__(self, *names: str) -> None:
        self.listed = [{"name": name, "inputSchema": {}} for name in names]

    @property
    def session(self) -> asyncio.Future[Any]:
        session = asyncio.new_event_loop().create_future()
        session.set_result(self)
        return session

    def entry_of(self, name: str) -> JsonObject | None:
        return {"name": "send", "inputSchema": {}} if name == "mail:send" else None


EXEC = SentTool("exec", "tools[0]", "", "Runs a script.", way="code")
BOUND = tuple(SentTool(f"mcp__toolsight__{name}", "tools[0]") for name in ("search_tools", "call_tool"))


def asked(talk: RaceTalk, tools: tuple[SentTool, ...], *outcomes: Outcome) -> Any:
    """The arguments of the one call that comes next."""
    heard = Heard("responses", "m", False, tools, outcomes=outcomes, last=str(len(outcomes)))
    [call] = talk.reply(heard)[0]
    return call.arguments


def came(number: int, text: str) -> Outcome:
    return Outcome(
        f"call_n{number}", ("Wall time: 1 s", {"type": "input_text", "text": text}), (), "input[0]"
    )


def test_what_the_search_ranks_first_is_called_and_its_result_is_the_answer() -> None:
    talk = RaceTalk(Listing("search_tools", "call_tool").session, "Send a mail.")
    assert asked(talk, BOUND) == {"query": "Send a mail."}
    found = came(0, "Found 2 tools:\n\n- mail:send\n  Sends.\n\n- mail:list\n  Lists.")
    assert asked(talk, BOUND, found) == {"name": "mail:send", "arguments": {}}
    heard = Heard("responses", "m", False, BOUND, outcomes=(found, came(1, "Sent.")), last="2")
    assert talk.reply(heard) == ((), "Sent.")
    assert talk.is_done


def test_a_client_that_runs_code_is_led_by_scripts() -> None:
    talk = RaceTalk(Listing("send").session, "Send a mail.", {"name": "send", "inputSchema": {}})
    assert "ALL_TOOLS" in asked(talk, (EXEC,))["code"]
    printed = came(0, json.dumps([{"name": "mcp__toolsight__send", "description": "Sends."}]))
    assert asked(talk, (EXEC,), printed)["code"] == "text(await tools.mcp__toolsight__send({}))"
    result = came(1, json.dumps({"content": [{"type": "text", "text": "Sent."}]}))
    heard = Heard("responses", "m", False, (EXEC,), outcomes=(printed, result), last="2")
    assert talk.reply(heard) == ((), "Sent.")


def test_a_tool_that_is_deferred_is_found_before_it_is_called() -> None:
    search = SentTool("find", "tools[0]", "", "", {"properties": {"query": {}}}, way="search")
    tools = (search, SentTool("mcp__toolsight__send", "tools[1]", deferred=True))
    talk = RaceTalk(Listing("send").session, "Send a mail.", {"name": "send", "inputSchema": {}})
    assert asked(talk, tools) == {"query": "send"}
    found = (SentTool("mcp__toolsight__send", "input[0].tools[0]", deferred=True),)
    assert asked(talk, tools, Outcome("call_n0", (), found, "input[0]")) == {}


@pytest.mark.parametrize(
    ("names", "found", "told"),
    [
        ((), "", "no server has tools"),
        (("send", "list"), "", "2 tools are too few for a search to save anything"),
        (("search_tools", "call_tool"), "No tools found.", "the search found no tool for this question"),
    ],
)
def test_without_a_tool_to_call_there_is_no_race(names: Sequence[str], found: str, told: str) -> None:
    talk = RaceTalk(Listing(*names).session, "Send a mail.")
    tools = BOUND if found else (EXEC,)
    if found:
        asked(talk, tools)
    with pytest.raises(ProtocolError, match=told):
        asked(talk, tools, came(0, found))


def test_arguments_are_what_a_tool_requires_in_the_values_that_it_names() -> None:
    properties = {
        "a": {"type": "integer", "default": 7},
        "b": {"type": "string", "enum": ["x", "y"]},
        "c": {"type": "string", "examples": ["Oslo"]},
        "d": {"type": "boolean"},
        "e": {"type": "string"},
    }
    schema = {"type": "object", "properties": properties, "required": ["a", "b", "c", "d"]}
    assert required_values(schema) == {"a": 7, "b": "x", "c": "Oslo", "d": False}


def test_tools_are_counted_where_each_api_has_them(tmp_path: Path) -> None:
    one: JsonObject = {"name": "a", "description": "Does it."}
    bodies: list[JsonObject] = [
        {"tools": [one, one], "input": "Go."},
        {"tools": [{"functionDeclarations": [one, one]}]},
        {"tools": [one], "input": [{"type": "tool_search_output", "tools": [{"name": "n", "tools": [one]}]}]},
    ]
    for number, body in enumerate(bodies):
        (tmp_path / f"{number:03}.json").write_text(json.dumps({"body": body}))
    calls = [*model_calls(tmp_path)]
    assert [call["tools"] for call in calls] == [2, 2, 2]
    assert len({call["tool_tokens"] for call in calls}) == 1
    assert all(0 < call["tool_tokens"] < call["tokens"] for call in calls)
