"""Clients' configuration files, and what they declare to servers."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from inspector.config.client import (
    PROJECT,
    USER,
    ClientConfiguration,
    ClientFile,
    Unreadable,
    client_files,
    read_client_file,
)
from inspector.config.configuration import protocol_form, setting_values
from inspector.config.setting import with_values
from inspector.core.server import ServerSpec
from inspector.core.settings import ClientCapabilities, Settings

HOME, FOLDER = Path("/home/ada"), Path("/projects/engine")
NOTHING: Mapping[str, str] = {}


def paths(platform: str, environment: Mapping[str, str] = NOTHING) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for file in client_files(HOME, FOLDER, platform, environment):
        found.setdefault(file.client, []).append(file.path.as_posix())
    return found


def written(path: Path, content: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def read(client: str, path: Path, environment: Mapping[str, str] = NOTHING, **inputs: str) -> list[Any]:
    return list(read_client_file(ClientFile(client, path), environment=environment, inputs=inputs))


def as_written(found: ClientConfiguration) -> list[ServerSpec]:
    """The servers without what this machine and the environment add to them."""
    return [replace(spec, program=None, expansions=()) for spec in found.configuration.servers]


def names(found: ClientConfiguration) -> list[str]:
    return [spec.name for spec in found.configuration.servers]


def test_every_client_has_its_places_on_linux() -> None:
    found = paths("linux")
    assert found["Claude Desktop"] == ["/home/ada/.config/Claude/claude_desktop_config.json"]
    assert found["Claude Code"] == ["/home/ada/.claude.json", "/projects/engine/.mcp.json"]
    assert found["Cursor"] == ["/home/ada/.cursor/mcp.json", "/projects/engine/.cursor/mcp.json"]
    assert found["VS Code"] == [
        "/home/ada/.config/Code/User/mcp.json",
        "/home/ada/.config/Code/User/settings.json",
        "/projects/engine/.vscode/mcp.json",
    ]
    assert "/home/ada/.config/Code - Insiders/User/mcp.json" in found["VS Code Insiders"]
    assert found["Windsurf"] == ["/home/ada/.codeium/windsurf/mcp_config.json"]
    assert (
        "/home/ada/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"
        in found["Cline"]
    )
    assert found["Gemini CLI"] == [
        "/home/ada/.gemini/settings.json",
        "/projects/engine/.gemini/settings.json",
    ]
    assert found["Toolsight"] == ["/projects/engine/toolsight.json"]


@pytest.mark.parametrize(
    ("platform", "environment", "folder"),
    [
        ("linux", {"XDG_CONFIG_HOME": "/elsewhere"}, "/elsewhere"),
        ("darwin", {"XDG_CONFIG_HOME": "/elsewhere"}, "/home/ada/Library/Application Support"),
        ("win32", {}, "/home/ada/AppData/Roaming"),
        ("win32", {"APPDATA": "/roaming"}, "/roaming"),
    ],
)
def test_desktop_applications_keep_theirs_where_the_platform_says(
    platform: str, environment: dict[str, str], folder: str
) -> None:
    found = paths(platform, environment)
    assert found["Claude Desktop"] == [f"{folder}/Claude/claude_desktop_config.json"]
    assert found["VS Code"][0] == f"{folder}/Code/User/mcp.json"


def test_a_file_that_is_of_the_user_and_of_the_folder_is_told_once() -> None:
    found = [file for file in client_files(HOME, HOME, "linux", {}) if file.client == "Cursor"]
    assert found == [ClientFile("Cursor", HOME / ".cursor" / "mcp.json", USER)]


def test_profiles_of_an_editor_have_files_of_their_own(tmp_path: Path) -> None:
    path = written(tmp_path / ".config/Code/User/profiles/-4f2a/mcp.json", {})
    assert ClientFile("VS Code", path) in client_files(tmp_path, tmp_path, "linux", {})


def test_claude_code_has_servers_for_the_user_and_for_each_project(tmp_path: Path) -> None:
    path = written(
        tmp_path / ".claude.json",
        {
            "numStartups": 3,
            "settings": {"theme": "dark"},
            "mcpServers": {"a": {"command": "a"}},
            "projects": {
                "/x": {"allowedTools": [], "mcpServers": {"b": {"type": "stdio", "command": "b"}}},
                "/y": {"mcpServers": {}},
                "/z": {},
            },
        },
    )
    user, project = read("Claude Code", path)
    assert (user.scope, names(user)) == (USER, ["a"])
    assert (project.scope, names(project)) == (f"{PROJECT} /x", ["b"])
    assert user.configuration.source == str(path)


def test_a_fault_in_one_project_leaves_the_others(tmp_path: Path) -> None:
    projects = {"/x": {"mcpServers": ["b"]}, "/y": {"mcpServers": {"c": {"command": "c"}}}}
    broken, whole = read("Claude Code", written(tmp_path / ".claude.json", {"projects": projects}))
    assert isinstance(broken, Unreadable)
    assert (broken.scope, broken.path) == (f"{PROJECT} /x", tmp_path / ".claude.json")
    assert names(whole) == ["c"]


def test_the_user_settings_of_vs_code_hold_the_servers_among_other_keys(tmp_path: Path) -> None:
    settings = {
        "editor.fontSize": 12,
        "profile": "mine",
        "mcp": {
            "inputs": [{"id": "key", "type": "promptString"}],
            "servers": {"a": {"command": "a", "env": {"KEY": "${input:key}"}}},
        },
    }
    (found,) = read("VS Code", written(tmp_path / "settings.json", settings), key="k")
    assert as_written(found) == [ServerSpec("a", "a", env={"KEY": "k"})]


@pytest.mark.parametrize("client", ["Gemini CLI", "Qwen Code"])
def test_gemini_takes_variables_without_braces(tmp_path: Path, client: str) -> None:
    entry = {"command": "a", "args": ["--key=$KEY", "${KEY}"], "env": {"K": "$KEY", "N": 5}, "trust": True}
    settings = {"mcp": {"allowed": ["a"]}, "mcpServers": {"a": entry}, "theme": "x"}
    (found,) = read(client, written(tmp_path / "settings.json", settings), {"KEY": "k"})
    assert as_written(found) == [ServerSpec("a", "a", args=("--key=k", "k"), env={"K": "k", "N": "5"})]


@pytest.mark.parametrize("client", ["Gemini CLI", "Qwen Code"])
@pytest.mark.parametrize(
    ("lists", "taken"),
    [({"allowed": ["a", "b"]}, "ab"), ({"excluded": ["a"]}, "bc"), ({"allowed": 5}, "abc")],
)
def test_gemini_takes_the_servers_that_are_allowed(
    tmp_path: Path, client: str, lists: Mapping[str, object], taken: str
) -> None:
    settings = {"mcp": lists, "mcpServers": {name: {"command": name} for name in "abc"}}
    (found,) = read(client, written(tmp_path / "settings.json", settings))
    assert names(found) == list(taken)


def test_a_server_without_its_key_does_not_spoil_the_others(tmp_path: Path) -> None:
    servers = {
        "a": {"command": "a"},
        "b": {"command": "b", "env": {"TOKEN": "${SOME_TOKEN}"}},
        "c": {"command": 5},
        "d": {"url": "https://d.example/mcp", "headers": {"X": "${input:secret}"}},
    }
    (found,) = read("Cursor", written(tmp_path / "mcp.json", {"mcpServers": servers}))
    assert names(found) == ["a", "b", "d"]
    assert [spec.lacks for spec in found.configuration.servers] == ["", "SOME_TOKEN", "input secret"]
    assert list(found.faults) == ["c"]
    assert "mcpServers.c.command" in found.faults["c"].message


@pytest.mark.parametrize("text", ["", "{", "[]", '{"mcpServers": {"a": {"command": "a"}}', "\x00\xff"])
def test_a_broken_file_is_told_with_its_error_and_a_hint(tmp_path: Path, text: str) -> None:
    (found,) = read("Cursor", written(tmp_path / "mcp.json", text))
    assert isinstance(found, Unreadable)
    assert str(tmp_path / "mcp.json") in found.error.message
    assert found.error.hint


clients = st.builds(
    ClientCapabilities,
    *(st.booleans() for _ in range(5)),
    name=st.sampled_from(("", "other")),
    version=st.sampled_from(("", "2.1")),
)


@pytest.mark.parametrize(
    ("client", "elicitation"),
    [
        (ClientCapabilities(links=False), {"form": {}}),
        (ClientCapabilities(forms=False), {"url": {}}),
        (ClientCapabilities(forms=False, links=False), None),
    ],
)
def test_each_way_of_asking_is_declared_by_itself(client: ClientCapabilities, elicitation: object) -> None:
    assert protocol_form(client).get("elicitation") == elicitation


@given(clients)
def test_the_settings_of_a_client_declare_exactly_that_client(client: ClientCapabilities) -> None:
    assert with_values(Settings(), setting_values(client)).client == client
