"""Clients' own formats of a configuration: read as the clients read them, and nothing is lost silently."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from inspector.config.client_format import entry_faults, load_file, place_of
from inspector.config.configuration import Configuration
from inspector.config.consent import describe
from inspector.config.reader import read
from inspector.core.access import ServerRule
from inspector.core.error import ConfigError
from tests.support.any_json import any_json

HOME = {"HOME": "/home/me", "AWAY_TOKEN": "t0ken"}
CLIENTS = Path(__file__).with_name("clients")


def opened(folder: Path, name: str, content: object) -> Configuration:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return read(path, environment=HOME)


@pytest.mark.parametrize(
    ("name", "servers", "env"),
    [
        ("codex.toml", ["orders", "away"], {"AWAY_TOKEN": "t0ken"}),
        ("goose.yaml", ["orders", "away"], {"AWAY_TOKEN": "t0ken", "A": "1"}),
        ("opencode.jsonc", ["orders", "away"], {"A": "t0ken"}),
        ("zed.json", ["orders", "away"], {"A": "1"}),
        ("continue.yaml", ["orders"], {"A": "1"}),
        ("vibe.toml", ["orders", "away"], {"A": "1"}),
    ],
)
def test_a_clients_own_file_starts_the_servers_that_the_client_starts(
    name: str, servers: list[str], env: dict[str, str]
) -> None:
    found = read(CLIENTS / name, environment=HOME)
    assert [spec.name for spec in found.servers] == servers
    assert found.problems == ()
    for spec in found.servers:
        if spec.is_http:
            assert spec.url == "http://127.0.0.1:9/mcp"
        else:
            assert (spec.argv, spec.env) == (("python3", "s.py"), env)


def _each_twice(form: str) -> str:
    """Lines that each have the one before twice, from the anchor `x0` on."""
    return "".join(f"x{n}: &x{n} {form.format(f'*x{n - 1}')}\n" for n in range(1, 40))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("extensions: &a\n  s: {cmd: python3, more: *a}\n", "contains itself"),
        ("x0: &x0 [a]\n" + _each_twice("[{0}, {0}]"), "aliases repeat too much"),
        ("x0: &x0 {a: 1}\n" + _each_twice("{{<<: [{0}, {0}]}}"), "aliases repeat too much"),
    ],
    ids=["within itself", "repeated", "merged"],
)
def test_a_few_lines_of_a_clients_yaml_are_never_endless(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        opened(tmp_path, "config.yaml", text)


def test_a_clients_yaml_may_use_aliases(tmp_path: Path) -> None:
    text = "extensions:\n  a: &a {cmd: python3, args: [s.py]}\n  b: {<<: *a, cmd: node}\n  c: *a\n"
    servers = opened(tmp_path, "config.yaml", text).servers
    assert [spec.argv for spec in servers] == [("python3", "s.py"), ("node", "s.py"), ("python3", "s.py")]


def test_a_key_of_a_clients_yaml_that_appears_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cmd appears twice"):
        opened(tmp_path, "config.yaml", "extensions:\n  a: {cmd: python3, cmd: node}\n")


def test_words_that_older_yaml_takes_for_switches_name_servers(tmp_path: Path) -> None:
    text = "extensions:\n  off: {cmd: python3}\n  yes: {cmd: node}\n  no: {cmd: node, enabled: false}\n"
    assert [spec.name for spec in opened(tmp_path, "config.yaml", text).servers] == ["off", "yes"]


def test_vibe_has_headers_in_its_list() -> None:
    away = read(CLIENTS / "vibe.toml", environment=HOME).servers[1]
    assert (away.headers, away.call_timeout) == ({"X-Key": "t0ken"}, 120)


def test_codex_takes_headers_and_tools_from_keys_of_its_own() -> None:
    orders, away = read(CLIENTS / "codex.toml", environment=HOME).servers
    assert orders.connect_timeout == 20
    assert orders.rule == ServerRule(frozenset({"list_orders", "get_order"}), frozenset({"get_order"}))
    assert away.headers == {"X-Team": "a", "X-Key": "t0ken", "Authorization": "Bearer t0ken"}
    assert [each.own for each in away.expansions] == [("AWAY_TOKEN",), ("AWAY_TOKEN",)]


@pytest.mark.parametrize(
    ("content", "key", "meant"),
    [
        ({"mcpServers": {"s": {"command": "a", "environment": {"A": "1"}}}}, "environment", "env"),
        ({"mcpServers": {"s": {"command": "a", "arguments": []}}}, "arguments", "args"),
        ({"mcpServers": {"s": {"command": "a", "disabledTool": []}}}, "disabledTool", "disabledTools"),
        ({"mcpServers": {"s": {"command": "a", "zzz": 1}}}, "zzz", ""),
    ],
)
def test_a_key_that_a_client_throws_away_is_named_with_the_nearest(
    tmp_path: Path, content: dict[str, Any], key: str, meant: str
) -> None:
    (problem,) = opened(tmp_path, "c.json", content).problems
    assert problem.text == f"has the unknown key `{key}`"
    assert problem.hint == (f"Did you mean `{meant}`?" if meant else "Its client ignores it.")
    assert (problem.server, problem.severity.value) == ("s", "warning")


@pytest.mark.parametrize(
    ("client", "entry", "told"),
    [
        ("opencode", {"type": "local", "command": ["a"], "env": {"A": "1"}}, "Did you mean `environment`?"),
        ("opencode", {"type": "local", "command": "a"}, "`command`: opencode refuses the whole file"),
        ("opencode", {"command": ["a"]}, 'no `type`: opencode refuses the whole file. Write "local".'),
        ("opencode", {"type": "stdio", "command": ["a"]}, "another `type`"),
        ("Codex", {"command": "a", "disabled": True}, "Did you mean `enabled`?"),
        ("Codex", {"url": "http://h", "headers": {}}, "Did you mean `http_headers`?"),
        ("Codex", {"command": "a", "env": {"A": 1}}, "`env.A` without quotes: Codex refuses the whole file"),
        ("Claude Code", {"url": "http://h"}, 'no `type`: Claude Code skips the server. Write "http".'),
        ("Claude Code", {"command": ["a"]}, "Write the program alone."),
        ("Claude Code", {"command": "a", "cwd": "/"}, "Claude Code ignores it."),
        ("Gemini CLI", {"command": "a", "disabledTools": ["x"]}, "Did you mean `excludeTools`?"),
    ],
)
def test_an_entry_is_held_against_what_its_own_client_reads(
    client: str, entry: dict[str, Any], told: str
) -> None:
    (fault,) = entry_faults(client, entry, ())
    assert told in f"{fault.text}. {fault.hint}"


@pytest.mark.parametrize(
    ("client", "is_off", "rule"),
    [("", True, ServerRule(None, frozenset("x"))), ("Claude Code", False, ServerRule())],
)
def test_a_switch_that_a_client_does_not_read_turns_nothing_off(
    tmp_path: Path, client: str, is_off: bool, rule: ServerRule
) -> None:
    path = tmp_path / "c.json"
    off, part = {"command": "a", "disabled": True}, {"command": "a", "disabledTools": ["x"]}
    path.write_text(json.dumps({"mcpServers": {"off": off, "part": part}}), encoding="utf-8")
    found = read(path, environment=HOME, client=client)
    assert (found.disabled == ("off",)) is is_off
    assert found.servers[-1].rule == rule


def test_servers_of_another_folder_alone_are_told_with_it(tmp_path: Path) -> None:
    own = {"/other": {"mcpServers": {"b": {"command": "b"}}}, "/none": {}}
    with pytest.raises(ConfigError, match="no servers for") as raised:
        opened(tmp_path, ".claude.json", {"projects": own, "mcpServers": {}})
    assert raised.value.hint == "Go to a folder that it has servers for: /other."


def test_keys_of_known_clients_are_no_problem(tmp_path: Path) -> None:
    keys = {"alwaysAllow": [], "trust": True, "timeout": 5, "alwaysLoad": True, "description": "", "_note": 1}
    content = {"mcpServers": {"s": {"command": "a", "transport": "stdio", **keys}}}
    assert opened(tmp_path, "c.json", content).problems == ()


@pytest.mark.parametrize("transport", ["sse", {"type": "streamableHttp", "url": "http://127.0.0.1:9/mcp"}])
def test_transport_says_what_type_says(tmp_path: Path, transport: object) -> None:
    entry = (
        {"transport": transport}
        if isinstance(transport, dict)
        else {"url": "http://h", "transport": transport}
    )
    (spec,) = opened(tmp_path, "c.json", {"mcpServers": {"s": entry}}).servers
    assert ("sse" in spec.advice) if transport == "sse" else spec.url == "http://127.0.0.1:9/mcp"


def test_claude_codes_servers_of_this_folder_win(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    own = {str(Path.cwd()): {"mcpServers": {"a": {"command": "own"}}}, "/other": {"mcpServers": {"b": {}}}}
    everywhere = {"a": {"command": "everywhere"}, "c": {"command": "c"}}
    found = opened(tmp_path, ".claude.json", {"projects": own, "mcpServers": everywhere})
    assert [(spec.name, spec.command) for spec in found.servers] == [("a", "own"), ("c", "c")]


@pytest.mark.parametrize(
    ("entry", "rule"),
    [
        ({"includeTools": ["a(x)", "b"], "excludeTools": ["b"]}, ServerRule(frozenset("ab"), frozenset("b"))),
        ({"tools": ["*"]}, ServerRule()),
        ({"tools": ["a"]}, ServerRule(frozenset("a"))),
        ({"enabledTools": []}, ServerRule(frozenset())),
        ({"available_tools": []}, ServerRule()),
        ({"disabledTools": ["a"]}, ServerRule(None, frozenset("a"))),
        ({"tools": [{"name": "a"}]}, ServerRule()),
    ],
)
def test_a_server_keeps_the_tools_that_its_client_leaves_it(
    tmp_path: Path, entry: dict[str, Any], rule: ServerRule
) -> None:
    (spec,) = opened(tmp_path, "c.json", {"mcpServers": {"s": {"command": "a", **entry}}}).servers
    assert spec.rule == rule


def test_variables_of_a_file_are_passed_on_with_consent(tmp_path: Path) -> None:
    lines = "# keys\nexport A=1 # one\nB='x # y'\nC=\"\"\nNODE_OPTIONS=--require x\nno line\n"
    (tmp_path / "own.env").write_text(lines, encoding="utf-8")
    entry = {"command": "a", "env": {"B": "2"}, "envFile": "${workspaceFolder}/own.env"}
    found = opened(tmp_path, "c.json", {"mcpServers": {"s": entry}})
    (spec,), (asked,) = found.servers, describe(found)
    assert spec.env == {"A": "1", "B": "2", "C": "", "NODE_OPTIONS": "--require x"}
    told = [(fact.label, fact.text) for fact in asked.facts()]
    assert ("secret", f"passes your file {tmp_path}/own.env to this program as its variables") in told
    assert ("gets", "A, B, C, NODE_OPTIONS") in told
    assert any(label == "chooses" for label, _ in told)


def test_a_server_lacks_a_file_of_variables_that_is_missing(tmp_path: Path) -> None:
    content = {"mcpServers": {"s": {"command": "a", "envFile": "no.env"}, "t": {"command": "b"}}}
    lacking, other = opened(tmp_path, "c.json", content).servers
    assert (lacking.lacks, other.lacks) == (f"file {tmp_path}/no.env", "")


def test_a_large_file_is_refused_unread(tmp_path: Path) -> None:
    (tmp_path / "large.yaml").write_bytes(b"A=1\n" * 262_145)
    with pytest.raises(ConfigError, match="larger than 1 MB"):
        load_file(tmp_path / "large.yaml")
    with pytest.raises(ConfigError, match="larger than 1 MB"):
        opened(tmp_path, "c.json", {"mcpServers": {"s": {"command": "a", "envFile": "large.yaml"}}})


COMMON = ("command", "args", "env", "type", "url", "headers", "name", "enabled", "transport", "tools")
OWN = ("cmd", "envs", "env_vars", "env_keys", "env_http_headers", "uri", "envFile", "bearer_token_env_var")
KEYS = st.sampled_from([*COMMON, *OWN, "environment"])
PLACES = st.sampled_from(["mcpServers", "servers", "mcp", "mcp_servers", "context_servers", "extensions"])


@given(PLACES, st.lists(st.dictionaries(KEYS, any_json()), max_size=2), st.booleans())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_a_file_says_is_read_or_refused(
    tmp_path: Path, place: str, entries: list[dict[str, Any]], is_list: bool
) -> None:
    section = entries if is_list else {f"s{at}": entry for at, entry in enumerate(entries)}
    with suppress(ConfigError):
        opened(tmp_path, "c.json", {place: section})


def test_a_place_is_found_only_where_servers_are() -> None:
    assert place_of({"extensions": {"disabled": ["a"], "theme": {"dark": True}}}) == ("mcpServers",)
    assert place_of({"mcp": {"servers": {}}}) == ("mcp", "servers")
    assert place_of({"mcp": {"allowed": ["a"]}, "mcpServers": {}}) == ("mcpServers",)


def test_a_file_full_of_unknown_keys_is_told_in_short(tmp_path: Path) -> None:
    keys = {f"{'x' * 100_000}{at}": 1 for at in range(50)}
    problems = opened(tmp_path, "c.json", {"mcpServers": {"s": {"command": "a", **keys}}}).problems
    assert len(problems) == 10
    assert max(len(one.full) for one in problems) < 120


def test_an_unknown_key_in_a_file_of_our_own_is_refused_by_name(tmp_path: Path) -> None:
    content = {"mcpServers": {"s": {"command": "a", "call_timeout": 5, "zzz": 1, "autoApprove": []}}}
    with pytest.raises(ConfigError, match="zzz") as raised:
        opened(tmp_path, "c.json", content)
    assert "autoApprove" not in str(raised.value)
