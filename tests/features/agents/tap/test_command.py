"""`tap add` and `tap remove` change one entry of a client's file, and give back the same bytes."""

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from inspector.config.client_format import passed_names
from inspector.config.entry_command import with_command_ahead, without_command_ahead
from inspector.config.file import load_object
from inspector.config.text_edit import entry_at, parsed
from inspector.features.agents.tap.pump import HEADER, TO_CLIENT, TO_SERVER
from inspector.features.agents.tap.recorder import record
from tests.support.commands import Toolsight

FILE = """{
\t// mine
\t"mcpServers": {
\t\t"shop": { "type": "stdio", "command": "np\\u0078", "args": [ "-y", "shop" ], "env": {"A": "1"} },
\t\t"bare": {"command": "serve"},
\t\t"empty": {"command": "serve", "args": []},
\t\t"far": {"type": "http", "headers": {"X-Ref": "1"}, "url": "https:\\/\\/example.com/mcp?a=b"},
\t\t"odd": {"type": "stdio", "url": "${FAR}/mcp"},
\t\t"key": {"url": "https://example.com/mcp?apiKey=sk-293923829382983"},
\t}
}\r
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("sys.argv", ["/opt/bin/toolsight"])
    path = tmp_path / ".mcp.json"
    path.write_bytes(b"\xef\xbb\xbf" + FILE.encode())
    return path


@pytest.mark.parametrize("server", ["shop", "bare", "empty", "far"])
def test_removing_a_tap_gives_back_the_same_bytes(toolsight: Toolsight, file: Path, server: str) -> None:
    before = file.read_bytes()
    file.with_name(".mcp.json.bak7").write_text("no backup of it", encoding="utf-8")
    added = toolsight("tap", "add", server, "--client", "claude-code", "--yes")
    assert added.exit_code == 0, added.stderr
    assert file.read_bytes() != before
    assert file.with_name(".mcp.json.bak").read_bytes() == before
    removed = toolsight("tap", "remove", server, "--client", "claude-code", "--yes")
    assert removed.exit_code == 0, removed.stderr
    assert file.read_bytes() == before


def test_a_tap_starts_what_the_entry_started_and_the_change_is_shown(
    toolsight: Toolsight, file: Path
) -> None:
    done = toolsight("tap", "add", "shop", "--config", str(file), "--yes")
    line = next(line for line in file.read_text("utf-8-sig").splitlines() if '"shop"' in line)
    assert f"+{line}" in done.stderr
    entry = json.loads(line.strip().removeprefix('"shop":').removesuffix(","))
    assert entry == {
        "type": "stdio",
        "command": "/opt/bin/toolsight",
        "args": ["tap", "--redact", "A", "--name", "shop", "--", "npx", "-y", "shop"],
        "env": {"A": "1"},
    }


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("add", "odd"), "stays as it is"),
        (("add", "key"), "a variable or a secret"),
        (("remove", "far"), "is not tapped"),
        (("add", "nobody"), "there is no server 'nobody'"),
        (("remove", "shop"), "is not tapped"),
    ],
)
def test_what_cannot_be_done_changes_nothing(
    toolsight: Toolsight, file: Path, words: tuple[str, ...], says: str
) -> None:
    before = file.read_bytes()
    done = toolsight("tap", *words, "--config", str(file), "--yes")
    assert (done.exit_code, file.read_bytes()) == (2, before)
    assert says in done.stderr


def test_an_address_is_started_over_stdio_and_its_headers_become_variables(
    toolsight: Toolsight, file: Path
) -> None:
    """What else changed in the meantime stays when the entry comes back, also without the backup's bytes."""
    toolsight("tap", "add", "far", "--config", str(file), "--yes")
    assert load_object(file)["mcpServers"]["far"] == {
        "type": "stdio",
        "command": "/opt/bin/toolsight",
        "args": ["tap", "--header", "X-Ref", "--name", "far", "--", "https://example.com/mcp?a=b"],
        "env": {"X-Ref": "1"},
    }
    file.write_bytes(file.read_bytes().replace(b"// mine", b"// yours"))
    toolsight("tap", "remove", "far", "--config", str(file), "--yes")
    assert file.read_bytes() == b"\xef\xbb\xbf" + FILE.replace("mine", "yours").encode()


