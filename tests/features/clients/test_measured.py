"""Measured clients: the rules that a client follows are those in its file, and nothing else is."""

import tomllib
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from msgspec.structs import replace

from inspector.clients.client import (
    Client,
    Confidence,
    Topic,
    find_client,
    read_client,
)
from inspector.clients.rule import ListingRule, NameRule, SearchRule, TextRule, written_table
from inspector.clients.seen import SeenTool
from inspector.core.error import ProtocolError
from inspector.features.clients.measured.conversation import Conversation
from inspector.features.clients.measured.marks import ServerLog
from inspector.features.clients.measured.run_reader import read_run
from inspector.features.clients.measured.wire import Api, Heard, SentTool, read
from inspector.search.ranker.step_ranker import ClaudeCodeRanker
from tests.support.following_client import FollowingClient

pytestmark = pytest.mark.slow

DAY = date(2026, 11, 26)
APIS: tuple[Api, ...] = ("messages", "chat", "responses")


def measured(client: FollowingClient) -> Client:
    return read_client("mine", read_run(client.converse()).toml("Mine", DAY))


def following(tmp_path: Path, client: Client, api: Api = "messages", results: int = 10**9) -> FollowingClient:
    log = tmp_path / "server.jsonl"
    log.unlink(missing_ok=True)
    return FollowingClient(client, api, log, results)


@pytest.mark.parametrize(
    ("name", "api"),
    [("claude-code", "messages"), ("vscode", "chat"), ("openai-api", "responses"), ("none", "messages")],
)
def test_the_rules_that_a_client_follows_are_measured(tmp_path: Path, name: str, api: Api) -> None:
    client = find_client(name)
    found = measured(following(tmp_path, client, api))
    assert found.listing.before == client.listing.before
    assert found.texts.instructions == client.texts.instructions
    assert (found.names.form, found.names.limit) == (client.names.form, client.names.limit)
    assert found.follows_changes == client.follows_changes
    assert found.declares.name == "mine"
    assert found.declares.roots
    assert not found.declares.sampling


def test_every_measured_fact_says_when_with_what_and_in_which_request(tmp_path: Path) -> None:
    found = measured(following(tmp_path, find_client("claude-code")))
    assert set(Topic) - {Topic.TASKS, Topic.HTTP} == {fact.topic for fact in found.facts}
    for fact in found.facts:
        assert fact.confidence is Confidence.MEASURED
        assert (fact.version, fact.model, fact.date) == ("1.2", "m", "2026-11-26")
        assert fact.request


LIMITS = (64, 65, 84, 85, 127, 128)


@st.composite
def rules(draw: st.DrawFn) -> Client:
    """A client with rules of its own; the name has no other length than those that the server tries."""
    refused = NameRule("mcp__{server}__{tool}", "[^A-Za-z0-9_-]", limit=draw(st.sampled_from(LIMITS)))
    # The first line of the instructions has 51 characters: a cut there is taken for a rule on lines.
    instructions = draw(st.integers(60, 12_000) | st.integers(30, 50))
    return replace(
        find_client("none"),
        names=draw(st.sampled_from([refused, replace(refused, over="cut")])),
        texts=TextRule(draw(st.integers(30, 16_000) | st.just(0)), instructions=instructions),
        listing=ListingRule(draw(st.sampled_from(["definitions", "names", "servers"])), place="system"),
        search=SearchRule(results=draw(st.integers(1, 20))),
        follows_changes=draw(st.booleans()),
    )


@settings(max_examples=15, deadline=None)
@given(rules(), st.sampled_from(APIS))
def test_whatever_rules_a_client_follows_its_file_has_them(client: Client, api: Api) -> None:
    with TemporaryDirectory() as folder:
        found = measured(following(Path(folder), client, api))
    assert (found.names, found.texts) == (client.names, client.texts)
    assert (found.listing, found.follows_changes) == (client.listing, client.follows_changes)
    if client.listing.before != "definitions" and api != "chat":
        assert found.search.results == client.search.results


def test_a_text_of_a_result_is_measured_by_what_is_left_of_it(tmp_path: Path) -> None:
    found = measured(following(tmp_path, find_client("none"), "chat", results=10_000))
    said = [fact.says for fact in found.facts if fact.topic is Topic.RESULTS]
    assert "Of a text of 9,000 characters, all reach the model." in said
    assert "Of a text of 39,000 characters, the first 10,000 reach the model." in said


@pytest.mark.parametrize("name", ["claude-code", "codex"])
def test_a_ranker_that_finds_something_else_is_not_taken_over(tmp_path: Path, name: str) -> None:
    client = following(tmp_path, find_client("claude-code"))
    reading = read_run(client.converse())
    reading.compare(find_client(name), DAY)
    found = read_client("mine", reading.toml("Mine", DAY))
    assert found.search.ranker == ""
    assert f"Toolsight's ranker {name} finds the same in" in found.search.none


def test_a_ranker_that_finds_the_same_is_taken_over_and_equal_tools_may_change_places(tmp_path: Path) -> None:
    client = following(tmp_path, find_client("claude-code"))
    ranker = ClaudeCodeRanker([seen.tool for seen in client.seen])

    def search(query: str) -> list[SeenTool]:
        ranking = ranker.rank(query)
        best = sorted(np.flatnonzero(ranking.kept), key=lambda at: -ranking.values[at])
        return [client.seen[at] for at in best if not client.seen[at].refused][:5]

    client.search = search  # type: ignore[method-assign]
    reading = read_run(client.converse())
    reading.compare(find_client("claude-code"), DAY)
    found = read_client("mine", reading.toml("Mine", DAY))
    assert found.search.ranker == "claude-code"
    assert found.confidence(Topic.SEARCH) is Confidence.MEASURED


def test_a_client_that_starts_no_server_or_has_no_tools_is_told(tmp_path: Path) -> None:
    talk = Conversation(ServerLog(tmp_path / "nothing.jsonl"))
    heard = Heard("chat", "m", streamed=False, tools=(SentTool("a", "tools[0]"),))
    with pytest.raises(ProtocolError, match="before it started the marked server"):
        talk.reply(heard)
    client = following(tmp_path, find_client("none"))
    talk = Conversation(ServerLog(client.log))
    assert talk.reply(replace(heard, tools=())) == ((), "Measured.")
    with pytest.raises(ProtocolError, match="gave its model no tool"):
        read_run(talk)


def test_a_request_that_is_repeated_is_answered_alike(tmp_path: Path) -> None:
    client = following(tmp_path, find_client("codex"), "responses")
    talk = Conversation(ServerLog(client.log))
    heard = read("responses", client.body())
    assert talk.reply(heard) == talk.reply(heard)


@given(
    text=st.text(), more=st.dictionaries(st.text(), st.integers() | st.text() | st.lists(st.text(min_size=1)))
)
def test_any_text_can_stand_in_a_clients_file(text: str, more: dict[str, Any]) -> None:
    table = "\n".join(
        written_table("", {"says": text} | {f"key-{at}": value for at, value in enumerate(more.values())})
    )
    data = tomllib.loads(table.encode("utf-8", "replace").decode())
    assert data.get("says", "") == text.encode("utf-8", "replace").decode()
