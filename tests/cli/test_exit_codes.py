"""A command that had no server to work with ends with 1, and a check does so if anything of one was lost."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.commands import Toolsight

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
FAILS = (
    "--yes",
    "--set",
    "discovery.embedding_model=none",
    "--",
    sys.executable,
    "-c",
    "raise SystemExit(7)",
)
COMMANDS = {
    "servers": ("servers",),
    "tools": ("tools",),
    "search": ("search", "orders"),
    "search json": ("search", "orders", "--json"),
    "search as a client": ("search", "orders", "--client", "codex"),
    "chat": ("chat", "hello"),
    "cost": ("cost",),
    "audit": ("audit",),
    "call": ("call", "list_orders"),
    "check": ("check",),
    "check of nothing": ("check", "--fail-on", "never"),
    "bench": ("bench", "--ranker", "bm25"),
    "sweep": ("bench", "--sweep", "hybrid"),
    "settings": ("config", "settings", "--check"),
}
GOOD = {"name": "list_orders", "description": "List orders.", "inputSchema": {"type": "object"}}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No configuration from the checkout."""
    monkeypatch.chdir(tmp_path)


def shop(folder: Path, bad: object) -> tuple[str, ...]:
    """A configuration whose server lists a good tool and this one."""
    code = "import sys; sys.path.insert(0, sys.argv[1]); from tests.support import light_server as server; "
    code += f"server.TOOLS[:] = {[GOOD, bad]!r}; server.main()"
    servers = {"shop": {"command": sys.executable, "args": ["-c", code, str(ROOT)]}}
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    return ("--config", "mcp.json", "--approve")


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_a_command_whose_every_server_failed_ends_with_1(
    toolsight: Toolsight, words: tuple[str, ...]
) -> None:
    assert toolsight(*words, *FAILS).exit_code == 1


def test_a_command_goes_on_with_the_servers_that_did_not_fail(toolsight: Toolsight, tmp_path: Path) -> None:
    light = ROOT / "tests" / "support" / "light_server.py"
    servers = {
        "shop": {"command": sys.executable, "args": [str(light)]},
        "gone": {"command": sys.executable, "args": ["-c", "raise SystemExit(7)"]},
    }
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    given = ("--config", "mcp.json", "--approve", "--set", "discovery.embedding_model=none")
    assert toolsight("search", "weather", *given).exit_code == 0
    assert toolsight("cost", *given).exit_code == 0
    assert toolsight("check", *given).exit_code == 1


LOST: Mapping[str, object] = {
    "no schema": {"name": "ask_agent", "inputSchema": {}},
    "a bad output schema": {**GOOD, "name": "write", "outputSchema": {"properties": {"title": "text"}}},
    "no object": None,
}


@pytest.mark.parametrize("bad", LOST.values(), ids=LOST)
def test_a_check_that_lost_a_tool_fails_with_its_reason_and_writes_no_snapshot(
    toolsight: Toolsight, tmp_path: Path, bad: object
) -> None:
    snapshot = ("--snapshot", "tools.lock.json", "--update")
    check = ("check", "--no-model", "--fail-on", "never", *snapshot, *shop(tmp_path, bad))
    done = toolsight(*check)
    assert done.exit_code == 1
    assert "A tool cannot be read" in done.stdout
    assert "not written, because tools are missing" in done.stderr
    assert not (tmp_path / "tools.lock.json").exists()
    assert json.loads(toolsight(*check, "--json").stdout)["servers"][0]["lost"]
    assert "A tool cannot be read" in toolsight(*check, "--format", "sarif").stdout


def test_an_expectation_of_a_lost_tool_does_not_hold_and_is_no_mistake(
    toolsight: Toolsight, tmp_path: Path
) -> None:
    given = shop(tmp_path, LOST["no schema"])
    done = toolsight("check", "--no-model", "--expect", "ask an agent -> ask_agent", *given)
    assert (done.exit_code, "no connected server has the tool" in done.stdout) == (1, True)


def test_a_search_says_which_tools_were_lost_and_how_to_see_more(
    toolsight: Toolsight, tmp_path: Path
) -> None:
    done = toolsight("search", "orders", *shop(tmp_path, LOST["no schema"]))
    assert done.exit_code == 0
    (line,) = (one for one in done.stderr.splitlines() if "lost" in one)
    assert line.startswith("shop lost ask_agent: ")
    assert line.endswith("Run `toolsight servers --config mcp.json` for details.")