FILES = {
    "claude-code": (".claude.json", FILE),
    "vscode": (".config/Code/User/mcp.json", """{
  // servers of mine
  "servers": {
    "shop": {"command": "npx", "args": ["-y", "shop"]}, /* "url": "x" */
    "bare": {"type": "stdio", "command": "serve"},
    "paused": {"command": "serve", "disabled": true},
    "far": {"type": "http", "url": "https://a.example/mcp", "headers": {"X-Ref": "a ${input:pin}"}},
    "near": {"url": "http://localhost:1/mcp",},
  },
}
"""),
    "codex": (".codex/config.toml", """model = "x" # headers = {}
[mcp_servers.shop]
command = "npx"
args = ["-y", "shop"]
[mcp_servers.bare]
command = "serve"
[mcp_servers.paused]
command = "serve"
enabled = false
[mcp_servers.far]
url = "https://a.example/mcp"
bearer_token_env_var = "PIN"
[mcp_servers.near]
url = 'http://localhost:1/mcp' # mine
[mcp_servers.near.http_headers]
X-Ref = "1"
"""),
    "goose": (".config/goose/config.yaml", """extensions:
  shop: {cmd: npx, args: [-y, shop], enabled: true}
  paused: {cmd: serve, enabled: false}
  far:
    headers:
      X-Ref: a   # mine
    type: streamable_http
    uri: https://a.example/mcp
  near: {uri: 'http://localhost:1/mcp', type: streamable_http}
"""),
}  # fmt: skip


