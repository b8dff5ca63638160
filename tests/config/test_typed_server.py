"""A server named on the command line: what it is started with, and what it is called."""

import json
from pathlib import Path

import pytest

from inspector.config.file import names_a_server
from inspector.config.program import child_environment
from inspector.config.reader import server_name, typed_configuration
from inspector.core.server import ServerSpec


def typed(*words: str) -> ServerSpec:
    (spec,) = typed_configuration(words, environment={}).servers
    return spec


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "server.py").write_text("")
    return tmp_path


def test_a_script_runs_with_the_environment_beside_it(folder: Path) -> None:
    own = folder / ".venv" / "bin" / "python"
    own.parent.mkdir(parents=True)
    own.write_text("")
    assert typed("server.py").command == str(own)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("python", "tools/my_server.py"), "my_server"),
        (("sh", "-c", "true"), "sh"),
        (("env", "-y", "@scope/server-files@1.2"), "server-files"),
        (("https://mcp.example.com/mcp",), "mcp.example.com"),
        (("node", "/opt/app/node_modules/@playwright/mcp/cli.js"), "playwright"),
        (("node", "../node_modules/@scope/server-files/dist/index.js"), "server-files"),
        (("node", "node_modules/.pnpm/x@1/node_modules/mcp-shop/build/index.js"), "mcp-shop"),
        (("node", "/opt/shop/build/index.js", "-m", "x"), "shop"),
        (("npx", "-y", "@playwright/mcp@latest", "--headless"), "playwright"),
        (("npx", "--yes", "--package", "@scope/server-files@1.2", "start"), "server-files"),
        (("uvx", "mcp-server-git==1.2", "--repository", "/a/b"), "mcp-server-git"),
        (("uvx", "--from", "git-tools[all]", "serve"), "git-tools"),
        (("docker", "run", "-i", "--rm", "-e", "KEY", "mcp/github:1.2"), "github"),
        (("docker", "run", "-i", "ghcr.io/github/github-mcp-server@sha256:0a"), "github-mcp-server"),
        (("python", "-m", "mcp_server_fetch", "--user-agent", "x/y"), "mcp_server_fetch"),
        (("python", "-m", "shop.server"), "shop"),
        (("python", "/lib/python3.11/site-packages/mcp_server_git/__main__.py"), "mcp_server_git"),
        (("uv", "run", "--with", "mcp", "mcp-server-time"), "mcp-server-time"),
        (("/opt/shop/.venv/bin/mcp-server-shop", "--stdio"), "mcp-server-shop"),
        (("server.py",), "server"),
    ],
)
def test_a_server_is_called_after_its_script_package_or_host(words: tuple[str, ...], name: str) -> None:
    assert server_name(words) == name


def test_a_configuration_is_read_as_one_with_the_values_it_asks_for_and_still_needs_consent(
    folder: Path,
) -> None:
    servers = {"a": {"command": "x", "env": {"KEY": "${input:key}"}}, "b": {"command": "y"}}
    (folder / "mcp.json").write_text(json.dumps({"servers": servers}))
    found = typed_configuration(("mcp.json",), environment={}, inputs={"key": "given"})
    assert [(spec.name, spec.env) for spec in found.servers] == [("a", {"KEY": "given"}), ("b", {})]
    assert not found.trusted


def test_a_secret_on_the_command_line_is_not_part_of_what_is_recorded() -> None:
    words = ("sh", "--api-key", "hunter2", "--token=hunter3", "x")
    found = typed_configuration(words, environment={})
    assert "hunter" not in found.source
    assert "hunter2" in found.servers[0].argv
    assert "hunter" not in typed_configuration(("https://u:hunter@a/mcp?key=hunter",), environment={}).source


def test_who_types_a_command_has_agreed_to_it_and_gives_it_the_variables_of_the_shell() -> None:
    assert typed_configuration(("sh", "-c", "true"), environment={}).trusted
    shell = {"GITHUB_TOKEN": "t", "PATH": "/bin"}
    assert child_environment(typed("sh"), shell) == shell
    assert "GITHUB_TOKEN" not in child_environment(ServerSpec("a", command="sh"), shell)


@pytest.mark.usefixtures("folder")
def test_without_dashes_only_what_can_be_nothing_else_is_a_server() -> None:
    assert names_a_server(["server.py"])
    assert names_a_server(["http://127.0.0.1:9/mcp"])
    assert names_a_server(["sh", "-c", "true"])
    assert not names_a_server(["sh"])
    assert not names_a_server(["serach", "late orders"])
