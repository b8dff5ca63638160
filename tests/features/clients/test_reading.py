"""Each fact follows from what was sent, and none from what only looks like it."""

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from inspector.clients.client import Client, Topic, find_client
from inspector.clients.rule import TextRule
from inspector.features.clients.measured.conversation import Conversation
from inspector.features.clients.measured.reading import Reading
from inspector.features.clients.measured.run_reader import read_run
from inspector.features.clients.measured.wire import Heard, Outcome, SentText, SentTool, read
from tests.support.following_client import FollowingClient

_NONE = find_client("none")
_ODD = "marked-odd_dotted_name"


@pytest.fixture
def client(tmp_path: Path) -> FollowingClient:
    """A client that sends everything as it is declared, if its request is not changed."""
    return FollowingClient(_NONE, "chat", tmp_path / "server.jsonl")


def reading_of(client: FollowingClient, *changes: Callable[[Heard], Heard]) -> Reading:
    """What is read of requests that are the client's with a change each."""
    talk, heard = Conversation(client.server_log), read("chat", client.body())
    for change in changes:
        talk.reply(change(heard))
    return read_run(talk)


def as_it_is(heard: Heard) -> Heard:
    return heard


def with_properties(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[Heard], Heard]:
    def changed(tool: SentTool) -> SentTool:
        schema = tool.parameters or {}
        return replace(tool, parameters={**schema, "properties": change(schema.get("properties", {}))})

    return lambda heard: replace(heard, tools=tuple(map(changed, heard.tools)))


def said(reading: Reading, topic: Topic) -> list[str]:
    return [says for about, says, _ in reading.facts if about is topic]


def test_the_protocol_is_the_last_that_was_asked_for_before_the_list(client: FollowingClient) -> None:
    client.log.unlink()
    client.module.note(**client.module.plan())
    about: dict[str, Any] = {"clientInfo": {"name": "mine"}}
    meta = {**about, "protocolVersion": "2026-07-28"}
    client.note("server/discover", _meta={f"io.modelcontextprotocol/{key}": meta[key] for key in meta})
    client.note("initialize", **about, protocolVersion="2025-06-18")
    client.note("tools/list")
    client.note("initialize", **about, protocolVersion="2024-11-05")
    reading = reading_of(client, as_it_is)
    assert reading.top["protocol"] == "2025-06-18"
    told = [says for says in said(reading, Topic.PROTOCOL) if says.startswith("It calls itself")]
    assert told == ["It calls itself mine, speaks 2025-06-18 and declares nothing."]


@pytest.mark.parametrize(("lists", "rhythm"), [((1, 1), True), ((1, 0), False), ((0, 0), False)])
def test_a_list_that_is_read_before_every_request_is_never_old(
    client: FollowingClient, lists: tuple[int, int], rhythm: bool
) -> None:
    talk, said_ = Conversation(client.server_log), list[Outcome]()
    count = 0
    while asked := talk.reply(replace(read("chat", client.body()), outcomes=tuple(said_), last=str(count)))[
        0
    ]:
        said_ += [Outcome(one.id, ("pong",), (), "messages[1]") for one in asked]
        for _ in range(lists[count % 2]):
            client.note("tools/list")
        count += 1
    reading = read_run(talk)
    assert reading.top["follows_changes"] == rhythm
    always = "; it lists them before every request, 1 time(s)."
    assert any(says.endswith(always) for says in said(reading, Topic.PROTOCOL)) == rhythm


@pytest.mark.parametrize(("requests", "more", "keeps"), [(3, 0, None), (4, 0, True), (4, 1, False)])
def test_a_list_that_is_old_at_once_is_kept_where_it_is_asked_for_once(
    client: FollowingClient, requests: int, more: int, keeps: bool | None
) -> None:
    talk, done = Conversation(client.server_log), list[Outcome]()
    for _ in range(more):
        client.note("tools/list", "marked-new")
    for number in range(requests):
        asked, _ = talk.reply(replace(read("chat", client.body()), outcomes=tuple(done), last=str(number)))
        done += [Outcome(one.id, ("pong",), (), "messages[1]") for one in asked]
    reading = read_run(talk)
    assert reading.top.get("keeps_lists") == keeps
    assert any("ttlMs 0" in says for says in said(reading, Topic.PROTOCOL)) == (keeps is not None)


