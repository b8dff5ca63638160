"""The stand-in's conversation: a tool is known by its mark, and side requests are no part of the script."""

import json
import re
from collections.abc import Callable, Container, Mapping
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from inspector.clients.client import Topic, find_client
from inspector.core.error import ProtocolError
from inspector.features.clients.measured.conversation import Conversation
from inspector.features.clients.measured.marks import SERVER, Key, Marks, cut, kept_of
from inspector.features.clients.measured.run_reader import read_run
from inspector.features.clients.measured.wire import CALL_ID, Call, Heard, Outcome, SentText, SentTool, read
from tests.support.following_client import FollowingClient
from tests.support.in_process import fixture_module

WORDS = st.text("abcxyz _-.<>", max_size=12)


@pytest.fixture(scope="module")
def marks(tmp_path_factory: pytest.TempPathFactory) -> Marks:
    log = tmp_path_factory.mktemp("marks") / "server.jsonl"
    return FollowingClient(find_client("none"), "chat", log).server_log.marks


@pytest.fixture
def client(tmp_path: Path) -> FollowingClient:
    return FollowingClient(find_client("none"), "chat", tmp_path / "server.jsonl")


def begun(client: FollowingClient) -> tuple[Conversation, Heard]:
    """A conversation, and the request with which it has begun."""
    talk, heard = Conversation(client.server_log), read("chat", client.body())
    assert talk.reply(heard)[0]
    return talk, heard


def conversed(client: FollowingClient, heard: Heard, outcome: Callable[[Call], Outcome]) -> Conversation:
    """A conversation that has ended, where the request stays the same but for the calls' outcomes."""
    talk, outcomes = Conversation(client.server_log), list[Outcome]()
    while found := talk.reply(replace(heard, outcomes=tuple(outcomes), last=str(len(outcomes))))[0]:
        outcomes += map(outcome, found)
    return talk


def calls(talk: Conversation, heard: Heard) -> list[str]:
    return [call.name for call in talk.reply(heard)[0]]


# Which tool it is.


@given(before=WORDS, after=WORDS, name=WORDS, number=st.integers(0))
def test_a_tool_is_known_by_its_mark_whatever_name_it_gets_and_whatever_stands_around_its_description(
    marks: Marks, before: str, after: str, name: str, number: int
) -> None:
    described = {key: tool for key, tool in marks.tools.items() if "description" in tool}
    key = [*described][number % len(described)]
    text = f"{before} {described[key]['description'][:10]}{after}"
    assert marks.key_of(SentTool(name, "", "", text)) == key


@given(st.text("abcdefghijklmnopqrstuvwxyz_", max_size=20), st.text("abcdefg hij", max_size=40))
def test_a_tool_of_the_clients_own_is_none_of_the_servers(marks: Marks, name: str, about: str) -> None:
    assert marks.key_of(SentTool(name, "", "", about, {"properties": {"query": {}}})) is None


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("mcp__marked-server__ping", (SERVER, "ping")),
        ("mcp_marked_server.ping", (SERVER, "ping")),
        ("marked-second-ping", ("marked-second", "ping")),
        ("marked-odd__dotted_name_1xo676p", ("marked-odd", "dotted.name")),
        (
            "marked_server___" + ("name_of_107_".ljust(107, "x"))[:40],
            (SERVER, "name_of_107_".ljust(107, "x")),
        ),
        ("marked-server__shipping", None),
        ("ping", None),
    ],
)
def test_a_bare_name_is_a_tools_behind_its_servers(marks: Marks, name: str, key: Key | None) -> None:
    assert marks.key_of_name(name) == key


@given(st.integers(30, 12_000), st.integers(0, 9))
def test_a_cut_is_found_where_it_is_in_indented_text_as_well(kept: int, indent: int) -> None:
    whole = fixture_module("marked_tools").INSTRUCTIONS
    blank = "\n" + " " * indent
    assert cut(whole, f"before\n{whole[:kept]}")[0] == kept
    assert cut(whole, f"before{blank}{whole.replace(chr(10), blank)} after")[0] == 0


