"""What is known of real clients: that every file is whole and every rule has something behind it."""

import re
from dataclasses import replace
from urllib.parse import urlsplit

import pytest

from inspector.clients.client import NAMES, Client, Confidence, Fact, Topic, all_clients, find_client
from inspector.core.error import ToolsightError
from inspector.search.ranker_list import RANKERS

every_client = pytest.mark.parametrize("client", all_clients(), ids=NAMES)


@every_client
def test_every_topic_of_a_client_has_a_fact_behind_it(client: Client) -> None:
    assert {fact.topic for fact in client.facts if not fact.remark} == set(Topic)


@every_client
def test_a_fact_that_is_not_assumed_has_a_public_source_and_a_date(client: Client) -> None:
    for fact in client.facts:
        assumed = fact.confidence is Confidence.ASSUMED
        assert assumed is not bool(fact.source), fact
        if fact.source:
            assert urlsplit(fact.source).scheme == "https"
            assert re.fullmatch(r"20\d\d-\d\d-\d\d", fact.date)
            assert fact.dated


@every_client
def test_a_client_has_a_ranker_or_says_why_it_has_none(client: Client) -> None:
    assert (client.search.ranker in RANKERS) is not bool(client.search.none)


def test_a_rule_is_as_sure_as_the_weakest_fact_behind_it() -> None:
    sure, weak = (
        Fact(Topic.SEARCH, "It searches.", one) for one in (Confidence.OPEN_SOURCE, Confidence.REPORTED)
    )
    client = replace(find_client("codex"), facts=(sure, weak))
    assert client.confidence(Topic.SEARCH) is Confidence.REPORTED
    remark = replace(weak, remark=True)
    assert replace(client, facts=(sure, remark)).confidence(Topic.SEARCH) is Confidence.OPEN_SOURCE


def test_a_topic_without_a_fact_is_assumed() -> None:
    assert replace(find_client("codex"), facts=()).confidence(Topic.NAMES) is Confidence.ASSUMED


def test_an_unknown_client_is_told_the_closest_names() -> None:
    with pytest.raises(ToolsightError) as raised:
        find_client("claude")
    assert "claude-code" in raised.value.hint
