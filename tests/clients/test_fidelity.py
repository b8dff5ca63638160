"""How near a client's rules come to what the client really sent and found, in fixtures/clients."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from inspector.clients.client import ClientKind, all_clients, find_client
from inspector.clients.golden import GoldenRun, Key, declared_tool
from inspector.clients.seen import as_sent, see_all
from inspector.core.settings import DiscoverySettings
from inspector.core.tool import Tool
from inspector.schema.json_value import compact
from inspector.search.index.tool_index import ToolIndex
from inspector.search.ranker.catalog_rankers import CatalogRankers
from inspector.tokens.counter import TiktokenCounter
from tests.clients.test_framework_fidelity import SAME_TOOLS, SERVERS
from tests.support.in_process import fixture_module


def read_golden(file: Path) -> GoldenRun:
    """A run from its file, as `write_golden` writes it."""
    data = json.loads(file.read_text(encoding="utf-8"))
    servers = json.loads((file.parents[1] / data["servers"]).read_text(encoding="utf-8"))
    tools = {
        (server, raw["name"]): declared_tool(server, raw, raw["page"])
        for server, listed in servers.items()
        for raw in listed
    }
    definitions = {}
    for server, name, differs in data["definitions"]:
        tool = tools[server, name]
        said = (differs.get("description", tool.description), differs.get("parameters", tool.input_schema))
        definitions[server, name] = (differs["name"], *said)
    about = (data["client"], data["version"], data["model"], data["day"])
    searches = {query: found and [*map(tuple, found)] for query, found in data["searches"].items()}
    return GoldenRun(*about, list(tools.values()), definitions, searches, data["results"])


FILES = sorted((Path(__file__).parents[2] / "fixtures/clients").glob("*/run.json"))
RUNS = [read_golden(file) for file in FILES]
# Vibe's model gets TypeScript, and no definition.
SENT = [run for run in RUNS if run.definitions]
FIGURES = {run.client: run.fidelity(find_client(run.client)) for run in SENT}
every_run = pytest.mark.parametrize("run", SENT, ids=lambda run: run.client)
MAIN = "marked-server"


@every_run
def test_the_file_of_a_client_has_the_figure_that_its_rules_have_now(run: GoldenRun) -> None:
    known, now = find_client(run.client).fidelity, FIGURES[run.client]
    paste = f'same = {now.same}\nof = {now.of}\nversion = "{now.version}"\ndate = "{now.date}"'
    assert known is not None
    assert replace(known, tokens=0) == now, paste


def test_every_agent_with_a_figure_has_a_run_and_at_most_one_definition_in_fifty_is_not_as_it_was_sent() -> (
    None
):
    known = {one.name for one in all_clients() if one.fidelity and one.kind is ClientKind.AGENT}
    assert known == FIGURES.keys()
    assert min(one.same / one.of for one in FIGURES.values()) >= 0.98
    assert sum(one.same == one.of for one in FIGURES.values()) >= 9


@every_run
def test_what_is_said_to_be_bound_was_sent_by_a_client_that_binds_every_tool(run: GoldenRun) -> None:
    client = find_client(run.client)
    if client.listing.before == "definitions":
        told = {(one.tool.server, one.tool.name) for one in see_all(client, run.tools) if not one.refused}
        there = {server for server, _ in run.definitions}
        assert {key for key in told if key[0] in there} == run.definitions.keys()


def finds(run: GoldenRun) -> Iterator[tuple[str, list[float], list[float]]]:
    """Of each search that was understood the scores of what was found, and of what our ranker finds.

    Scores, since those that are about equal come in any order. What Droid loaded before comes behind what it
    did not.
    """
    client, before = find_client(run.client), set[Key]()
    there = {server for server, _ in run.definitions} or {tool.server for tool in run.tools} - {"marked-new"}
    tools = [tool for tool in as_sent(client, run.tools) if tool.server in there]
    places = {(tool.server, tool.name): place for place, tool in enumerate(tools)}
    index = ToolIndex(tools, instructions={MAIN: fixture_module("marked_tools").INSTRUCTIONS})
    ranker = CatalogRankers(index, DiscoverySettings()).get(client.search.ranker)
    for query, found in run.searches.items():
        ranking = ranker.rank(query)
        ours = [place for place in ranking.order() if ranking.kept[place]][: client.search.results]
        if client.name == "droid":
            ours.sort(key=lambda place: (tools[place].server, tools[place].name) in before)
        if found is not None:
            before |= {*found}
            real = [float(ranking.values[places[key]]) for key in found]
            yield query, real, [float(ranking.values[place]) for place in ours]


@pytest.mark.parametrize("run", [run for run in RUNS if run.searches], ids=lambda run: run.client)
def test_a_search_finds_what_the_client_found_in_its_order(run: GoldenRun) -> None:
    assert [one for one in finds(run) if one[1] != pytest.approx(one[2], rel=1e-3)] == []


@every_run
def test_the_same_tools_take_what_the_file_says(run: GoldenRun) -> None:
    """Some clients put the keys of a schema into another order, which takes two tokens more or less."""
    tools = [
        Tool(server, raw["name"], raw.get("description", ""), raw["inputSchema"])
        for server in ("probe", "schm")
        for raw in SERVERS[server]
        if raw["name"] in SAME_TOOLS
    ]
    client, counter = find_client(run.client), TiktokenCounter("gpt-5")
    assert client.fidelity is not None
    taken = sum(counter.count(compact(one.definition)) for one in see_all(client, tools))
    assert client.fidelity.tokens == pytest.approx(taken, abs=2)


def test_no_run_has_a_place_on_the_machine_that_it_was_measured_on() -> None:
    for file in FILES:
        assert not re.search(r"/(tmp|home|root|work)/", file.read_text(encoding="utf-8"))