@given(size=st.integers(100, 3000), head=st.integers(1, 20), tail=st.integers(1, 20))
def test_what_is_left_of_a_result_is_its_beginning_and_its_end(size: int, head: int, tail: int) -> None:
    text = fixture_module("marked_tools").marked(size * 8)
    assert kept_of(text, len(text)) == (len(text), 0)
    left = f"{text[: head * 8]} ... {text[-tail * 8 :]}"
    kept, end = kept_of(left, len(text))
    assert kept == head * 8
    assert 0 <= tail * 8 - end < 8


def test_a_tool_that_is_bound_is_called_by_its_name_there_whatever_a_text_calls_it(
    client: FollowingClient,
) -> None:
    talk, heard = Conversation(client.server_log), read("chat", client.body())
    bound = next(one for one in heard.tools if one.description.startswith("auk-a00"))
    own = SentTool("python", "", "", "Runs code.", {"properties": {"code": {}}}, way="code")
    text = SentText("system", f"- {SERVER}.ping: Answers.", "messages[0]")
    tools = (own, replace(bound, name="marked-server_ping_ff1e07b5830f"))
    assert calls(talk, replace(heard, tools=tools, texts=(text,))) == ["marked-server_ping_ff1e07b5830f"]


# What is no part of the script.


def test_a_request_without_tools_gets_a_text_and_changes_nothing(client: FollowingClient) -> None:
    talk, heard = begun(client)
    before = talk.progress
    assert calls(talk, replace(heard, tools=())) == []
    assert (talk.progress, talk.is_done) == (before, False)


def test_a_request_for_json_gets_json_of_its_schema(client: FollowingClient) -> None:
    said = {"type": "OBJECT", "properties": {"stuck": {"type": "NUMBER"}, "why": {"type": "STRING"}}}
    asked = {"contents": [{"role": "user", "parts": [{"text": "Is it stuck?"}]}]}
    heard = read("gemini", {**asked, "generationConfig": {"responseSchema": said}})
    _, text = Conversation(client.server_log).reply(heard)
    assert json.loads(text) == {"stuck": 0, "why": "marked"}


def test_a_summary_of_the_conversation_gets_a_text_and_the_call_stays_open(client: FollowingClient) -> None:
    talk, heard = begun(client)
    [first] = talk.exchanges[0].asked
    done = Outcome(f"{CALL_ID}0", ("pong",), (), "messages[2]")
    second = calls(talk, replace(heard, outcomes=(done,), last="a result"))
    summary = replace(heard, outcomes=(done,), last="Summarize the conversation.")
    assert calls(talk, summary) == []
    assert calls(talk, replace(heard, outcomes=(done,), last="a result")) == second
    assert first.key == (SERVER, "ping")


def test_where_nothing_but_calls_is_wanted_what_is_said_next_came_of_the_call(
    client: FollowingClient,
) -> None:
    body = {**client.body(), "tool_choice": "required"}

    def heard(*messages: tuple[str, str]) -> Heard:
        said = [{"role": role, "content": text} for role, text in messages]
        return read("chat", {**body, "messages": [*body["messages"], *said]})

    talk = Conversation(client.server_log)
    first = talk.reply(heard())[0][0]
    told = ("assistant", f"Calling: [{{'id': '{first.id}'}}]")
    second = talk.reply(heard(told, ("user", "Observation: pong")))[0][0]
    # It failed: nothing but the message of the user goes on.
    assert talk.reply(heard(told, ("user", "Observation: pong\nError: it is late")))[0][0].id != second.id
    assert [(asked.call.id, one.text) for _, asked, one in talk.outcomes()] == [
        (first.id, "Observation: pong"),
        (second.id, "\nError: it is late"),
    ]


