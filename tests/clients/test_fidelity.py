"""How near a client's rules come to what the client really sent: names, descriptions and schemas."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from inspector.clients.client import Client, ClientKind, all_clients
from inspector.clients.seen import see_all
from inspector.core.tool import Tool, acting_meta
from tests.clients.test_framework_fidelity import tokens

DATA = Path(__file__).parents[3] / "shared/data/clients"
MEASURED = [one for one in all_clients() if one.fidelity and one.kind is ClientKind.AGENT]
# The only tool on a second page of these lists.
SECOND_PAGE = "page_two"

Definition = tuple[str, Mapping[str, Any]]


def declared() -> list[Tool]:
    servers = json.loads((DATA / "servers.json").read_text(encoding="utf-8"))
    tools = {
        (server, raw["name"]): Tool(
            server,
            raw["name"],
            raw.get("description") or "",
            raw["inputSchema"],
            meta=acting_meta(raw.get("_meta")),
            page=2 if raw["name"] == SECOND_PAGE else 1,
        )
        for server, listed in servers.items()
        for raw in listed["tools"]
    }
    return list(tools.values())


def said(client: Client) -> dict[str, Definition]:
    found: dict[str, Definition] = {}
    for one in see_all(client, declared()):
        function = one.definition["function"]
        if one.refused is None:
            found.setdefault(one.name, (function["description"], function["parameters"]))
    return found


def sent(client: Client) -> dict[str, Definition]:
    found = json.loads((DATA / f"{client.name}.json").read_text(encoding="utf-8"))
    return {one["name"]: (one["description"] or "", one["parameters"] or {}) for one in found["tools"]}


def test_the_figure_is_stored_of_nine_clients() -> None:
    assert len(MEASURED) == 9


@pytest.mark.skipif(not DATA.is_dir(), reason="what real clients sent is not here")
@pytest.mark.parametrize("client", MEASURED, ids=lambda client: client.name)
def test_a_client_sends_what_its_rules_say_and_the_stored_figure_is_what_is_measured(client: Client) -> None:
    figure = client.fidelity
    assert figure is not None
    all_bound = replace(client, listing=replace(client.listing, before="definitions"))
    told, real = said(all_bound if figure.bound else client), sent(client)
    same = [name for name, definition in real.items() if told.get(name) == definition]
    assert replace(figure, same=len(same), of=len(real)) == figure
    if figure.tokens:
        assert figure.tokens == tokens(
            {"name": name, "description": text, "parameters": schema} for name, (text, schema) in real.items()
        )
    # Of a client that searches, only what its searches found was seen.
    assert set(told) == set(real) or client.listing.before == "servers"
