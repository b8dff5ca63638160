"""Configuration files that can be read: Toolsight's own, and the clients' as they are."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from inspector.config import server_entry
from inspector.config.configuration import Configuration
from inspector.config.program import run_file
from inspector.config.reader import read
from inspector.core.access import ServerRule
from inspector.core.error import ConfigError
from inspector.core.package_run import FETCHING
from inspector.core.redaction import clean
from inspector.core.server import Era, Expansion, Grant, OAuthClient, Program, RunFile, ServerSpec
from inspector.core.settings import DiscoverySettings
from inspector.core.tool import Tool

CLIENTS = Path(__file__).with_name("clients")


def configured(
    folder: Path,
    content: object,
    *,
    name: str = "toolsight.json",
    environment: Mapping[str, str] | None = None,
    **more: Any,
) -> Configuration:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return read(path, environment=environment or {}, **more)


def one_server(folder: Path, entry: Mapping[str, Any], **more: Any) -> ServerSpec:
    (spec,) = configured(folder, {"mcpServers": {"s": entry}}, **more).servers
    return spec


def test_our_own_format_is_read_as_the_prd_shows_it() -> None:
    configuration = read(CLIENTS / "toolsight.json", environment={})
    assert configuration.source == str(CLIENTS / "toolsight.json")
    assert configuration.settings.discovery == DiscoverySettings(True, False, max_search_results=7)
    weather, notion, fetch = configuration.servers
    assert (weather.command, weather.defer_loading) == ("weather-server", True)
    assert (notion.command, notion.defer_loading) == ("notion-server", False)
    assert (fetch.url, dict(fetch.headers), fetch.era) == (
        "https://example.com/mcp",
        {"X-Key": "k"},
        Era.MODERN,
    )
    assert not configuration.trusted


def test_any_file_may_say_what_people_mean_by_their_words(tmp_path: Path) -> None:
    phrases = {"z" * 200: "Delete", **{f"{number} ${{HOME}}": "m" * 200 for number in range(499)}}
    for more in ({"defer_loading": True}, {}, {"env": {"K": "${MISSING}"}}):
        spec = one_server(tmp_path, {"command": "x", "phrases": phrases, **more})
        assert spec.phrases == (phrases if not spec.lacks else {})
    assert one_server(tmp_path, {"command": "x"}).phrases == {}
    written = {"zap\n\x1b it\u2028": " Delete  it"}
    assert one_server(tmp_path, {"command": "x", "phrases": written}).phrases == {"zap it": "Delete it"}


def test_toolsets_permit_all_some_or_all_but_some_tools() -> None:
    research = read(CLIENTS / "toolsight.json", environment={}).toolsets["research"]
    assert research.description == "Look things up"
    assert research.servers == {
        "weather": ServerRule(),
        "notion": ServerRule(exclude=frozenset({"delete"})),
        "fetch": ServerRule(include=frozenset({"get"})),
    }
    assert not research.permits(Tool("notion", "delete"))


def test_every_field_of_a_server_is_read(tmp_path: Path) -> None:
    spec = one_server(
        tmp_path,
        {"command": "run", "args": ["-v", ""], "env": {"A": "b"}, "cwd": "sub", "type": "stdio"}
        | {"connect_timeout": 5, "call_timeout": 2.5, "era": "legacy", "trust_annotations": True},
    )
    assert spec == ServerSpec(
        "s",
        command="run",
        args=("-v", ""),
        env={"A": "b"},
        cwd=str(tmp_path / "sub"),
        era=Era.LEGACY,
        trust_annotations=True,
        connect_timeout=5.0,
        call_timeout=2.5,
        program=Program(),
    )


@pytest.mark.parametrize(
    ("entry", "seconds"),
    [
        ({"command": "npx", "args": ["-y", "@scope/server"]}, FETCHING),
        ({"command": "/usr/bin/uvx", "args": ["server"], "connect_timeout": 5}, 5),
        ({"command": "python", "args": ["npx"]}, ServerSpec("s").connect_timeout),
        ({"url": "https://a.example/mcp"}, ServerSpec("s").connect_timeout),
    ],
)
def test_a_package_that_may_have_to_be_fetched_has_time_for_it(
    tmp_path: Path, entry: Mapping[str, Any], seconds: float
) -> None:
    assert one_server(tmp_path, entry).connect_timeout == seconds


def test_no_server_is_trusted_unless_the_file_says_so_in_toolsights_own_word(tmp_path: Path) -> None:
    """Gemini CLI's `trust` is something else, and the file of a client that has it is no word of the user."""
    for entry in ({"command": "x"}, {"command": "x", "trust": True}):
        assert not one_server(tmp_path, entry).trust_annotations


