"""How clients and programs are started: what their files say, what they are called, what they bring along."""

import ast
import json
import sys
import tomllib
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, strategies as st

from inspector.core.error import ConfigError
from inspector.features.clients.measured.own_program import (
    SERVERS,
    frameworks,
    own_name,
    own_start,
    samples,
)
from inspector.features.clients.measured.program import OUTPUT, environment, said_last
from inspector.features.clients.measured.start import LOG, STARTS, Setting, Start, client_start

WORDS = st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), min_size=1, max_size=12)
NAMES = st.from_regex(r"[a-z][a-z0-9-]{0,9}", fullmatch=True)


def setting(servers: Mapping[str, tuple[str, ...]], model: str = "", wire: str = "") -> Setting:
    folder = Path("/tmp/of-its-own")
    return Setting(folder, "http://127.0.0.1:1/key", servers, folder / "log", model, slow=False, wire=wire)


def leaves(data: Any) -> Iterator[Any]:
    """Every value of the data, and of those in it."""
    yield data
    for one in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        yield from leaves(one)


def read(path: str, text: str) -> Any:
    if path.endswith(".toml"):
        return tomllib.loads(text)
    data = yaml.safe_load(text) if path.endswith(".yaml") else json.loads(text)
    assert data == json.loads(text)
    return data


WIRES = [(name, wire) for name, how in STARTS.items() for wire in how.get("by_wire", ())]


@pytest.mark.parametrize(("name", "wire"), WIRES)
def test_an_api_that_is_chosen_is_what_a_client_is_pointed_at(name: str, wire: str) -> None:
    start = client_start(name, setting({"one": ("server",)}, wire=wire))
    told = str([start.variables, start.files])
    assert ("http://127.0.0.1:1/key/v1" in told) is (wire != "messages")
    assert "anthropic" in told or wire != "messages"
    assert not any(place in told for place in ("{type}", "{base}", "{model}"))


def test_a_clients_api_goes_by_its_model_and_one_that_it_does_not_speak_is_refused() -> None:
    by_model = client_start("copilot-cli", setting({}, "claude-sonnet-4.5")).variables
    assert by_model["COPILOT_PROVIDER_TYPE"] == "anthropic"
    droid = client_start("droid", setting({}, wire="responses")).files[".factory/settings.json"]
    assert json.loads(droid)["customModels"][0]["provider"] == "openai"
    with pytest.raises(ConfigError, match="kimi-code is not known to speak responses to its model"):
        client_start("kimi-code", setting({}, wire="responses"))


@pytest.mark.parametrize("name", STARTS)
@given(servers=st.dictionaries(NAMES, st.lists(WORDS, min_size=1, max_size=3).map(tuple), min_size=1))
def test_a_clients_files_have_each_server_as_it_is(name: str, servers: dict[str, tuple[str, ...]]) -> None:
    start = client_start(name, setting(servers))
    values = [one for path, text in start.files.items() for one in leaves(read(path, text))]
    for line in servers.values():
        shapes = ({"command": line[0], "args": list(line[1:])}, {"command": list(line)})
        assert any(isinstance(one, dict) and one | shape == one for one in values for shape in shapes)
    assert {LOG: "/tmp/of-its-own/log"} in values
    told = [*start.argv, *start.variables.values(), *values]
    places = {"{openai}", "{model}", "{servers}", "{folder}", "{name}"}
    # A server's own words may look like places.
    assert not any(place in str(told) for place in places if place not in str(servers))
    assert any("http://127.0.0.1:1/key" in str(one) for one in told)
    assert all((Path("/tmp/of-its-own") / path).is_relative_to("/tmp/of-its-own") for path in start.files)


def test_a_model_is_asked_for_by_its_own_api() -> None:
    servers = {"a": ("b",)}
    claude = client_start("copilot-cli", setting(servers, "claude-sonnet-4.5")).variables
    assert claude["COPILOT_PROVIDER_TYPE"] == "anthropic"
    assert not claude["COPILOT_PROVIDER_BASE_URL"].endswith("/v1")
    assert client_start("codex", setting(servers, "gpt-5.5")).argv[-1] == "gpt-5.5"
    assert "--model" not in client_start("codex", setting(servers)).argv


def test_a_client_gets_no_variable_of_the_persons_and_their_program_no_secret(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("MISTRAL_API_KEY", "HF_TOKEN", "HTTPS_PROXY", "VIRTUAL_ENV"):
        monkeypatch.setenv(name, "own-value-12")
    given = setting({"a": ("b",)})
    theirs = environment(own_start(["b"], given), given)
    assert [name for name, value in theirs.items() if value == "own-value-12"] == [
        "HTTPS_PROXY",
        "VIRTUAL_ENV",
    ]
    assert json.loads(theirs[SERVERS])["mcpServers"]["a"]["command"] == "b"
    assert "own-value-12" not in environment(Start(("b",), {}), given).values()


def test_a_programs_name_and_frameworks_are_those_of_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    packages = {"@mastra/mcp": {"version": "2.0.1"}, "ai": {"version": "7.1.0"}, "left-pad": {"version": "1"}}
    for name, about in packages.items():
        package = tmp_path / "node_modules" / name / "package.json"
        package.parent.mkdir(parents=True)
        package.write_text(json.dumps(about))
    (tmp_path / "mine.mjs").touch()
    words = ("node", "--no-warnings", "mine.mjs")
    assert (own_name(words), frameworks(words, {})) == ("mine", "ai 7.1.0, @mastra/mcp 2.0.1")
    assert own_name(("python", "-m", "mine.agent")) == "mine.agent"
    assert frameworks(("no-such-python", "x"), {}) == "ai 7.1.0, @mastra/mcp 2.0.1"
    assert frameworks((str(tmp_path / "python3"), "x"), {}) == ""
    (tmp_path / "agent").write_text(f"#!{sys.executable}\n")
    assert f"mcp {metadata.version('mcp')}" in frameworks((str(tmp_path / "agent"),), {})


@pytest.mark.parametrize("name", samples())
def test_a_sample_uses_the_servers_it_is_given(name: str) -> None:
    code = samples()[name]["code"]
    assert SERVERS in code
    assert len(code.splitlines()) <= 14
    if samples()[name]["installs"].startswith("pip"):
        ast.parse(code)


@pytest.mark.parametrize(
    ("printed", "last"),
    [
        ("", ""),
        ("Log in.\n\n", "Log in."),
        ("  | a.McpError: not found\n  +-----\nNode.js v24\n", "a.McpError: not found"),
        (
            "McpError: not found\n    at McpError.fromError (file:///own/x.js:2:3)\nNode.js v24.2.0\n",
            "McpError: not found",
        ),
        (
            '[$ZodError: [\n  {\n    "path": ["tools", 1]\n  }\n]]\n',
            '[$ZodError: [ { "path": ["tools", 1] } ]]',
        ),
        ("│ Error: no key │\nFor further information visit errors.example\n", "Error: no key"),
    ],
)
def test_what_a_program_said_last_is_its_error(tmp_path: Path, printed: str, last: str) -> None:
    (tmp_path / OUTPUT).write_text(printed, encoding="utf-8")
    assert said_last(tmp_path) == last
