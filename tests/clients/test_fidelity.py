"""How near a client's rules come to what the client really sent: names, descriptions and schemas."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from inspector.clients.client import Client, Fidelity, all_clients
from inspector.clients.seen import see_all
from inspector.core.tool import Tool, acting_meta

DATA = Path(__file__).parents[3] / "shared/data/clients"
MEASURED = [client for client in all_clients() if client.fidelity is not None]
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
    assert Fidelity(len(same), len(real), figure.version, figure.date, figure.bound) == figure
    # Of a client that searches, only what its searches found was seen.
    assert set(told) == set(real) or client.listing.before == "servers"
