"""Measured clients: the rules that a client follows are those in its file, and nothing else is."""

from datetime import date
from pathlib import Path

import pytest

from inspector.clients.client import Client, Confidence, Topic, find_client, read_client
from inspector.clients.measured.reading import Reading
from inspector.clients.measured.wire import Api
from tests.support.following_client import FollowingClient

DAY = date(2026, 11, 26)
APIS: tuple[Api, ...] = ("messages", "chat", "responses")


def measured(client: FollowingClient) -> Client:
    return read_client("mine", Reading(client.converse()).toml("Mine", DAY))


def following(tmp_path: Path, client: Client, api: Api = "messages", results: int = 10**9) -> FollowingClient:
    log = tmp_path / "server.jsonl"
    log.unlink(missing_ok=True)
    return FollowingClient(client, api, log, results)


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("name", ["claude-code", "vscode", "openai-api", "none"])
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
    assert set(Topic) == {fact.topic for fact in found.facts}
    for fact in found.facts:
        assert fact.confidence is Confidence.MEASURED
        assert (fact.version, fact.model, fact.date) == ("1.2", "m", "2026-11-26")
        assert fact.request
