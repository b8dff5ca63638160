"""How near the rules of frameworks come to what they sent: each run is kept in fixtures/clients."""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from inspector.clients.client import Client, ClientKind, all_clients
from inspector.clients.seen import see_all
from inspector.core.tool import Tool, acting_meta, function_definition
from inspector.features.clients.behaviour import DECLARED_TOKENS
from inspector.schema.json_value import canonical, compact
from inspector.tokens.counter import TiktokenCounter

Json = dict[str, Any]
RUNS = Path(__file__).parents[2] / "fixtures/clients"
FRAMEWORKS = [one for one in all_clients() if one.kind is ClientKind.FRAMEWORK]
every_framework = pytest.mark.parametrize("client", FRAMEWORKS, ids=lambda one: one.name)
SERVERS: dict[str, list[Json]] = json.loads((RUNS / "servers.json").read_text(encoding="utf-8"))
SAME_TOOLS = (
    *("zeta_first", "no_desc", "both", "fails", "args_back", "ro_slow", "alpha_last"),
    *("s_ref", "s_definitions", "s_keywords", "s_array", "s_enum", "s_order", "s_deep"),
)


def runs(client: Client) -> list[Json]:
    found: list[Json] = json.loads((RUNS / f"{client.name}.json").read_text(encoding="utf-8"))["runs"]
    return found


def declared(run: Json) -> list[Tool]:
    """The tools of a run as its servers declare them, under the names that these had there."""
    return [
        Tool(
            server,
            raw["name"],
            raw.get("description") or "",
            raw["inputSchema"],
            meta=acting_meta(raw.get("_meta")),
            page=raw.get("page", 1),
        )
        for server, listed in run["servers"].items()
        for raw in SERVERS[listed]
        if raw["name"] not in run["left_out"]
    ]


def said(client: Client, run: Json) -> Iterator[str]:
    for one in see_all(client, declared(run)):
        if one.refused is None:
            function = one.definition["function"]
            yield canonical([function["name"], function["description"], function["parameters"]])


def tokens(sent: Iterable[Json]) -> int:
    """Those of the same tools, once each, with what else is sent of one."""
    counter, found = TiktokenCounter("gpt-5"), dict[str, int]()
    for one in sent:
        name = re.sub("^.*(probe|schm)[^A-Za-z0-9]+", "", one["name"])
        definition = function_definition(one["name"], one["description"], one["parameters"])
        definition["function"] |= one.get("more", {})
        found.setdefault(name, counter.count(compact(definition)))
    return sum(found[name] for name in SAME_TOOLS)


@every_framework
def test_a_framework_sends_what_its_rules_say_as_often_as_its_file_has_it(client: Client) -> None:
    figure, same, of = client.fidelity, 0, 0
    assert figure is not None
    for run in runs(client):
        left = list(said(client, run))
        for one in run["sent"]:
            of += 1
            sent = canonical([one["name"], one["description"], one["parameters"]])
            if sent in left:
                left.remove(sent)
                same += 1
    assert (same, of) == (figure.same, figure.of)
    assert tokens(runs(client)[0]["sent"]) == figure.tokens


def test_what_the_same_tools_take_as_declared_is_what_the_list_says() -> None:
    plain = [
        {"name": raw["name"], "description": raw.get("description", ""), "parameters": raw["inputSchema"]}
        for server in ("probe", "schm")
        for raw in SERVERS[server]
    ]
    assert tokens(plain) == DECLARED_TOKENS