@pytest.mark.parametrize(("wants", "goes_on"), [("required", True), ({"type": "any"}, True), ("auto", False)])
def test_a_request_beside_the_conversation_is_one_that_takes_a_text(
    client: FollowingClient, wants: object, goes_on: bool
) -> None:
    talk, _ = begun(client)
    said = [{"role": "user", "content": "Sum it up."}]
    assert (
        bool(calls(talk, read("chat", {**client.body(), "messages": said, "tool_choice": wants}))) == goes_on
    )


def test_a_client_that_shortened_the_conversation_goes_on_with_the_next_call(client: FollowingClient) -> None:
    talk, heard = begun(client)
    done = Outcome(f"{CALL_ID}0", ("pong",), (), "messages[2]")
    open_ = calls(talk, replace(heard, outcomes=(done,), last="a result"))
    went_on = calls(talk, replace(heard, last="the summary"))
    assert went_on
    assert went_on != open_


def test_a_client_whose_tools_are_late_is_asked_for_what_there_is_not_until_they_come(
    client: FollowingClient,
) -> None:
    heard = read("chat", client.body())
    late = replace(heard, tools=(SentTool("own", "tools[0]"),))
    talk = Conversation(client.server_log)
    [call] = talk.reply(late)[0]
    unknown = Outcome(call.id, ("no such tool",), (), "messages[2]")
    [next_] = talk.reply(replace(heard, outcomes=(unknown,)))[0]
    assert call.name != next_.name
    assert talk.exchanges[1].asked[0].key == (SERVER, "ping")


def test_a_client_that_asks_without_end_is_stopped(client: FollowingClient) -> None:
    talk, heard = begun(client)
    for _ in range(599):
        talk.reply(heard)
    with pytest.raises(ProtocolError, match="more than 600 times"):
        talk.reply(heard)


def test_a_parameter_that_the_client_requires_is_filled_in(client: FollowingClient) -> None:
    heard = read("chat", client.body())
    risk = {"security_risk": {"type": "string", "enum": ["LOW", "HIGH"]}, "summary": {"type": "string"}}
    added = {"type": "object", "properties": risk, "required": ["security_risk"]}
    talk = Conversation(client.server_log)
    [call] = talk.reply(replace(heard, tools=tuple(replace(one, parameters=added) for one in heard.tools)))[0]
    assert call.arguments == {"security_risk": "LOW"}


# What is not understood.


def searched(client: FollowingClient, text: str) -> Heard:
    heard = read("chat", client.body())
    search = SentTool("tool_search", "tools[0]", "", "", {"properties": {"query": {}}}, way="search")
    return replace(heard, tools=(search,), texts=(SentText("system", text, "messages[0]"),))


def test_a_search_whose_outcome_is_not_understood_has_found_neither_something_nor_nothing(
    client: FollowingClient,
) -> None:
    told = {
        "osprey": "A riddle.",
        "kestrel": "1. mcp_marked_server.field_description - 18.5",
        "merlin": "Error: merlin is unknown; did you mean mcp_marked_server.ping?",
    }

    def outcome(call: Call) -> Outcome:
        query = call.arguments.get("query", "")
        return Outcome(call.id, (told.get(query, f"No tool for {query}."),), (), "messages[1]")

    searches = read_run(conversed(client, searched(client, ""), outcome)).searches
    assert searches["osprey"] is None
    assert searches["merlin"] == []
    assert searches["goshawk"] == []
    assert searches["kestrel"] == [(SERVER, "field_description")]


# What a result shows.


def results_of(client: FollowingClient, told: Mapping[str, Outcome], reached: Container[str]) -> list[str]:
    """What is said of results where some tools get such outcomes, and only some calls reach the server."""

    def outcome(call: Call) -> Outcome:
        if call.name in reached:
            client.note("tools/call", name=call.name)
        given = told.get(call.name, Outcome("", ("pong",), (), ""))
        return replace(given, call=call.id, at="messages[1]")

    talk = conversed(client, read("chat", client.body()), outcome)
    return [says for topic, says, _ in read_run(talk).facts if topic is Topic.RESULTS]