@pytest.mark.parametrize("client", FILES)
def test_a_tap_before_every_server_is_one_change_and_its_removal_gives_back_the_same_bytes(
    toolsight: Toolsight, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, client: str
) -> None:
    """The client's own answer ends it: what cannot be tapped, or is off, is named with the reason."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for name in ("CODEX_HOME", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    path = tmp_path / FILES[client][0]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(before := FILES[client][1].encode())
    first = toolsight("tap", "add", "shop", "--client", client, "--yes")
    assert first.exit_code == 0, first.stderr
    done = toolsight("tap", "add", "--all", "--client", client, "--yes", "--json")
    assert done.exit_code == 0, done.stderr
    (change,), left = json.loads(done.stdout)["changed"], json.loads(done.stdout)["left"]
    assert {"far"} <= set(change["servers"])
    off = {"odd": "a variable or a secret", "key": ""} if client == "claude-code" else {"paused": "disabled"}
    assert {one["server"] for one in left} == {"shop", *off}
    assert next(iter(off.values())) in done.stderr
    assert sorted(one.name for one in path.parent.glob("*.bak*")) == [f"{path.name}.bak", f"{path.name}.bak2"]
    again = toolsight("tap", "add", "--all", "--client", client, "--yes")
    assert (again.exit_code, again.stdout) == (0, "nothing to change\n")
    removed = toolsight("tap", "remove", "--all", "--client", client, "--yes")
    assert removed.exit_code == 0, removed.stderr
    assert path.read_bytes() == before


def test_the_headers_of_codex_reach_the_tap_as_variables(
    toolsight: Toolsight, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["toolsight"])
    path = tmp_path / "config.toml"
    path.write_text(FILES["codex"][1])
    toolsight("tap", "add", "--all", "--config", str(path), "--yes")
    servers = parsed(path.read_text(), ".toml")["mcp_servers"]
    assert servers["far"]["env_vars"] == ["PIN"]
    assert servers["far"]["args"][:3] == ["tap", "--bearer", "PIN"]
    assert servers["near"]["env"] == {"X-Ref": "1"}
    assert servers["near"]["args"][:3] == ["tap", "--header", "X-Ref"]


def test_every_project_of_claude_code_is_tapped_and_a_file_without_servers_says_so(
    toolsight: Toolsight, file: Path, tmp_path: Path
) -> None:
    file.unlink()
    user = tmp_path / ".claude.json"
    entry = {"mcpServers": {"shop": {"command": "x"}}}
    user.write_text(json.dumps({"projects": {"/a": entry, "/b": entry}}), encoding="utf-8")
    assert toolsight("tap", "add", "--all", "--client", "claude-code", "--yes").exit_code == 0
    projects = json.loads(user.read_text(encoding="utf-8"))["projects"]
    assert [one["mcpServers"]["shop"]["command"] for one in projects.values()] == ["/opt/bin/toolsight"] * 2
    user.write_text("{}", encoding="utf-8")
    done = toolsight("tap", "add", "--all", "--client", "claude-code")
    assert done.exit_code == 2
    assert "there are no servers in" in done.stderr


# What can be secret of a command line, each in words of its own; `serve` is the program.
KEYS = {
    ("-k", "kay-0a1b2c-plant"): "kay-0a1b2c-plant",
    ("--api-key", "apik-3d4e5f-plant"): "apik-3d4e5f-plant",
    ("--token=tok-6a7b8c-plant",): "tok-6a7b8c-plant",
    ("-e", "SHOP_CODE=enm-9d0e1f-plant"): "enm-9d0e1f-plant",
    ("--header", "X-Api-Key: hdr-2a3b4c-plant"): "hdr-2a3b4c-plant",
    ("http://me:pwd-1e2f3a-plant@host/mcp?token=qry-8b9c0d-plant",): "pwd-1e2f3a-plant",
    ("--url", "https://host/hook/pth5d6e7f81a2b-plant?key=qry-4e5f6a-plant"): "pth5d6e7f81a2b-plant",
    (
        "--password",
        "it's a secret\\ $1",
    ): "it's a secret\\ $1",
    ("pos9K2f81Lq0x-plant",): "pos9K2f81Lq0x-plant",
}


def recorded(database: Path, command: Sequence[str], said: str, redact: Sequence[str] = ()) -> bytes:
    """What is in the database after a tapped server repeated something."""
    source, ours = os.pipe()
    asked = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "x", "arguments": {"a": said}},
    }
    answer = {
        "jsonrpc": "2.0",
        "id": 1,
        "result": {"content": [{"type": "text", "text": f"as {said} it is"}]},
    }
    for kind, message in ((TO_SERVER, asked), (TO_CLIENT, answer)):
        data = json.dumps(message).encode() + b"\n"
        os.write(ours, HEADER.pack(kind, 0, 1.0, 0, len(data)) + data)
    os.close(ours)
    record(source, command, database=str(database), secrets=redact)
    os.close(source)
    return database.read_bytes()


def test_no_secret_of_a_tapped_command_is_recorded_or_names_the_server(tmp_path: Path) -> None:
    command = ["serve", *(word for words in KEYS for word in words)]
    kept = recorded(tmp_path / "x.db", command, "; ".join(KEYS.values()))
    assert b"as [redacted]; [redacted]" in kept
    secrets = [*KEYS.values(), *re.findall(r"qry-\w+-plant", repr(KEYS))]
    assert [one for one in secrets if json.dumps(one)[1:-1].encode() in kept] == []


def test_what_a_client_passes_by_name_is_not_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A variable with an ordinary name counts because `tap add` hands its name over."""
    monkeypatch.setenv("WORKSPACE_REF", "wsp-93fA71cd-plant")
    said = "wsp-93fA71cd-plant"
    assert said.encode() in recorded(tmp_path / "x.db", ["serve"], said)
    assert said.encode() not in recorded(tmp_path / "y.db", ["serve"], said, ["WORKSPACE_REF", "UNSET"])


