"""Which servers may learn the folder that Toolsight runs in, and what a person is told of it before."""

import json
from pathlib import Path
from typing import Any

import pytest

from inspector.cli.composition import read_configuration
from inspector.cli.options import Options
from inspector.domain.consent import describe


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    private = {"command": "sh", "client_capabilities": {"roots": False}}
    servers = {"open": {"command": "sh"}, "private": private, "far": {"url": "https://far.example/mcp"}}
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    return path


def told(options: Options) -> dict[str, tuple[str, ...]]:
    """The folders that the question names, by server."""
    return {server.name: server.folders for server in describe(read_configuration(options))}


def test_the_question_says_which_servers_may_ask_for_the_folder(config: Path, tmp_path: Path) -> None:
    folder = (str(tmp_path),)
    assert told(Options(config=config)) == {"open": folder, "private": (), "far": folder}
    shown = describe(read_configuration(Options(config=config)))[0].facts()
    assert [fact.text for fact in shown if fact.label == "may ask"] == [
        f"which folder Toolsight runs in: {tmp_path}"
    ]


def test_with_roots_off_no_server_may_ask_for_it(config: Path) -> None:
    assert set(told(Options(config=config, values={"client.roots": False})).values()) == {()}


@pytest.mark.parametrize(("values", "learns"), [({}, False), ({"client.roots": True}, True)])
def test_a_typed_address_learns_no_folder_unless_that_is_typed_too(
    values: dict[str, Any], learns: bool
) -> None:
    configuration = read_configuration(Options(server=("https://far.example/mcp",), values=values))
    assert bool(configuration.folders) is learns
