"""Servers are added to a configuration's file and taken out again; nothing else in it changes."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from inspector.config import text_edit
from inspector.config.configuration import Configuration, target
from inspector.config.file import parse_object
from inspector.config.reader import read
from inspector.config.server_change import ConfigurationEditor
from inspector.config.text_edit import with_item, without_member
from inspector.core.error import ConfigError
from inspector.core.package_run import PackageKind
from inspector.core.redaction import clean
from inspector.features.marketplace.plugin import Package, Plugin, Variable, concealed_values, server_entry
from tests.support.any_json import any_json

ENTRY = {"command": "uvx", "args": ["mcp-server-time@1"], "env": {"ZONE": "UTC"}}
EDITOR = ConfigurationEditor({"HOME": "/home/ada"})
TEXTS = {
    "inline": '{"mcpServers": {"a": {"command": "x"}}, "other": [1,  2]}',
    "comments": '{\n  // mine\n  "mcpServers": {\n    "a": {"command": "x"} // note, }\n  }\n}\n',
    "tabs and trailing commas": '{\n\t"mcpServers": {\n\t\t"a": {\n\t\t\t"command": "x",\n\t\t},\n\t},\n}\n',
    "windows": '{\r\n  "servers": {\r\n    "a": {"command": "}"}, /* b */\r\n    "c": {"command": "y"}'
    "\r\n  }\r\n}",
    "settings of an editor": '{\n  "x": 1,\n  "mcp": {\n    "servers": {\n      "a": {"command": "x"}'
    "\n    }\n  }\n}",
}


def _file(folder: Path, text: str, name: str = "mcp.json") -> tuple[Path, Configuration]:
    path = folder / name
    path.write_bytes(text.encode())
    return path, read(path, environment={})


@pytest.mark.parametrize("name", TEXTS)
def test_a_server_comes_and_goes_and_every_other_character_stays(tmp_path: Path, name: str) -> None:
    path, configuration = _file(tmp_path, TEXTS[name])
    becomes = EDITOR.with_server(configuration, "time", ENTRY)
    assert becomes.change is not None
    assert [spec.name for spec in becomes.configuration.servers][-1] == "time"
    backup = EDITOR.write(becomes.change)
    assert Path(backup).read_bytes() == TEXTS[name].encode()
    after = read(path, environment={})
    assert after.servers[-1].args == ("mcp-server-time@1",)
    assert after.consent_items() == becomes.configuration.consent_items()
    gone = EDITOR.without_server(after, "time")
    assert gone.change is not None
    EDITOR.write(gone.change)
    assert path.read_bytes() == TEXTS[name].encode()


_JSON = any_json()


@given(
    members=st.dictionaries(st.text(max_size=6), _JSON, min_size=1, max_size=4),
    indent=st.sampled_from([None, 0, 1, 2, "\t"]),
    key=st.text(max_size=6),
    value=_JSON,
)
def test_any_member_is_added_behind_the_others_and_removed_without_a_trace(
    members: dict[str, Any], indent: Any, key: str, value: Any
) -> None:
    members.pop(key, None)
    if not members:
        return
    text = json.dumps({"before": "{", "in": members, "after": ["}"]}, indent=indent)
    added = with_item(text, ("in", key), value)
    parsed = parse_object(Path("x.json"), added)
    assert list(parsed["in"].items()) == [*members.items(), (key, value)]
    assert without_member(added, ("in",), key) == text
    for other in members:
        left = parse_object(Path("x.json"), without_member(added, ("in",), other))
        assert left["in"] == {name: one for name, one in parsed["in"].items() if name != other}


@given(
    members=st.dictionaries(st.text(max_size=6), _JSON, min_size=1, max_size=4),
    indent=st.sampled_from([None, 0, 2, "\t"]),
    value=_JSON,
    data=st.data(),
)
def test_any_value_is_replaced_and_nothing_else_changes(
    members: dict[str, Any], indent: Any, value: Any, data: st.DataObject
) -> None:
    key = data.draw(st.sampled_from(sorted(members)))
    text = json.dumps({"before": "{", "in": members, "after": ["}"]}, indent=indent)
    replaced = with_item(text, ("in", key), value)
    assert parse_object(Path("x.json"), replaced)["in"] == {**members, key: value}
    assert replaced.startswith(text[: text.index('"in"')])
    assert replaced.endswith(text[text.rindex('"after"') :])


TOML = """[s.a]   # mine
command = "x"
tools = [
  "one", # first
]
[s.b]
enabled = true # yet
[s]
c = { command = "x" }
"""
YAML = """s:
  a:
    cmd: x
    tools:
      - one
      - two
  b: {cmd: x, enabled: true}
  c:
    # mine
    url: y
