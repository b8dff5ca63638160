"""The walk from a client's file to its model: what is found, and where it stops."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from inspector.clients.client import find_client
from inspector.config.configuration import Configuration
from inspector.config.text_edit import line_of
from inspector.core.access import ServerRule
from inspector.core.error import ConnectError, Fetched
from inspector.core.server import ServerInfo, ServerSpec, SkippedTool
from inspector.core.tool import Tool
from inspector.features.setup.walk import Step, files_of, in_files, session_steps, until_lost
from tests.support import light_server
from tests.support.commands import Toolsight
from tests.support.memory_servers import MemoryServer
from tests.support.workbench import configured, connected

RUN = {"command": "python3", "args": ["s.py"]}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder without any client's files; the project's folder in it is the current one."""
    (tmp_path / "p").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path / "p")
    return tmp_path


def walked(client: str, server: str = "orders") -> tuple[Configuration | None, list[Step]]:
    known = find_client(client)
    return in_files(known, server, files_of(known))


def write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1), encoding="utf-8")


OWN = {"mcpServers": {"orders": {**RUN, "args": ["local"]}}}
OFF = {"type": "local", "enabled": False, "command": ["a"]}
AWAY = {"FOLDER": {"disabledMcpServers": ["orders"]}}
CODEX = '[mcp_servers.orders]\ncommand = "a"\n'
CONFIG, PROJECT_FILE = ".codex/config.toml", "p/opencode.json"
# The client, its file, the step that is not well, what it says, and the end of the line to change.
CASES: dict[str, tuple[str, str, Any, str, str, str]] = {
    "nowhere": ("codex", CONFIG, CODEX.replace("orders", "order"), "file", "no file of Codex", ""),
    "syntax": ("cursor", ".cursor/mcp.json", '{"mcpServers": {\n"orders" 1}}', "file", "mcp.json:2:", ""),
    "off": ("cursor", ".cursor/mcp.json", {"orders": OFF, "a": RUN}, "file", "turned off", "json:3"),
    "all off": ("opencode", PROJECT_FILE, {"mcp": {"orders": OFF}}, "file", "is disabled", "json:3"),
    "beside a faulty one": (
        "cursor",
        ".cursor/mcp.json",
        {"orders": OFF, "a": 7},
        "file",
        "turned off",
        "json:3",
    ),
    "refused": ("opencode", PROJECT_FILE, {"mcp": {"orders": RUN}}, "keys", "refuses the whole", "json:4"),
    "ignored": ("codex", CONFIG, f"{CODEX}disabled = true", "keys", "unknown key `disabled`", "toml:3"),
    "read": ("codex", CONFIG, CODEX, "keys", "every key is read", ""),
    "faulty": ("cursor", ".cursor/mcp.json", {"orders": {"command": 7}}, "keys", "be a string", "json:3"),
    "kept away": ("claude-code", ".claude.json", {"orders": RUN}, "policy", "disabledMcpServers", "json:14"),
    "not approved": ("claude-code", "p/.mcp.json", {"orders": RUN}, "policy", "waits for approval", ""),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_walk_says_which_file_and_line_keep_a_server_from_its_client(
    home: Path, case: tuple[str, str, Any, str, str, str]
) -> None:
    client, path, content, name, told, place = case
    if isinstance(content, dict) and "mcp" not in content:
        content = {"mcpServers": content, **({"projects": AWAY} if path == ".claude.json" else {})}
    if path == "p/.mcp.json":
        write(home / ".claude.json", {})
    text = content if isinstance(content, str) else json.dumps(content, indent=1)
    write(home / path, text.replace("FOLDER", str(home / "p")))
    configuration, steps = walked(client)
    step = next((one for one in steps if one.sign != "works"), steps[-1])
    assert (step.name, told in step.found, step.place.endswith(place)) == (name, True, True), step
    is_lost = step.sign == "lost"
    assert is_lost is (not told.startswith(("unknown", "every", "waits")))
    assert configuration is not None or is_lost


def test_the_entry_of_the_folder_goes_before_the_projects_and_that_before_the_users(home: Path) -> None:
    write(home / ".claude.json", {"projects": {str(home / "p"): OWN}, "mcpServers": {"orders": RUN}})
    write(home / "p/.mcp.json", {"mcpServers": {"orders": {**RUN, "args": ["project"]}}})
    configuration, steps = walked("claude-code")
    assert configuration is not None
    assert configuration.servers[0].args == ("local",)
    first, *others = steps[0].found.split(", goes before ")
    assert first == f"{home / '.claude.json'}:5 project {home / 'p'}"
    assert others == [f"{home / 'p/.mcp.json'} project", f"{home / '.claude.json'} user"]
    write(home / ".claude.json", {"mcpServers": {"orders": RUN}})
    configuration, _ = walked("claude-code")
    assert configuration is not None
    assert configuration.servers[0].args == ("project",)


TOOL = Tool("shop", "list_orders", "Lists orders.", input_schema={"type": "object"})
READY = ServerInfo(protocol="2025-11-25", capabilities=("tools (listChanged)",))
PAGE = SkippedTool("", "gone", "page", number=2)
LONG = Tool("shop", "x" * 130, "x", input_schema={"type": "object"})


@pytest.mark.parametrize(
    ("server", "client", "names", "sign", "told"),
    [
        (MemoryServer([TOOL], info=READY), "", "list_changed", "works", "read again"),
        (MemoryServer([TOOL], info=READY), "codex", "list_changed", "look", "does not read a changed list"),
        (MemoryServer([TOOL], skipped=[PAGE]), "", "pages", "lost", "page 2"),
        (MemoryServer([TOOL], skipped=[SkippedTool("a", "null")]), "codex", "schemas", "lost", "a: null"),
        (MemoryServer([LONG, TOOL]), "claude-code", "names", "lost", "1 of 2 tools: names are refused"),
        (MemoryServer([]), "", "policy", "lost", "lists no tool"),
        (MemoryServer(fault=ConnectError("exit code 1")), "", "start", "lost", "exit code 1"),
    ],
)
async def test_the_walk_stops_at_the_first_step_that_loses_a_tool(
    server: MemoryServer, client: str, names: str, sign: str, told: str
) -> None:
    async with connected(servers={"shop": server}, configuration=_own()) as rig:
        steps = until_lost(session_steps(rig.bench, "shop", find_client(client) if client else None))
    assert (steps[-1].name, steps[-1].sign) == (names, sign)
    assert told in steps[-1].found
    assert [one.sign for one in steps[:-1]].count("lost") == 0


def _own(*only: str) -> Configuration:
    spec = ServerSpec("shop", sys.executable, rule=ServerRule(frozenset(only) or None))
    return replace(configured(["shop"]), servers=(spec,))


async def test_a_rule_that_leaves_no_tool_is_the_step_that_loses_them() -> None:
    servers = {"shop": MemoryServer([TOOL])}
    async with connected(servers=servers, configuration=_own("other")) as rig:
        step = until_lost(session_steps(rig.bench, "shop"))[-1]
    assert (step.name, step.sign, step.found) == ("policy", "lost", "its entry gives the model only other")


async def test_of_a_sign_in_the_document_at_fault_ends_the_walk() -> None:
    documents = (
        Fetched("the server", "http://h/mcp", 401),
        Fetched("resource metadata", "http://h/r", 200, fault="its `resource` is x", hint="Name it."),
        Fetched("issuer's metadata", "http://h/i", 200),
    )
    servers = {"shop": MemoryServer(fault=ConnectError("needs sign-in"))}
    async with connected(servers=servers, configuration=_own()) as rig:
        steps = until_lost(session_steps(rig.bench, "shop", None, documents))
    assert (steps[-1].found, steps[-1].cure) == (str(documents[1]), "Name it.")


@pytest.mark.parametrize(("fault", "sign"), [("", "works"), ("it says version 1, the server 2", "look")])
async def test_a_card_is_a_step_that_loses_nothing(fault: str, sign: str) -> None:
    card = Fetched("its card", "http://h/mcp/server-card", 200, "a/shop 1", fault, "Make it again.")
    async with connected(servers={"shop": MemoryServer([TOOL])}, configuration=_own()) as rig:
        steps = until_lost(session_steps(rig.bench, "shop", None, (card,)))
    [step] = [one for one in steps if one.name == "card"]
    assert (step.sign, step.found, steps[-1].name) == (sign, str(card), "list_changed")


@given(st.lists(st.text("abc", min_size=1, max_size=3), min_size=1, max_size=5, unique=True), st.data())
def test_a_servers_line_is_found_in_json_toml_and_yaml(names: list[str], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(names))
    at = names.index(name)
    entries = json.dumps({"mcpServers": {one: {"command": "Z"} for one in names}}, indent=1)
    assert line_of(entries, "mcpServers", name, "command") == 4 + 3 * at
    toml = "".join(f'[mcp_servers.{one}]\ncommand = "Z"\n' for one in names)
    assert line_of(toml, name) == 1 + 2 * at
    assert line_of(toml, name, "command") == 2 + 2 * at
    yaml = "extensions:\n" + "".join(f"  {one}:\n    cmd: Z\n" for one in names)
    assert line_of(yaml, name) == 2 + 2 * at
    assert line_of(yaml, "nowhere") == 0


def test_the_command_walks_to_a_server_of_a_file(toolsight: Toolsight, tmp_path: Path) -> None:
    entry = {"command": sys.executable, "args": [light_server.__file__], "environment": {"A": "1"}}
    path = tmp_path / "c.json"
    write(path, {"mcpServers": {"weather": entry, "off": {**entry, "disabled": True}}})
    given = ("--config", str(path), "--approve", "--set", "discovery.embedding_model=none")
    done = toolsight("doctor", "weather", *given)
    assert done.exit_code == 0, done.stderr
    assert "! keys" in done.stdout
    assert f"{path}:8: Did you mean `env`?" in done.stdout
    assert "✓ list_changed" in done.stdout
    steps = json.loads(toolsight("doctor", "weather", "--client", "codex", *given, "--json").stdout)
    assert [one["name"] for one in steps][:2] == ["file", "keys"]
    lost = toolsight("doctor", "off", *given)
    assert (lost.exit_code, "off is turned off" in lost.stdout) == (1, True)
    assert toolsight("doctor", "wether", *given).exit_code == 2


@pytest.mark.parametrize(
    ("tools", "told"), [(13, "every tool is bound"), (14, "their own names find 14 of 14")]
)
async def test_a_client_that_searches_by_pattern_is_asked_for_one(tools: int, told: str) -> None:
    server = MemoryServer([Tool("shop", f"order{number}_list") for number in range(10, 10 + tools)])
    async with connected(servers={"shop": server}, configuration=_own()) as rig:
        rig.bench.change_setting("discovery.ranker", "copilot-cli")
        steps = session_steps(rig.bench, "shop", find_client("copilot-cli"))
        assert told in next(step.found for step in steps if step.name == "deferral")
