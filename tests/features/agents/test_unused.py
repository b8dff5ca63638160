"""What clients were given and never called, and the lists in their files that keep every call."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from inspector.core.message import Usage
from inspector.core.ports import SessionSummary
from inspector.features.agents.importing import Importer
from inspector.features.agents.tool_list import tool_list_rules
from inspector.features.agents.transcript import (
    AgentTool,
    Answered,
    Begun,
    Called,
    Entry,
    Searched,
    ToolsOffered,
)
from inspector.features.agents.unused import recent
from inspector.store.store import SqliteStore
from inspector.tokens.accounting import LitellmPrices
from tests.support.commands import Toolsight, in_process
from tests.support.fakes import WordCounter

_AT = 1_795_000_000.0
_ODD = 'od"d\nname'
_USAGE = Usage(input_tokens=1_000, output_tokens=100, cached_tokens=500)


def _tool(server: str, name: str, *, known: bool = True) -> AgentTool:
    definition = {"description": f"one two three {name}", "parameters": {}}
    return AgentTool(name, server, f"mcp__{server}__{name}", definition if known else None)


LIST, GET, ODD = _tool("shop", "list"), _tool("shop", "get"), _tool("shop", _ODD)
POST, READ = _tool("chat", "post"), _tool("chat", "read")
SEEN = (
    ToolsOffered((LIST, GET, ODD, POST, READ)),
    *(Answered("a1", "gpt-5.5", usage=_USAGE), Called("c1", LIST)),
    Answered("a2", "gpt-5.5", usage=_USAGE),
)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Toolsight:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    moved = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME")
    return in_process(
        {"TOOLSIGHT_DB": str(tmp_path / "a.db"), "HOME": str(tmp_path), **dict.fromkeys(moved, "")}
    )


def _stored(tmp_path: Path, client: str, entries: Sequence[Entry] = SEEN, session: str = "s") -> None:
    with SqliteStore(tmp_path / "a.db") as store:
        begun = Begun(client, session, model="gpt-5.5", at=_AT)
        Importer(store, lambda _: WordCounter()).run([begun, *entries], file="x", at=_AT, agent=client)


def _unused(run: Toolsight, *words: str) -> Any:
    done = run("sessions", "unused", "--days", "3650", "--json", *words)
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def test_what_no_session_called_is_named_with_what_it_took_whole_servers_first(
    run: Toolsight, tmp_path: Path
) -> None:
    _stored(tmp_path, "codex")
    mail = _tool("mail", "send")
    calls = Called("c2", GET), Called("c3", mail)
    _stored(tmp_path, "codex", [ToolsOffered((GET, POST, mail)), Answered("b", "m"), *calls], "other")
    [found] = _unused(run)["clients"]
    assert (found["sessions"], found["requests"], len(found["days"])) == (2, 3, 1)
    chat, shop = found["servers"]
    assert (chat["server"], chat["called"], shop["server"], shop["called"]) == (
        "chat",
        [],
        "shop",
        ["get", "list"],
    )
    assert [one["name"] for one in (*chat["unused"], *shop["unused"])] == ["post", "read", _ODD]
    post = chat["unused"][0]
    assert set(post) == {"name", "requests", "definition", "tokens", "dollars"}
    assert (post["requests"], post["tokens"]) == (3, 3 * post["definition"])
    # At what the reported input cost: half of it was read from the cache, which is cheaper.
    prices = LitellmPrices().prices("gpt-5.5")
    assert prices is not None
    assert prices.cache_read is not None
    assert post["dollars"] == pytest.approx(post["tokens"] * (prices.input + prices.cache_read) / 2)
    shown = run("sessions", "unused", "--days", "3650").stdout
    assert "codex (2 sessions, 1 day, 3 requests): 3 tools never called" in shown
    assert "No tool was called of chat" in shown
    assert _ODD not in shown


def test_a_size_that_one_session_lacks_is_that_of_another_and_a_price_that_nobody_knows_is_said(
    run: Toolsight, tmp_path: Path
) -> None:
    _stored(tmp_path, "zed", [ToolsOffered((_tool("chat", "post", known=False), LIST)), Answered("a", "m")])
    _stored(tmp_path, "zed", [ToolsOffered((POST,))], "tap")
    [found] = _unused(run)["clients"]
    [post] = next(one for one in found["servers"] if one["server"] == "chat")["unused"]
    assert (post["requests"], post["tokens"], post["dollars"]) == (1, post["definition"], None)
    assert post["tokens"] > 0
    shown = run("sessions", "unused", "--days", "3650").stdout
    assert "2 sessions, 1 tap of them" in shown
    assert "the price of its model is not known" in shown
    assert "No setting of zed that leaves out single tools is known here." in shown
    assert run("sessions", "unused", "--days", "3650", "--write").stdout.endswith("has those servers.\n")


def test_what_a_tap_alone_saw_was_listed_and_has_no_sum(run: Toolsight, tmp_path: Path) -> None:
    _stored(tmp_path, "zed", [ToolsOffered((LIST, GET)), Called("c1", LIST)])
    [use] = _unused(run)["clients"]
    [server] = use["servers"]
    assert (use["taps"], server["called"], server["unused"][0]["name"]) == (1, ["list"], "get")
    assert (server["unused"][0]["tokens"], server["unused"][0]["definition"] > 0) == (0, True)


def test_a_deferred_tool_counts_once_a_search_has_loaded_it(run: Toolsight, tmp_path: Path) -> None:
    found = Searched("s", "chat", found=(POST,))
    tap = (ToolsOffered((READ, POST)),)
    _stored(tmp_path, "claude-code", tap, "tap")
    _stored(tmp_path, "claude-code", [ToolsOffered((POST, READ), deferred=True), found, Answered("a", "m")])
    [use] = _unused(run)["clients"]
    assert [one["name"] for server in use["servers"] for one in server["unused"]] == ["post"]
    assert use["waiting"] == 1


_JSON = (
    '{{\n  // mine\n  "{0}": {{\n    "shop": {{"command": {1}{2}}},\n    "chat": {{"command": {1}}}\n  }}\n}}'
)
FILES = {
    "claude-code": (".claude/settings.json", '{"permissions": {"allow": [], "deny": ["Read(x)"]}}'),
    "codex": (
        ".codex/config.toml",
        '# mine\n[mcp_servers.shop]\ncommand = "x"\n[mcp_servers.chat]\ncommand = "x"\n',
    ),
    "gemini-cli": (".gemini/settings.json", _JSON.format("mcpServers", '"x"', "")),
    "qwen-code": (".qwen/settings.json", _JSON.format("mcpServers", '"x"', "")),
    "copilot-cli": (".copilot/mcp-config.json", _JSON.format("mcpServers", '"x"', ', "tools": ["*"]')),
    "goose": (
        ".config/goose/config.yaml",
        "extensions:\n  shop:\n    cmd: x\n  chat: {cmd: x, enabled: true}\n",
    ),
    "kiro": (".kiro/settings/mcp.json", _JSON.format("mcpServers", '"x"', ', "disabledTools": ["old"]')),
    "opencode": (".config/opencode/opencode.json", _JSON.format("mcp", '["x"]', "")),
}
_DENIED = ["get", _ODD]
AFTER: dict[str, Any] = {
    "claude-code": ["Read(x)", "mcp__chat", "mcp__shop__get", "mcp__shop__od_d_name"],
    "codex": {"shop": {"enabled_tools": ["list"]}, "chat": {"enabled": False}},
    "gemini-cli": {"shop": {"includeTools": ["list"]}, "chat": {"includeTools": []}},
    "qwen-code": {"shop": {"includeTools": ["list"]}, "chat": {}},
    "copilot-cli": {"shop": {"tools": ["list"]}, "chat": {}},
    "goose": {"shop": {"available_tools": ["list"]}, "chat": {"enabled": False}},
    "kiro": {"shop": {"disabledTools": ["old", *_DENIED]}, "chat": {"disabled": True}},
    "opencode": {"shop": {}, "chat": {"enabled": False}},
}


@pytest.mark.parametrize("client", list(FILES))
def test_a_clients_file_keeps_what_was_called_and_its_backup_has_the_same_bytes(
    run: Toolsight, tmp_path: Path, client: str
) -> None:
    from inspector.config.client_format import load_file, servers_in

    assert set(FILES) == set(AFTER) == set(tool_list_rules())
    name, text = FILES[client]
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_text(text)
    _stored(tmp_path, client)
    [written] = _unused(run, "--client", client, "--write", "--yes")["written"]
    assert Path(written["backup"]).read_text() == text
    data = load_file(path)
    if client == "claude-code":
        assert data["permissions"]["deny"] == AFTER[client]
    else:
        servers = servers_in(data)
        left = {
            one: {k: v for k, v in servers[one].items() if k not in ("command", "cmd")} for one in servers
        }
        assert left == AFTER[client]
    if client == "opencode":
        assert data["permission"] == {"shop_get": "deny", "shop_od_d_name": "deny"}
    assert _unused(run, "--client", client, "--write", "--yes")["written"] == []


def test_nothing_is_written_without_a_yes_and_what_a_person_left_out_stays_out(
    run: Toolsight, tmp_path: Path
) -> None:
    path = tmp_path / ".gemini" / "settings.json"
    path.parent.mkdir()
    text = '{"mcpServers": {"shop": {"command": "x", "includeTools": ["get", "other"]}}}'
    path.write_text(text)
    _stored(tmp_path, "gemini-cli")
    asked = run("sessions", "unused", "--days", "3650", "--write")
    assert asked.exit_code == 130
    assert '"includeTools": []' in asked.stderr
    assert path.read_text() == text


def test_recent_sessions_are_those_of_clients_that_were_active_in_the_last_days() -> None:
    def session(agent: str, ended: float) -> SessionSummary:
        return SessionSummary(agent + str(ended), 0.0, ended, "", "", 1, 0, 0, agent)

    day = 86_400.0
    all_ = [
        session("codex", 9 * day),
        session("codex", 2 * day),
        session("", 9 * day),
        session("zed", 9 * day),
    ]
    assert [one.id for one in recent(all_, 5, 10 * day)] == [all_[0].id, all_[3].id]
    assert [one.id for one in recent(all_, 5, 10 * day, "zed")] == [all_[3].id]


def test_a_client_without_sessions_is_told_with_the_nearest(run: Toolsight, tmp_path: Path) -> None:
    _stored(tmp_path, "codex")
    done = run("sessions", "unused", "--client", "codx")
    assert done.exit_code == 2
    assert "codex" in done.stderr