def test_a_clients_file_defers_everything_so_that_there_is_something_to_discover(tmp_path: Path) -> None:
    configuration = configured(tmp_path, {"mcpServers": {"s": {"command": "x"}}})
    assert configuration.settings.discovery == DiscoverySettings(enabled=True, defer_all=True)
    assert configuration.deferred_servers(configuration.settings.discovery) == {"s"}


def test_a_file_that_says_which_servers_wait_defers_only_those(tmp_path: Path) -> None:
    servers = {"a": {"command": "x", "defer_loading": True}, "b": {"command": "x"}}
    configuration = configured(tmp_path, {"mcpServers": servers})
    assert configuration.deferred_servers(configuration.settings.discovery) == {"a"}


def test_comments_trailing_commas_and_a_byte_order_mark_are_fine(tmp_path: Path) -> None:
    text = """\ufeff{
      // where it runs: "here" { [ ,
      "mcpServers": {
        "s": { "command": "run", /* two
          lines */ "args": ["//no comment", "/* nor this */", "a,]", "\\"//"], },
      },
    }"""
    assert configured(tmp_path, text).servers[0].args == ("//no comment", "/* nor this */", "a,]", '"//')


def test_claude_code_is_read_as_it_is() -> None:
    environment = {"KEY": "k1", "DB_URL": "${KEY}"}
    api, db = read(CLIENTS / "claude-code.json", environment=environment).servers
    assert (api.url, api.headers["Authorization"]) == ("https://example.com/mcp", "Bearer k1")
    assert db.env == {"URL": "${KEY}"}, "a value is not expanded again"


def test_cursor_and_cline_are_read_as_they_are() -> None:
    a, c, d = read(CLIENTS / "cursor.json", environment={}).servers
    assert (a.name, c.url, d.url) == ("a", "https://c.example/mcp", "https://d.example/mcp")


def test_a_server_of_the_older_transport_is_refused_by_its_name_and_the_others_start(tmp_path: Path) -> None:
    servers = {"old": {"type": "sse", "url": "https://a.example/sse"}, "new": {"command": "y"}}
    old, new = configured(tmp_path, {"mcpServers": servers}).servers
    assert (old.lacks, new.lacks) == ("streamable HTTP", "")
    assert "mcpServers.old.type is sse" in old.advice
    assert "/mcp in place of /sse" in old.advice


def test_vs_code_is_read_as_it_is() -> None:
    environment, file = {"WHO": "me", "HOME": "/home/me"}, CLIENTS / ".vscode" / "mcp.json"
    (spec,) = read(file, environment=environment, inputs={"place": "tulips"}).servers
    assert spec.argv == (f"{CLIENTS}/run", "tulips", "low", "me", "/home/me/x")
    assert spec.env == {"PORT": "8080"}
    # What an editor hides while it is typed is a secret.
    assert "tulips" not in clean("it wrote tulips")


@pytest.mark.parametrize(
    "given",
    [
        {"command": "x", "env": {"TOKEN": "hunter2-hunter2"}},
        {"url": "https://x.io", "headers": {"X-Key": "hunter2-hunter2"}},
    ],
)
def test_what_a_server_is_given_is_a_secret_once_its_file_is_read(tmp_path: Path, given: object) -> None:
    configured(tmp_path, {"mcpServers": {"s": given}})
    assert "hunter2" not in clean("it wrote hunter2-hunter2")


