"""Every command once, as users run it: in a separate process, with a server in another."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from inspector.adapters.sqlite.store import SqliteStore
from inspector.cli.root import cli
from tests.cli.conftest import Toolsight
from tests.domain.test_event import records
from tests.domain.test_timeline import STORY
from tests.support import light_server, recordings
from tests.support.memory_labs import FORECAST

SESSION = "20260101-a"
# Replaced by the options that start the weather server, by a folder of data, and by files.
WEATHER, DATA, REQUESTS, SCENARIO, RUNS = "WEATHER", "DATA", "REQUESTS", "SCENARIO", "RUNS"
POLICY = "POLICY"

# The command's arguments, its exit code, and what one line of its output has.
SMOKES = {
    "servers": (("servers", WEATHER), 0, "ready"),
    "tools": (("tools", WEATHER), 0, "4 tools, tokens by o200k_base"),
    "manifest": (("manifest", WEATHER), 0, "- weather ("),
    "call": (("call", "weather:get_alerts", "city=Oslo", WEATHER), 0, "get_alerts of Oslo: sunny"),
    "search": (("search", "forecast for a city", WEATHER), 0, "weather:get_forecast"),
    "confusable": (("confusable", WEATHER), 0, "shared terms"),
    "registry": (("registry",), 0, "The registry is empty"),
    "whatif": (("whatif", "get_alerts", "late", "--description", "Late.", WEATHER), 0, "nothing was sent"),
    "budget": (("budget", WEATHER), 0, "What the first model call costs"),
    "cost": (("cost", "--session", SESSION), 0, "a recorded session of"),
    "settings": (("settings", "--set", "binding.capacty=3"), 2, "Did you mean `binding.capacity`?"),
    "access": (("access", "explain", "ada", "get_alerts", "--policy", POLICY, WEATHER), 0, "ada may see"),
    "clients": (("clients", "codex"), 0, "https://github.com/openai/codex"),
    "marketplace": (("marketplace", "list", "--demo"), 0, "fixtures/currency"),
    "keys": (("keys",), 0, "place.find"),
    "breakers": (("breakers",), 0, "No breaker has counted a call yet"),
    "leftovers": (("leftovers",), 0, "0 servers left something running"),
    "chat": (("chat", "What is the forecast for Oslo?", "--yes", WEATHER), 0, "▸ weather:get_forecast"),
    "models": (("models",), 0, ""),
    "sessions": (("sessions",), 0, SESSION),
    "events": (("events", SESSION), 0, "search"),
    "timeline": (("timeline", SESSION), 0, "loads 1, evictions 1"),
    "agents": (("agents",), 0, "No session of an agent has been imported yet"),
    "stats": (("stats",), 0, " of toolsight)"),
    "backlog": (("backlog",), 0, "1 search without a use"),
    "inertia": (("inertia",), 0, ""),
    "scenario": (("scenario", "run", SCENARIO, "--check", WEATHER), 0, "1 of 1 went as expected"),
    "compare": (
        ("compare", SCENARIO, "--script", "--profile", "prd", "--profile", "static", WEATHER),
        0,
        "static: 1 scripted search was rejected",
    ),
    "race": (("race", SCENARIO, WEATHER), 0, "Tokens for tools, call by call"),
    "bench": (("bench", "--data", DATA, "--ranker", "bm25", "--embedding-model", "none"), 0, "bm25"),
    "eval": (("eval", "add", REQUESTS, "--query", "cut my hair", "--impossible"), 0, "added 1"),
    "calibrate": (("calibrate", "--data", DATA), 0, '"settings": {"discovery": {"min_probability":'),
    "reproduce": (("reproduce", "latenci"), 2, "latency"),
    "runs": (
        ("runs", RUNS, "--set", "discovery.embedding_model=none", "--profile", "prd"),
        0,
        "1 recorded run (LiveMCPBench 1); not shipped",
    ),
}


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory, database: Path) -> Iterator[dict[str, tuple[str, ...]]]:
    """The arguments that replace each placeholder in the table.

    Also records a session, of long ago: it is kept as it counts as being written.
    """
    folder = tmp_path_factory.mktemp("smoke")
    server = {"command": sys.executable, "args": [light_server.__file__], "trust_annotations": True}
    server["defer_loading"] = True
    discovery = {"enabled": True, "embedding_model": "none"}
    settings = {"discovery.auto": "always"}
    config = {"tool_discovery": discovery, "settings": settings, "mcpServers": {"weather": server}}
    (folder / "toolsight.json").write_text(json.dumps(config))
    (folder / "tools.jsonl").write_text(json.dumps({"id": "s:list", "server": "s", "name": "list_orders"}))
    (folder / "queries.jsonl").write_text(json.dumps({"id": "1", "query": "orders", "relevant": ["s:list"]}))
    (folder / "case.yaml").write_text(FORECAST)
    (folder / "policy.yaml").write_text('organisations: {acme: {tools: ["weather:*"], users: {ada: {}}}}')
    tools = recordings.definitions(folder / "tools.json")
    with SqliteStore(database) as store:
        for record in records(STORY, SESSION):
            store.append(record)
        yield {
            WEATHER: ("--config", str(folder / "toolsight.json"), "--approve"),
            DATA: (str(folder),),
            REQUESTS: (str(folder / "mine.jsonl"),),
            SCENARIO: (str(folder / "case.yaml"),),
            POLICY: (str(folder / "policy.yaml"),),
            RUNS: (str(recordings.livemcpbench(folder / "runs")), "--tools", str(tools)),
        }


def test_every_command_except_the_demo_is_in_the_table() -> None:
    assert {*SMOKES, "demo"} == set(cli.list_commands(click.Context(cli)))


def test_the_help_lists_every_command(toolsight: Toolsight) -> None:
    helped = toolsight("--help")
    assert helped.exit_code == 0
    assert {*SMOKES, "demo"} <= {line.split()[0] for line in helped.stdout.splitlines() if line.strip()}


@pytest.mark.slow
@pytest.mark.parametrize("command", SMOKES)
def test_a_command_does_its_work(process: Toolsight, words: dict[str, tuple[str, ...]], command: str) -> None:
    arguments, exit_code, telling = SMOKES[command]
    done = process(*(part for word in arguments for part in words.get(word, (word,))))
    assert done.exit_code == exit_code, done.stderr
    assert any(telling in line for line in (done.stdout + done.stderr).splitlines())
    assert "Traceback" not in done.stderr