def test_an_error_that_quotes_a_result_gives_none(client: FollowingClient) -> None:
    text = "Invalid structured content, on instance {'wrong': 'a dabchick in the data'}"
    [says] = results_of(client, {"misfit": Outcome("", (text,), (), "")}, ["misfit"])[:1]
    assert says.startswith("Of a result that does not fit its output schema, the model gets: neither")


def test_what_stands_in_the_users_message_after_a_result_reached_the_model(client: FollowingClient) -> None:
    result = {"role": "tool", "tool_call_id": "", "content": "[done]"}
    after = {"role": "user", "content": [{"type": "text", "text": "a puffin within"}]}
    [outcome] = read("chat", {**client.body(), "messages": [result, after]}).outcomes
    says = results_of(client, {"embedded": outcome}, ["embedded"])
    assert "A result's resource reaches the model, as a text of the user after the result." in says


@pytest.mark.parametrize(
    ("paged", "alone", "rule"), [("data", "an error", "error"), ("an error", "data", "nothing")]
)
def test_what_becomes_of_a_misfit_is_said_of_a_server_with_one_page(
    client: FollowingClient, paged: str, alone: str, rule: str
) -> None:
    told = {"misfit": ("marked-server", paged), "misfit_of_2025": ("marked-old", alone)}

    def outcome(call: Call) -> Outcome:
        server, text = told.get(call.name, ("marked-server", "pong"))
        client.note("tools/call", server, name=call.name)
        return Outcome(call.id, (text.replace("data", "a dabchick"),), (), "messages[1]")

    reading = read_run(conversed(client, read("chat", client.body()), outcome))
    assert reading.rules["results"]["misfit"] == rule


@pytest.mark.parametrize(("in_code", "each"), [(True, ", each in a script of its own,"), (False, "")])
def test_calls_at_once_are_told_with_the_scripts_that_they_are_in(
    client: FollowingClient, in_code: bool, each: str
) -> None:
    heard = read("chat", client.body())
    if in_code:
        names = " ".join(f"mcp__{server}__{tool}" for server, tool in client.server_log.marks.tools)
        code = SentTool("exec", "tools[0]", way="code")
        heard = replace(heard, tools=(code,), texts=(SentText("system", names, "messages[0]"),))

    def outcome(call: Call) -> Outcome:
        for tool in ("reads", "writes"):
            if tool in (call.name, re.sub(r".*__(\w+)\(.*", r"\1", str(call.arguments.get("code")))):
                client.module.note(begins=tool)
                client.module.note(ends=tool)
        return Outcome(call.id, ("pong",), (), "messages[1]")

    facts = read_run(conversed(client, heard, outcome)).facts
    told = [says for topic, says, _ in facts if topic is Topic.PROTOCOL and "run one after" in says]
    kinds = ("that are read-only", "that write")
    assert told == [f"Two calls {kind}{each} run one after the other." for kind in kinds]


def test_a_call_that_never_reached_its_server_says_nothing_of_results(client: FollowingClient) -> None:
    assert results_of(client, {"misfit": Outcome("", ("SyntaxError",), (), "")}, []) == []


def test_a_call_that_is_kept_back_while_others_reach_the_server_is_told(client: FollowingClient) -> None:
    says = results_of(client, {}, ["ping"])
    assert "Arguments of other types than a schema wants are refused before they reach the server." in says
    assert len(says) == 2  # and that of the tool which wants a person.


def test_an_error_in_the_words_of_any_result_is_not_marked(client: FollowingClient) -> None:
    told = {"ping": "Took 0.1 s: pong of ping", "failing": "Took 0.2 s: a petrel went wrong"}
    outcomes = {name: Outcome("", (text,), (), "") for name, text in told.items()}
    assert "A result that is an error is not marked." in results_of(client, outcomes, [*told])