def test_built_in_variables_win_over_the_environment(tmp_path: Path) -> None:
    spec = one_server(
        tmp_path,
        {"command": "${TOOLSIGHT_PYTHON}", "args": ["${env:TOOLSIGHT_PYTHON}", "${OTHER}"]},
        environment={"TOOLSIGHT_PYTHON": "wrong", "OTHER": "o"},
        variables={"TOOLSIGHT_PYTHON": "python"},
    )
    assert spec.argv == ("python", "python", "o")


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("${A}", "1"),
        ("${A:-x}", "1"),
        ("${EMPTY:-x}", ""),
        ("${NO:-}", ""),
        ("${NO:-a:-b c}", "a:-b c"),
        ("x${A}y${A}z", "x1y1z"),
        ("$A ${} ${A%x} ${1} $${", "$A ${} ${A%x} ${1} $${"),
    ],
)
def test_references_are_expanded_and_everything_else_is_left_to_the_shell(
    tmp_path: Path, text: str, expanded: str
) -> None:
    environment = {"A": "1", "EMPTY": ""}
    assert one_server(tmp_path, {"command": "x", "args": [text]}, environment=environment).args == (expanded,)


@pytest.mark.parametrize(
    ("cwd", "folder"), [("sub/x", "{base}/sub/x"), ("/abs", "/abs"), ("~/x", "/home/me/x"), ("", "")]
)
def test_a_relative_cwd_starts_at_the_file(tmp_path: Path, cwd: str, folder: str) -> None:
    spec = one_server(tmp_path, {"command": "x", "cwd": cwd}, environment={"HOME": "/home/me"})
    assert spec.cwd == folder.format(base=tmp_path)


OWN = {"AWS_SECRET_ACCESS_KEY": "s3cret", "REGION": "eu"}


def test_which_own_variables_a_text_contains_is_remembered_without_their_values(tmp_path: Path) -> None:
    headers = {"X-Trace": "${REGION}:${env:AWS_SECRET_ACCESS_KEY}", "X-Plain": "x", "X-Else": "${NONE:-d}"}
    spec = one_server(tmp_path, {"url": "https://a.example/${REGION}", "headers": headers}, environment=OWN)
    assert spec.headers["X-Trace"] == "eu:s3cret"
    assert spec.expansions == (
        Expansion("url", ("REGION",), "https://a.example/eu"),
        Expansion("headers.X-Trace", ("REGION", "AWS_SECRET_ACCESS_KEY"), "eu:${env:AWS_SECRET_ACCESS_KEY}"),
    )
    assert "s3cret" not in repr(spec.expansions)


def test_what_toolsight_or_the_file_provides_is_nobodys_own(tmp_path: Path) -> None:
    entry = {
        "command": "x",
        "args": ["${workspaceFolder}", "${TOOL}", "${input:a}"],
        "env": {"K": "${input:b}"},
    }
    inputs = [{"id": "a", "default": "theirs"}, {"id": "b"}]
    (spec,) = configured(
        tmp_path,
        {"inputs": inputs, "servers": {"s": entry}},
        environment={"TOOL": "mine"},
        variables={"TOOL": "toolsight's"},
        inputs={"b": "given"},
    ).servers
    assert spec.args[1:] == ("toolsight's", "theirs")
    assert spec.expansions == (Expansion("env.K", ("input b",), "given"),)


def test_a_registered_client_is_read_with_its_secrets(tmp_path: Path) -> None:
    entry = {
        "url": "https://notes.example/mcp",
        "oauth": {
            "clientId": "ci",
            "clientSecret": "${ISSUED}",
            "issuer": "https://issuer.example",
            "grant": "client_credentials",
            "callbackPort": 8123,
        },
    }
    spec = one_server(tmp_path, entry, environment={"ISSUED": "s3cret-Of-Ci"})
    issuer = "https://issuer.example"
    assert spec.oauth == OAuthClient(
        "ci", client_secret="s3cret-Of-Ci", issuer=issuer, port=8123, grant=Grant.CLIENT_CREDENTIALS
    )
    assert clean("it said s3cret-Of-Ci") == "it said [redacted]"
    assert [one.own for one in spec.expansions] == [("ISSUED",)]
    assert spec.fingerprint() != replace(spec, oauth=OAuthClient()).fingerprint()