@pytest.mark.parametrize(
    ("entry", "names"),
    [
        (
            {"env": {"A": "1", "B": "2"}, "args": ["${C}", "${env:D:-x}", "${input:pin}", "$E"]},
            ["A", "B", "C", "D"],
        ),
        ({"envs": {"A": "1"}, "env_keys": ["B", 7]}, ["A", "B"]),
        ({"url": "https://host/mcp", "http_headers": {"X-Ref": "1"}}, ["X-Ref"]),
        ({"env": "A=1", "headers": None, "args": "x"}, []),
    ],
)
def test_the_names_of_an_entrys_variables_and_headers_are_handed_over(
    entry: dict[str, Any], names: list[str]
) -> None:
    assert list(passed_names(entry)) == names


def test_a_change_is_shown_without_the_secrets_of_any_entry_near_it(toolsight: Toolsight, file: Path) -> None:
    """Lines around it are shown, too; in no line a key stands beside its option."""
    entry = {
        "command": "serve",
        "args": [word for words in KEYS for word in words],
        "env": {"REF": "r3f-ord1nary"},
    }
    file.write_text(json.dumps({"mcpServers": {"other": entry, "shop": entry, "third": entry}}, indent=1))
    shown = toolsight("tap", "add", "shop", "--config", str(file), "--yes", "--json")
    removed = toolsight("tap", "remove", "shop", "--config", str(file), "--yes")
    assert (shown.exit_code, removed.exit_code) == (0, 0)
    said = f"{shown.stdout}{shown.stderr}{removed.stdout}{removed.stderr}"
    assert "[redacted" in said
    assert [
        one for one in (*KEYS.values(), "r3f-ord1nary") if one in said or json.dumps(one)[1:-1] in said
    ] == []


def test_a_file_that_cannot_be_read_is_not_quoted(toolsight: Toolsight, tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("extensions:\n  shop: {cmd: x, envs: {KEY: k3y-0a1b2c]}\n")
    done = toolsight("tap", "add", "shop", "--config", str(path))
    assert done.exit_code == 2
    assert "line 2" in done.stderr
    assert "k3y-0a1b2c" not in done.stderr


OTHERS = {
    "codex": """# mine
[mcp_servers."my shop"] # not this = one
command = 'npx'
[mcp_servers.shop]   # a table
command = "np\\u0078" # [x]
args = [
  '-y', # "quoted"
  "a]b",
]
env = { A = "1" }

[mcp_servers.shop.env2]
command = "other"
[mcp_servers.bare]
command = "serve"
[mcp_servers.far]
url = "https://example.com/mcp"
http_headers = { Authorization = "x" }
""",
    "goose": """# mine
extensions:
  shop:
    cmd: npx   # the command
    args:
      - -y     # yes
      - 'it''s'
    envs: &a {}
  bare: {cmd: serve, enabled: true}
  far:
    uri: https://example.com/mcp
    type: streamable_http
""",
    "continue": """mcpServers:
  - name: bare
    command: serve
  - name: shop
    command: npx
    args: ["-y", 'shop']
  - name: far
    url: "https://example.com/mcp"
""",
}


@pytest.mark.parametrize("server", ["shop", "far"])
@pytest.mark.parametrize("client", OTHERS)
def test_files_in_toml_and_yaml_are_edited_in_place_and_get_the_same_bytes_back(
    toolsight: Toolsight, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, client: str, server: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    name = ".config/goose" if client == "goose" else f".{client}"
    path = tmp_path / name / ("config.toml" if client == "codex" else "config.yaml")
    path.parent.mkdir(parents=True)
    path.write_bytes(before := OTHERS[client].replace("\n", "\r\n").encode())
    for action in ("add", "remove"):
        done = toolsight("tap", action, server, "--client", client, "--yes")
        assert done.exit_code == 0, done.stderr
        assert (path.read_bytes() == before) is (action == "remove")
        # All comments are still there.
        assert path.read_bytes().count(b"#") == before.count(b"#")


@pytest.mark.parametrize(
    ("client", "suffix"), [("codex", ".toml"), ("goose", ".yaml"), ("continue", ".yaml")]
)
@pytest.mark.parametrize("server", ["shop", "bare"])
def test_a_tap_taken_out_by_its_words_leaves_the_text_of_toml_and_yaml(
    client: str, suffix: str, server: str
) -> None:
    """Without a backup; an entry that had no arguments has an empty list of them then."""
    text, ahead = OTHERS[client], ["toolsight", "tap", "--"]
    at = ({"codex": "mcp_servers", "goose": "extensions"}.get(client, "mcpServers"), server)
    tapped = with_command_ahead(text, at, ahead, suffix)
    entry = entry_at(parsed(tapped, suffix), at)
    own = ["npx", *entry_at(parsed(text, suffix), at)["args"]] if server == "shop" else ["serve"]
    assert entry["args"] == ["tap", "--", *own]
    after = without_command_ahead(tapped, at, ahead, suffix)
    assert after == text if server == "shop" else entry_at(parsed(after, suffix), at)["args"] == []


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        (".toml", "s = { x = { command = 'a' } }"),
        (".toml", "[s]\nx.command = 'a'"),
        (".toml", '[s.x]\ncommand = """a"""'),
        (".yaml", "s: {x: {command: 'a', args: }}"),
        (".yaml", "s:\n  x:\n    command: a, b\n    args: [c]"),
        (".yaml", "s:\n  x:\n    command: |\n      a\n    args: [c]"),
    ],
)
def test_what_is_written_in_a_way_that_cannot_be_edited_is_refused(suffix: str, text: str) -> None:
    with pytest.raises(KeyError):
        with_command_ahead(text, ("s", "x"), ["t", "--"], suffix)