def test_requests_that_are_cancelled_count_where_they_are_calls(client: FollowingClient) -> None:
    def told() -> list[str]:
        return [says for says in said(reading_of(client, as_it_is), Topic.PROTOCOL) if "cancelled" in says]

    for number in (1, 2):
        client.module.note(method="tools/call", id=number, params={"name": "ping"})
    client.note("notifications/cancelled", requestId="listen-1")
    assert not told()
    client.note("notifications/cancelled", requestId=2)
    assert told() == ["It sends notifications/cancelled: 1 for 2 calls."]


def test_definitions_are_those_of_the_servers_that_were_given(client: FollowingClient) -> None:
    talk, heard = Conversation(client.server_log), read("chat", client.body())
    rest = (one for one in heard.tools if (talk.log.marks.key_of(one) or "")[0] != "marked-second")
    talk.reply(replace(heard, tools=tuple(rest)))
    twins = replace(_NONE, names=replace(_NONE.names, twins="error", refuses="server"))
    for missing, sent in (("marked-second",), "102 of 102"), ((), "102 of 104"):
        reading = read_run(talk, costs=dict.fromkeys(missing, "an error"))
        assert f"Before a search, {sent} definitions are sent." in said(reading, Topic.LISTING)
        reading.compare(twins, date(2026, 11, 29))
        assert ("fidelity" in reading.rules) == bool(missing)


def test_names_that_are_equal_but_for_odd_characters_are_told_together_where_only_names_are_sent(
    client: FollowingClient,
) -> None:
    names = SentText("system", f"{_ODD}, {_ODD}_2 and marked-odd_UPPER_CASE", "messages[0]")
    reading = reading_of(
        client,
        lambda heard: replace(
            heard,
            tools=tuple(one for one in heard.tools if "odd name" not in one.description),
            texts=(names,),
        ),
    )
    assert (
        f"dotted.name and dotted_name and dotted-name are {_ODD} and {_ODD}_2, "
        "UPPER_CASE is marked-odd_UPPER_CASE; of/a/path does not reach the model; "
        "9_of_a_digit does not reach the model."
    ) in said(reading, Topic.NAMES)


def test_parameters_that_are_sorted_are_told_and_those_in_the_servers_order_are_not(
    client: FollowingClient,
) -> None:
    facts = said(
        reading_of(client, with_properties(lambda given: dict(sorted(given.items())))), Topic.SCHEMAS
    )
    told = "The schema of in_order is sent with properties in another order (alpha, mid, zeta)."
    assert told in facts
    assert "The schema of extra is sent as it is declared." in facts
    assert told not in said(reading_of(client, as_it_is), Topic.SCHEMAS)


def test_a_description_is_told_as_one_that_is_bound_where_the_first_request_bound_it(
    client: FollowingClient,
) -> None:
    def bound(*changes: Callable[[Heard], Heard]) -> bool:
        return any("that is bound" in says for says in said(reading_of(client, *changes), Topic.CUTS))

    def searching(heard: Heard) -> Heard:
        rest = (one for one in heard.tools if one.name != "always_loaded")
        return replace(heard, tools=tuple(rest))

    assert bound(as_it_is)
    assert not bound(searching, as_it_is)


@pytest.mark.parametrize(
    ("known", "change", "is_taken"),
    [
        (_NONE, as_it_is, True),
        # It gives some definitions, but fewer than what was measured.
        (replace(_NONE, texts=TextRule(30)), as_it_is, False),
        # Neither gives any.
        (_NONE, with_properties(lambda given: {**given, "of_the_client": {}}), False),
    ],
)
def test_rules_of_a_known_client_are_taken_over_where_they_give_as_many_definitions_and_one_at_least(
    client: FollowingClient, known: Client, change: Callable[[Heard], Heard], is_taken: bool
) -> None:
    reading = reading_of(client, change)
    reading.compare(known, date(2026, 11, 29))
    assert ("fidelity" in reading.rules) == is_taken
