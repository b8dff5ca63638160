"""The gateway in a client's file: what it says then, and that it gets the same bytes back."""

import json
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from inspector.core.error import ConfigError
from inspector.features.gateway.placing import Place, placed, removed
from tests.support.commands import (
    Toolsight,
    database as database,
    demo_vectors as demo_vectors,
    servers_in_process as servers_in_process,
    toolsight as toolsight,
    variables as variables,
)

WORDS = ["/opt/toolsight", "gateway", "--config", '/home/me/it\'s "mine".json']
CLAUDE = (
    '{\n  "startups": 3,\n  "mcpServers": {\n    "a": {"command": "x"}, '
    '"b": {"url": "https://b.example"}\n  }\n}\n'
)
CODEX = (
    '# mine\nmodel = "m"\n[mcp_servers.a]\ncommand = "x"\n[mcp_servers.a.env]\nK = "v"\n\n[other]\ny = 1\n'
)
OPENCODE = '{"mcp": {"a": {"type": "local", "command": ["x"]}}, // mine\n "theme": "t"}'
FILES = {
    ".claude.json": (CLAUDE, ("mcpServers",)),
    "config.toml": (CODEX, ("mcp_servers",)),
    "opencode.jsonc": (OPENCODE, ("mcp",)),
}


@pytest.fixture(params=FILES)
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    text, section = FILES[request.param]
    path = tmp_path / request.param
    path.write_text(text, encoding="utf-8")
    (tmp_path / "copy").write_text(text, encoding="utf-8")
    return Place(path, section, tmp_path / "copy")


def test_one_server_stands_there_and_all_else_stays(where: Place) -> None:
    original = where.path.read_text(encoding="utf-8")
    after = placed(original, where, WORDS)
    read = (
        tomllib.loads
        if where.path.suffix == ".toml"
        else lambda text: json.loads(text.replace("// mine", ""))
    )
    [entry] = read(after).pop(where.section[0]).values()
    started = entry["command"] if isinstance(entry["command"], list) else [entry["command"], *entry["args"]]
    assert started == WORDS
    kept, changed = read(original), read(after)
    assert {**kept, where.section[0]: 0} == {**changed, where.section[0]: 0}
    assert ("mine" in after) is ("mine" in original) or where.path.suffix != ".jsonc"


def test_the_file_gets_the_same_bytes_back(where: Place) -> None:
    original = where.path.read_text(encoding="utf-8")
    where.path.write_text(placed(original, where, WORDS), encoding="utf-8")
    assert removed(where.path.read_text(encoding="utf-8"), where, original) == original


def test_servers_come_back_into_a_file_that_its_client_has_changed_since(tmp_path: Path) -> None:
    path, copy = tmp_path / ".claude.json", tmp_path / "copy"
    where = Place(path, ("mcpServers",), copy)
    path.write_text(placed(CLAUDE, where, WORDS).replace("3,", "4,"), encoding="utf-8")
    back = json.loads(removed(path.read_text(encoding="utf-8"), where, CLAUDE))
    assert back == {**json.loads(CLAUDE), "startups": 4}


@given(
    st.lists(
        st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=30), min_size=2, max_size=5
    )
)
def test_any_words_are_written_so_that_they_are_read_back(words: list[str]) -> None:
    where = Place(Path("config.toml"), ("mcp_servers",), Path("copy"))
    entry = tomllib.loads(placed(CODEX, where, words))["mcp_servers"]["toolsight"]
    assert [entry["command"], *entry["args"]] == words


def test_servers_written_in_another_way_are_left_to_the_person(tmp_path: Path) -> None:
    where = Place(tmp_path / "config.toml", ("mcp_servers",), tmp_path / "copy")
    with pytest.raises(ConfigError, match="way of their own"):
        placed('mcp_servers = { a = { command = "x" } }\n', where, WORDS)


def test_add_keeps_a_copy_for_the_owner_alone_and_remove_takes_it_away(
    toolsight: Toolsight, database: Path, tmp_path: Path
) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(CLAUDE, encoding="utf-8")
    assert toolsight("gateway", "add", "--config", str(path), "--yes").exit_code == 0
    [copy] = database.parent.glob("gateway/*/mcp.json")
    assert copy.read_text(encoding="utf-8") == CLAUDE
    assert copy.stat().st_mode & 0o077 == 0
    assert "already" in toolsight("gateway", "add", "--config", str(path), "--yes").stderr
    assert toolsight("gateway", "remove", "--config", str(path), "--yes").exit_code == 0
    assert path.read_text(encoding="utf-8") == CLAUDE
    assert not copy.exists()