"""


@pytest.mark.parametrize("server", ["a", "b", "c"])
@pytest.mark.parametrize("item", [("tools", ["t", 'a"b\n', "é"]), ("enabled", False)])
@pytest.mark.parametrize(("suffix", "text"), [(".toml", TOML), (".yaml", YAML)])
def test_a_list_or_a_switch_is_set_in_toml_and_yaml_and_comments_stay(
    suffix: str, text: str, server: str, item: tuple[str, Any]
) -> None:
    wanted = text_edit.parsed(text, suffix)
    wanted["s"][server][item[0]] = item[1]
    after = text_edit.with_item(text, ("s", server, item[0]), item[1], suffix)
    assert text_edit.parsed(after, suffix) == wanted
    assert "# mine" in after


def test_a_list_over_several_lines_stays_one() -> None:
    text = '{\n\t"deny": [\n\t\t"a"\n\t],\n\t"x": ["b"]\n}\n'
    longer = with_item(text, ("deny",), ["a", "c"])
    assert longer == text.replace('"a"', '"a",\n\t\t"c"')
    assert with_item(text, ("x",), ["b", "c"]) == text.replace('["b"]', '["b", "c"]')


def test_what_is_missing_on_the_way_comes_with_a_value_and_a_text_in_the_way_is_refused() -> None:
    assert json.loads(with_item("{}", ("a", "b", "c"), [1])) == {"a": {"b": {"c": [1]}}}
    with pytest.raises(KeyError):
        with_item('{"a": "b"}', ("a", "b"), 1)


def test_the_diff_has_the_change_and_no_secret(tmp_path: Path) -> None:
    _, configuration = _file(tmp_path, TEXTS["comments"])
    entry = {**ENTRY, "env": {"API_KEY": "sk-abcdefgh12345678"}}
    becomes = EDITOR.with_server(configuration, "time", entry)
    diff = "\n".join(becomes.diff(clean))
    assert '+    "time": {' in diff
    assert "sk-abcdefgh12345678" not in diff
    assert "[redacted" in diff


def test_of_a_client_of_oauth_only_what_is_secret_is_hidden(tmp_path: Path) -> None:
    oauth = {"clientSecret": "s3cret-At-Issuer", "clientId": "a-client", "grant": "client_credentials"}
    entry = {"url": "https://notes.example/mcp", "oauth": oauth}
    _, configuration = _file(tmp_path, json.dumps({"mcpServers": {"notes": entry}}, indent=2))
    becomes = EDITOR.with_server(configuration, "time", ENTRY)
    diff = "\n".join(becomes.diff(clean))
    assert '"grant": "client_credentials"' in diff
    assert "s3cret-At-Issuer" not in diff


def test_a_file_that_was_changed_meanwhile_is_left_alone_without_a_backup(tmp_path: Path) -> None:
    path, configuration = _file(tmp_path, TEXTS["inline"])
    becomes = EDITOR.with_server(configuration, "time", ENTRY)
    path.write_text(TEXTS["comments"])
    assert becomes.change is not None
    with pytest.raises(ConfigError, match="changed in the meantime"):
        EDITOR.write(becomes.change)
    assert path.read_text() == TEXTS["comments"]
    assert [one.name for one in tmp_path.iterdir()] == ["mcp.json"]


def test_a_read_only_file_is_refused_before_anything_is_started(tmp_path: Path) -> None:
    path, configuration = _file(tmp_path, TEXTS["inline"])
    path.chmod(0o444)
    with pytest.raises(ConfigError, match="read-only"):
        EDITOR.with_server(configuration, "time", ENTRY)


def test_no_backup_replaces_an_earlier_one_and_a_link_stays_a_link(tmp_path: Path) -> None:
    path, _ = _file(tmp_path, TEXTS["inline"], "real.json")
    link = tmp_path / "link.json"
    link.symlink_to(path)
    for name in ("one", "two"):
        change = EDITOR.with_server(read(link, environment={}), name, ENTRY).change
        assert change is not None
        EDITOR.write(change)
    assert link.is_symlink()
    assert sorted(one.name for one in tmp_path.iterdir()) == [
        *("link.json", "real.json", "real.json.bak", "real.json.bak2")
    ]
    assert (tmp_path / "real.json.bak").read_text() == TEXTS["inline"]


def test_other_formats_are_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("[mcp_servers]")
    with pytest.raises(ConfigError, match="is not JSON") as refused:
        EDITOR.with_server(Configuration(str(path), ()), "time", ENTRY)
    assert "by hand" in refused.value.hint


def test_a_server_that_a_toolset_names_is_not_removed(tmp_path: Path) -> None:
    sets = '{"tool_sets": {"t": {"servers": {"a": true}}}, '
    text = f'{sets}"mcpServers": {{"a": {{"command": "x"}}, "b": {{"command": "y"}}}}}}'
    path, configuration = _file(tmp_path, text)
    with pytest.raises(ConfigError, match="is not a configured server"):
        EDITOR.without_server(configuration, "a")
    assert path.read_text() == text


def test_what_has_no_file_of_the_person_s_own_changes_for_the_session_alone(tmp_path: Path) -> None:
    _, configuration = _file(tmp_path, TEXTS["inline"])
    becomes = EDITOR.with_server(replace(configuration, trusted=True), "time", ENTRY)
    assert becomes.change is None
    assert "Nothing is saved" in becomes.note
    assert becomes.configuration.servers[-1].defer_loading


def test_the_only_server_can_be_removed_and_another_one_added(tmp_path: Path) -> None:
    text = '{"mcpServers": {"a": {"command": "x"}}, "other": 1}'
    path, configuration = _file(tmp_path, text)
    becomes = EDITOR.without_server(configuration, "a")
    assert becomes.configuration.servers == ()
    assert becomes.change is not None
    EDITOR.write(becomes.change)
    assert json.loads(path.read_text()) == {"mcpServers": {}, "other": 1}
    again = EDITOR.with_server(becomes.configuration, "time", ENTRY).change
    assert again is not None
    EDITOR.write(again)
    assert [spec.name for spec in read(path, environment={}).servers] == ["time"]


def test_the_new_file_and_the_backup_are_the_owner_s_alone_from_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, configuration = _file(tmp_path, TEXTS["inline"])
    path.chmod(0o600)
    change = EDITOR.with_server(configuration, "time", ENTRY).change
    modes: set[int] = set()

    def seen(_number: int) -> None:
        modes.update(stat.S_IMODE(one.stat().st_mode) for one in tmp_path.iterdir())

    monkeypatch.setattr(os, "fsync", seen)
    assert change is not None
    EDITOR.write(change)
    assert modes == {0o600}
    assert {stat.S_IMODE(one.stat().st_mode) for one in tmp_path.iterdir()} == {0o600}


@pytest.mark.parametrize("at", [1, 2])
def test_a_full_disk_leaves_the_file_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    path, configuration = _file(tmp_path, TEXTS["inline"])
    change = EDITOR.with_server(configuration, "time", ENTRY).change
    written = 0

    def full(_number: int) -> None:
        nonlocal written
        written += 1
        if written == at:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert change is not None
    with pytest.raises(ConfigError, match="No space left"):
        EDITOR.write(change)
    assert written == at
    assert path.read_text() == TEXTS["inline"]
    assert list(tmp_path.iterdir()) == [path]


def test_a_reference_on_a_command_line_is_told_as_it_was_written(tmp_path: Path) -> None:
    _, configuration = _file(tmp_path, TEXTS["inline"])
    editor = ConfigurationEditor({"API_TOKEN": "hunter2-blue-Horse9", "PLACE": "violet-Garden7"})
    key = Variable("key", required=True, secret=True, place="text")
    package = Package(PackageKind.MODULE, "", command="x", args=("--api", "{key}"), variables=(key,))
    plugin = Plugin("sec", "", package)
    for name, value in (("API_TOKEN", "hunter2-blue-Horse9"), ("PLACE", "violet-Garden7")):
        given = {"key": f"${{{name}}}"}
        spec = editor.with_server(configuration, "sec", server_entry(plugin, given)).configuration.servers[-1]
        assert spec.args == ("--api", value)
        assert concealed_values(plugin, given, spec) == {"key.0": value}
    own = editor.with_server(configuration, "own", {"command": "x", "args": ["run", "${API_TOKEN}"]})
    assert target(own.configuration.servers[-1]) == "x run ${API_TOKEN}"
