"""What is known of real clients: that every file is whole and every rule has something behind it."""

import re
import shutil
import sys
from datetime import date, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from msgspec.structs import replace

from inspector.clients import client as client_module
from inspector.clients.client import (
    NAMES,
    Client,
    Confidence,
    Fact,
    Topic,
    all_clients,
    find_client,
    read_client,
)
from inspector.core.error import ToolsightError
from inspector.search.ranker.ranker_list import RANKERS

every_client = pytest.mark.parametrize("client", all_clients(), ids=NAMES)


@every_client
def test_every_topic_of_a_client_has_a_fact_behind_it(client: Client) -> None:
    assert {fact.topic for fact in client.facts if not fact.remark} == set(Topic)


@every_client
def test_a_fact_that_is_not_assumed_has_a_public_source_and_a_date(client: Client) -> None:
    for fact in client.facts:
        assumed = fact.confidence is Confidence.ASSUMED
        assert assumed is not bool(fact.source or fact.request), fact
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


def test_a_fact_older_than_sixty_days_is_stale_and_an_assumption_has_no_age() -> None:
    seen, fact = date(2026, 9, 1), Fact(Topic.CUTS, "It cuts.", Confidence.DOCUMENTED, date="2026-09-01")
    assert not fact.is_stale(seen + timedelta(days=60))
    assert fact.is_stale(seen + timedelta(days=61))
    assert fact.evidence(date(2027, 1, 1)).endswith("2026-09-01, stale")
    assert not Fact(Topic.CUTS, "It cuts.", Confidence.ASSUMED).is_stale(date(2099, 1, 1))


MEASURED = """
title = "Mine"
about = "a client"
names = {}
texts = {}
schemas = {}
listing = {}
search = { none = "not measured" }
[every_fact]
version = "2.1"
platform = "linux"
date = "2026-11-26"
dated = "measured"
[[facts]]
topic = "cuts"
says = "It cuts."
confidence = "measured"
request = "request 2: tools[4].description"
"""


def test_the_file_of_a_measured_client_is_read_with_what_every_fact_has() -> None:
    fact = read_client("mine", MEASURED).facts[0]
    assert (fact.seen_with, fact.date) == ("2.1, linux", "2026-11-26")
    told = "measured; 2.1, linux; 2026-11-26; request 2: tools[4].description"
    assert fact.evidence(date(2026, 11, 26)) == told


@pytest.mark.parametrize(
    "wrong", ["title =", MEASURED + "other = 1", MEASURED.replace("-11-26", "-13-26"), ""]
)
def test_what_is_no_file_of_a_client_is_refused_with_the_reason(wrong: str) -> None:
    with pytest.raises(ToolsightError) as raised:
        read_client("mine", wrong)
    assert raised.value.hint


def test_an_unknown_client_is_told_the_closest_names() -> None:
    with pytest.raises(ToolsightError) as raised:
        find_client("claude")
    assert "claude-code" in raised.value.hint


def test_the_known_clients_are_read_once_for_all_programs_until_one_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "clients"
    shutil.copytree(Path(client_module.__file__).parent, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "__pycache__").mkdir()
    monkeypatch.setattr(client_module, "__file__", str(folder / "client.py"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    read: list[str] = []

    def counted(name: str, text: str) -> Client:
        read.append(name)
        return read_client(name, text)

    monkeypatch.setattr(client_module, "read_client", counted)
    asked = client_module._known.__wrapped__
    assert list(asked().values()) == list(asked().values()) == list(all_clients())
    assert read == [*NAMES]
    codex = folder / "known" / "codex.toml"
    codex.write_text(codex.read_text().replace("limit = 128", "limit = 64"))
    assert asked()["codex"].names.limit == 64
