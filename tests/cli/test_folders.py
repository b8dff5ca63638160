"""Which servers may learn the folder that Toolsight runs in, and what a person is told of it before."""

import json
from pathlib import Path
from typing import Any

import pytest

from inspector.cli.configuration import read_configuration
from inspector.cli.launch import options_as
from inspector.cli.location import shipped_scenarios
from inspector.cli.options import Options
from inspector.clients.client import find_client
from inspector.config.configuration import Configuration
from inspector.config.consent import describe
from inspector.core.error import ConfigError
from inspector.features.lab import open_lab as lab
from inspector.features.lab.open_lab import open_lab
from inspector.features.lab.scenario import load_scenario


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    servers = {"open": {"command": "sh"}, "far": {"url": "https://far.example/mcp"}}
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    return path


def told(options: Options) -> dict[str, tuple[str, ...]]:
    """The folders that the question names, by server."""
    return {server.name: server.folders for server in describe(read_configuration(options).unrestricted)}


def test_the_question_says_which_servers_may_ask_for_the_folder(config: Path, tmp_path: Path) -> None:
    folder = (str(tmp_path),)
    assert told(Options(config=config)) == {"open": folder, "far": folder}
    shown = describe(read_configuration(Options(config=config)).unrestricted)[0].facts()
    assert [fact.text for fact in shown if fact.label == "may ask"] == [
        f"which folder Toolsight runs in: {tmp_path}"
    ]


@pytest.mark.parametrize(
    "declares_roots", [False, True], ids=["as itself", "as a client that declares roots"]
)
@pytest.mark.parametrize(
    ("values", "learns"), [({}, False), ({"client.roots": True}, True), ({"client.roots": False}, False)]
)
def test_a_typed_address_learns_no_folder_unless_that_is_typed_too(
    values: dict[str, Any], learns: bool, declares_roots: bool
) -> None:
    typed = Options(server=("https://far.example/mcp",), values=values)
    if declares_roots:
        client = find_client("claude-code")
        assert client.declares.roots
        typed = options_as(typed, client)
    configuration = read_configuration(typed).unrestricted
    assert bool(configuration.folders) is learns
    assert configuration.client.roots is values.get("client.roots", True)


async def test_a_scenario_lets_no_typed_address_learn_the_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made: list[Configuration] = []

    def make(configuration: Configuration, *_others: Any, **_more: Any) -> None:
        made.append(configuration)
        raise ConfigError("no session is needed")

    monkeypatch.setattr(lab, "make_workbench", make)
    typed = Options(server=("https://far.example/mcp",), database=tmp_path / "t.db")
    scenario = load_scenario(shipped_scenarios()[0]).model_copy(update={"settings": {"client.roots": True}})
    with pytest.raises(ConfigError):
        async with open_lab(scenario, typed):
            pass
    assert [(one.client.roots, one.folders) for one in made] == [(True, ())]