def test_a_tap_of_a_toolsight_that_has_moved_is_known_and_removed(
    toolsight: Toolsight, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = file.read_bytes()
    toolsight("tap", "add", "shop", "--config", str(file), "--yes")
    monkeypatch.setattr("sys.argv", ["/elsewhere/toolsight"])
    assert toolsight("tap", "add", "shop", "--config", str(file), "--yes").exit_code == 2
    assert toolsight("tap", "remove", "shop", "--config", str(file), "--yes").exit_code == 0
    assert file.read_bytes() == before


def test_the_part_of_the_project_comes_before_the_users_own(
    toolsight: Toolsight, file: Path, tmp_path: Path
) -> None:
    file.unlink()
    entry = {"mcpServers": {"shop": {"command": "x"}}}
    user = tmp_path / ".claude.json"
    user.write_text(json.dumps({**entry, "projects": {str(Path.cwd()): entry}}), encoding="utf-8")
    assert toolsight("tap", "add", "shop", "--client", "claude-code", "--yes").exit_code == 0
    after = json.loads(user.read_text(encoding="utf-8"))
    assert after["mcpServers"] == entry["mcpServers"]
    assert after["projects"][str(Path.cwd())] != entry


words = st.lists(st.text(max_size=5), max_size=4)


@given(st.text(min_size=1), words, st.sampled_from([None, 1, "\t"]), st.booleans())
def test_any_entry_is_as_before_once_its_tap_is_removed(
    command: str, args: list[str], indent: int | str | None, is_ascii: bool
) -> None:
    entry = {"a": 1, "command": command, "args": args, "env": {}}
    text = json.dumps({"s": {"x": entry}}, indent=indent, ensure_ascii=is_ascii)
    ahead = ["toolsight", "tap", "--"]
    tapped = with_command_ahead(text, ("s", "x"), ahead)
    assert json.loads(tapped)["s"]["x"] == {
        **entry,
        "command": "toolsight",
        "args": [*ahead[1:], command, *args],
    }
    assert without_command_ahead(tapped, ("s", "x"), ahead) == text