BEARER = {"grant": "jwt_bearer", "clientId": "w", "issuer": "https://issuer.example", "assertion": "${WORD}"}


def test_another_assertion_is_no_other_server(tmp_path: Path) -> None:
    def read(assertion: str) -> ServerSpec:
        idp = {"idpTokenUrl": "http://localhost/t", "idpClientId": "c", "idpClientSecret": "At-Idp-1"}
        entry = {"url": "https://notes.example/mcp", "oauth": {**BEARER, **idp}}
        return one_server(tmp_path, entry, environment={"WORD": assertion})

    first, second = read("First.Body.Sign"), read("Second.Body.Sign")
    assert clean("First.Body.Sign At-Idp-1") == "[redacted] [redacted]"
    assert (first.oauth.assertion, second.oauth.assertion) == ("First.Body.Sign", "Second.Body.Sign")
    assert first.consent_id == second.consent_id
    assert first.fingerprint() != replace(first, oauth=replace(first.oauth, idp_token_url="x")).fingerprint()


def test_the_file_of_an_assertion_lies_where_the_configuration_says(tmp_path: Path) -> None:
    oauth = {**BEARER, "assertion": "", "assertionFile": "${NAME}/jwt"}
    entry = {"url": "https://notes.example/mcp", "oauth": oauth}
    assert (
        one_server(tmp_path, entry, environment={"NAME": "ci"}).oauth.assertion_file == f"{tmp_path}/ci/jwt"
    )
    home = one_server(tmp_path, entry, environment={"NAME": "~", "HOME": "/home/me"})
    assert home.oauth.assertion_file == "/home/me/jwt"


@pytest.mark.parametrize(
    ("oauth", "told"),
    [
        ({"grant": "client_credentials", "clientId": "ci"}, "client_credentials"),
        ({"assertion": "a.b.c"}, "assertion has no use with the grant authorization_code"),
        ({"privateKey": "pem"}, "privateKey has no use"),
        ({**BEARER, "privateKey": "pem"}, "privateKey has no use"),
        ({**BEARER, "issuer": ""}, "a client and its issuer"),
        ({**BEARER, "issuer": "issuer.example"}, "issuer is not an http"),
        ({**BEARER, "assertion": ""}, "needs one JWT"),
        ({**BEARER, "assertion": "${EMPTY}"}, "assertion is empty after"),
        ({**BEARER, "assertionFile": "jwt"}, "needs one JWT"),
        ({**BEARER, "idpTokenUrl": "https://idp.example/token"}, "idpClientId is missing"),
        ({**BEARER, "idpTokenUrl": "http://idp.example/token", "idpClientId": "c"}, "not an https URL"),
        ({**BEARER, "idpClientSecret": "s"}, "not an https URL"),
        ({"clientMetadataUrl": "http://plain.example/client.json"}, "clientMetadataUrl"),
        ({"callbackPort": 70_000}, "callbackPort"),
    ],
)
def test_a_client_that_cannot_work_is_an_error(tmp_path: Path, oauth: Any, told: str) -> None:
    entry = {"url": "https://notes.example/mcp", "oauth": oauth}
    with pytest.raises(ConfigError, match=told):
        one_server(tmp_path, entry, environment={"WORD": "a.b.c", "EMPTY": ""})


def test_servers_of_one_folder_have_its_files_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_files: Counter[str] = Counter()

    def counted(file: str, home: Path) -> RunFile | None:
        read_files[Path(file).name] += 1
        return run_file(file, home)

    monkeypatch.setattr(server_entry, "run_file", counted)
    for name in ("one.py", "two.py"):
        (tmp_path / name).write_text("", encoding="utf-8")
    servers = {name: {"command": "python3", "args": [f"{tmp_path}/{name}.py"]} for name in ("one", "two")}
    found = configured(tmp_path, {"mcpServers": servers}).servers
    assert all({Path(file.path).name for file in spec.files} >= {"one.py", "two.py"} for spec in found)
    assert read_files["one.py"] == read_files["two.py"] == 1
