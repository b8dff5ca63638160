"""Every command whose JSON nobody reads once; one as users run it: in a separate process."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector.cli.location import shipped_recording
from inspector.store.store import SqliteStore
from tests.cli.test_help import commands
from tests.cli.test_json_keys import COMMANDS
from tests.core.test_event import records
from tests.session.test_timeline import STORY
from tests.support import light_server
from tests.support.commands import Toolsight
from tests.support.lab import FORECAST

SESSION = "20260101-a"
# Replaced by the options that start the weather server, by a folder of data, and by files.
WEATHER, DATA, REQUESTS, SCENARIO, RUNS = "WEATHER", "DATA", "REQUESTS", "SCENARIO", "RUNS"
POLICY = "POLICY"

# The command's arguments, its exit code, and what one line of its output has.
SMOKES: dict[str, tuple[tuple[str, ...], int, str]] = {
    "clients measure": (("zed",), 2, "add --by-hand"),
    "bench": (("--data", DATA, "--ranker", "bm25", "--set", "discovery.embedding_model=none"), 0, "bm25"),
    "bench label": ((REQUESTS, "--generate", WEATHER), 0, "Review them"),
    "bench runs": (
        (RUNS, "--limit", "1", "--set", "discovery.embedding_model=none", "--profile", "prd"),
        0,
        "Replayed 1 run of 1 task",
    ),
    "race": (("What is the forecast for Oslo?", "--yes", WEATHER), 0, "Tool tokens per model call"),
    "chat": (("What is the forecast for Oslo?", "--yes", WEATHER), 0, "▸ weather:get_forecast"),
    "scenario run": ((SCENARIO, "--check", WEATHER), 0, "1 of 1 scenarios passed"),
    "scenario compare": (
        (SCENARIO, "--script", "--profile", "prd", "--profile", "static", WEATHER),
        0,
        "static: 1 scripted search was rejected",
    ),
    "sessions import": (("--agent", "codex", "--yes"), 2, "no transcripts in"),
    "sessions forget": (("nowhere",), 1, "not deleted: nowhere"),
    "export": (("-o", "run.txt"), 2, "ends in .html for a page"),
    "sessions agents": ((), 0, "No agent sessions imported yet"),
    "sessions unused": ((), 0, "No session of a client in the last 30 days"),
    "tap": ((), 2, "write the server's command or its address after --"),
    "tap remove": (("nowhere", "--client", "cursor"), 2, "there is no server 'nowhere'"),
    "gateway": (("--config", "nowhere.json"), 2, "nowhere.json"),
    "gateway add": (("--config", "nowhere.json"), 2, "nowhere.json"),
    "gateway remove": (("--config", "nowhere.json"), 2, "nowhere.json"),
    "registry import": ((WEATHER, "--set", "discovery.embedding_model=none"), 0, "weather"),
    "registry show": (("weather:get_alerts",), 0, "version 1"),
    "registry search": (("rain", "--set", "discovery.embedding_model=none"), 2, "is set to none"),
    "registry export": (("-",), 0, "get_alerts"),
    "marketplace install": (("nowhere", "--demo"), 2, "nowhere"),
    "marketplace remove": (("nowhere", "--demo"), 2, "nowhere"),
    "marketplace import": (("nowhere.json",), 2, "nowhere.json"),
    "config access": (("ada", "get_alerts", "--policy", POLICY, WEATHER), 0, "ada may see"),
    "doctor": ((), 0, "works offline"),
    "doctor models": ((), 0, ""),
    "doctor orphans": ((), 0, " orphaned process"),
}


@pytest.fixture(scope="module")
def words(
    tmp_path_factory: pytest.TempPathFactory, database: Path, toolsight: Toolsight
) -> Iterator[dict[str, tuple[str, ...]]]:
    """The arguments that replace each placeholder in the table.

    Also fills the registry, and records a session, of long ago: it is kept as it counts as being written.
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
    weather = ("--config", str(folder / "toolsight.json"), "--approve")
    assert toolsight("registry", "import", *weather, "--set", "discovery.embedding_model=none").exit_code == 0
    with SqliteStore(database) as store:
        for record in records(STORY, SESSION):
            store.append(record)
        yield {
            WEATHER: weather,
            DATA: (str(folder),),
            REQUESTS: (str(folder / "mine.jsonl"),),
            SCENARIO: (str(folder / "case.yaml"),),
            POLICY: (str(folder / "policy.yaml"),),
            RUNS: (str(shipped_recording()),),
        }


def test_every_command_except_the_demo_is_in_a_table() -> None:
    # These two only hold others.
    every = {" ".join(words) for words, _ in commands()} - {"demo", "marketplace", "config"}
    with_json = {" ".join(words[: 1 + (" ".join(words[:2]) in every)]) for words in COMMANDS.values()}
    assert {*SMOKES, *with_json} == every


def test_commands_are_as_few_as_a_head_holds() -> None:
    every = [words for words, _ in commands()]
    assert len([words for words in every if len(words) == 1]) <= 23
    assert len(every) <= 55


@pytest.mark.parametrize("command", SMOKES)
def test_a_command_does_its_work(
    toolsight: Toolsight, words: dict[str, tuple[str, ...]], command: str
) -> None:
    does_its_work(toolsight, words, command)


@pytest.mark.slow
def test_a_command_does_its_work_in_a_process_of_its_own(
    process: Toolsight, words: dict[str, tuple[str, ...]]
) -> None:
    does_its_work(process, words, "chat")


def does_its_work(run: Toolsight, words: dict[str, tuple[str, ...]], command: str) -> None:
    arguments, exit_code, line_has = SMOKES[command]
    done = run(*command.split(), *(part for word in arguments for part in words.get(word, (word,))))
    assert done.exit_code == exit_code, done.stderr
    assert any(line_has in line for line in (done.stdout + done.stderr).splitlines())
    assert "Traceback" not in done.stderr
