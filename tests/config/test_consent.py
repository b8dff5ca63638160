"""Consent: what the question says and marks, what it covers, and what asks again."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from inspector.config import program
from inspector.config.configuration import Configuration, Named
from inspector.config.consent import approve, approve_work, check_consent, describe
from inspector.config.reader import read
from inspector.config.suspect import chooses
from inspector.core.report import Fact
from inspector.core.server import (
    ChangedFile,
    Era,
    Expansion,
    Grant,
    OAuthClient,
    Program,
    RunFile,
    ServerSpec,
)
from inspector.features.marketplace.marketplace import marketplace_of
from inspector.store.server_memory import MemoryServerMemory
from tests.support.marketplace import market, servers_and_money
from tests.support.memory_servers import MemoryEditor
from tests.support.workbench import configured, opened, shop_and_weather

NPX = Program("/usr/bin/npx", "/usr/lib/npx.js", "/usr/bin/node")

DECISIVE = (
    *("PATH", "HOME", "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "BASH_ENV"),
    *("ENV", "NODE_OPTIONS", "NODE_PATH", "PYTHONSTARTUP", "PYTHONPATH", "PYTHONHOME", "PERL5OPT"),
    *("PERL5LIB", "RUBYOPT", "RUBYLIB", "JAVA_TOOL_OPTIONS", "GIT_SSH_COMMAND", "GIT_CONFIG_VALUE_0"),
    *("npm_config_registry", "NPM_CONFIG_PREFIX", "npm_config_script_shell", "UV_INDEX_URL"),
    *("UV_DEFAULT_INDEX", "PIP_INDEX_URL", "HTTP_PROXY", "https_proxy", "NODE_EXTRA_CA_CERTS"),
    "DOCKER_HOST",
)


def facts(spec: ServerSpec) -> list[Fact]:
    (server,) = describe(Configuration("mcp.json", (spec,)))
    return list(server.facts())


def lines(spec: ServerSpec) -> str:
    return "\n".join(f"{'!' if fact.warns else ' '} {fact.label} {fact.text}" for fact in facts(spec))


def test_a_command_is_shown_with_the_file_its_target_and_what_runs_it() -> None:
    shown = lines(ServerSpec("a", "npx", ("x",), program=NPX))
    assert "  command npx x\n  file /usr/bin/npx\n  links to /usr/lib/npx.js\n  run by /usr/bin/node" in shown
    assert "!" not in shown


def test_a_command_without_a_file_and_a_script_without_its_interpreter_are_marked() -> None:
    assert "! missing no file found for npx" in lines(ServerSpec("a", "npx", program=Program()))
    orphan = Program("/bin/x", interpreter="node")
    assert "! run by node, not found" in lines(ServerSpec("a", "/bin/x", program=orphan))


@pytest.mark.parametrize("name", DECISIVE)
def test_the_value_of_a_variable_that_chooses_what_runs_is_shown_and_marked(name: str) -> None:
    (fact,) = (fact for fact in facts(ServerSpec("a", "x", env={name: "/tmp/evil"})) if fact.warns)
    assert fact == Fact("chooses", f"{chooses(name)}: {name}=/tmp/evil", warns=True)
    assert chooses(name)


@pytest.mark.parametrize(
    "name", ["TOKEN", "npm_config__auth", "UV_INDEX_SHOP_PASSWORD", "DEBUG", "PATHS", "KEY"]
)
def test_the_value_of_any_other_variable_is_never_shown(name: str) -> None:
    shown = lines(ServerSpec("a", "x", env={name: "s3cret"}))
    assert f"gets {name}" in shown
    assert "s3cret" not in shown
    assert "!" not in shown


def test_the_credentials_in_a_value_that_is_shown_are_not() -> None:
    shown = lines(ServerSpec("a", "x", env={"PIP_INDEX_URL": "https://me:hunter2@evil.example/simple"}))
    assert "https://***@evil.example/simple" in shown


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://me:pw@api.example.com:8443/mcp?x=@other.example", "api.example.com:8443"),
        ("https://api.example.com?x=/y", "api.example.com"),
        ("https://api.example.com#@other.example", "api.example.com"),
    ],
)
def test_every_own_variable_that_goes_to_a_host_is_named_and_a_secret_is_marked(url: str, host: str) -> None:
    sent = (
        Expansion("headers.X-Trace", ("AWS_SECRET_ACCESS_KEY", "LANG"), "${AWS_SECRET_ACCESS_KEY} de"),
        Expansion("headers.X-Key", ("input github-token",), "${input:github-token}"),
    )
    shown = lines(ServerSpec("a", url=url, headers={"X-Trace": "s3cret de"}, expansions=sent))
    assert f"! secret passes your AWS_SECRET_ACCESS_KEY to {host} in the header X-Trace" in shown
    assert f"  yours passes your LANG to {host} in the header X-Trace" in shown
    assert f"! secret passes your input github-token to {host} in the header X-Key" in shown
    assert "s3cret" not in shown


def test_a_jwt_and_a_secret_are_said_to_go_to_whom_oauth_sends_them() -> None:
    client = OAuthClient(grant=Grant.JWT_BEARER, issuer="https://login.example", assertion_file="/run/jwt")
    own = ("assertionFile", "DIR"), ("clientSecret", "AT_ISSUER_KEY"), ("idpClientSecret", "AT_IDP_KEY")
    given = tuple(Expansion(f"oauth.{key}", (name,), f"${{{name}}}") for key, name in own)
    spec = ServerSpec("a", url="https://notes.example/mcp", oauth=client, expansions=given)
    shown = lines(spec)
    assert "! secret passes your file /run/jwt to login.example as oauth.assertionFile" in shown
    assert "! secret passes your AT_ISSUER_KEY to login.example as oauth.clientSecret" in shown
    assert "DIR" not in shown
    host = Expansion("oauth.idpTokenUrl", ("TENANT_KEY",), "https://${TENANT_KEY}.idp.example/token")
    idp = replace(client, idp_token_url="https://s3cret.idp.example/token")
    shown = lines(replace(spec, oauth=idp, expansions=(*given, host)))
    assert "! secret passes your file /run/jwt to ${TENANT_KEY}.idp.example as oauth.assertionFile" in shown
    assert "passes your AT_IDP_KEY to ${TENANT_KEY}.idp.example as oauth.idpClientSecret" in shown
    assert "passes your TENANT_KEY to ${TENANT_KEY}.idp.example as oauth.idpTokenUrl" in shown
    assert "passes your AT_ISSUER_KEY to login.example" in shown
    assert "s3cret" not in shown
    assert "passes your" not in lines(ServerSpec("a", "x", oauth=client, expansions=given))


def test_a_name_before_the_host_is_not_mistaken_for_it() -> None:
    assert "address https://***@evil.example/mcp" in lines(
        ServerSpec("a", url="https://a.example@evil.example/mcp")
    )


def test_own_variables_in_an_address_or_a_command_line_are_named_and_secrets_stay_as_written() -> None:
    asked = Expansion("url", ("SHOP_KEY",), "https://shop.example/?key=${SHOP_KEY}")
    shown = lines(ServerSpec("a", url="https://shop.example/?key=s3cret", expansions=(asked,)))
    assert "! secret passes your SHOP_KEY to shop.example in the address" in shown
    assert "s3cret" not in shown
    given = Expansion("args[1]", ("SHOP_KEY",), "--key=${SHOP_KEY}")
    shown = lines(ServerSpec("a", "x", ("-v", "--key=s3cret"), expansions=(given,)))
    assert "command x -v '--key=${SHOP_KEY}'" in shown
    assert "! secret passes your SHOP_KEY to this program on its command line" in shown
    assert "s3cret" not in shown


def test_what_every_process_has_of_a_person_is_not_told_again() -> None:
    path = Expansion("env.PATH", ("HOME", "PATH"), "/home/ada/bin:/bin")
    assert "yours" not in lines(ServerSpec("a", "x", env={"PATH": "/home/ada/bin:/bin"}, expansions=(path,)))


@pytest.mark.parametrize("blank", [" ", "\n", "\t", "\u00a0", "\u3000", "\u2800"])
def test_blanks_cannot_push_the_end_of_a_line_to_where_another_seems_to_begin(blank: str) -> None:
    shown = lines(ServerSpec("a", "x", (f"y{blank * 80}command /usr/bin/safe",)))
    assert "'y[80 spaces]command /usr/bin/safe'" in shown


def script(*lines: str, asks: bool = False) -> RunFile:
    return RunFile("/srv/a.py", repr(lines), asks)


def running(file: RunFile, *others: ServerSpec) -> Configuration:
    return Configuration("mcp.json", (ServerSpec("shop", "python", ("a.py",), files=(file,)), *others))


@pytest.fixture
def memory() -> MemoryServerMemory:
    return MemoryServerMemory()


def test_a_part_of_what_was_approved_is_approved_and_more_is_not(memory: MemoryServerMemory) -> None:
    whole = running(script("one"), ServerSpec("mail", "mail"))
    approve(whole, memory)
    for part in (whole, replace(whole, servers=whole.servers[1:]), replace(whole, servers=())):
        assert check_consent(part, memory).is_approved
    assert not check_consent(running(script("one"), ServerSpec("mail", "other")), memory).is_approved


def test_a_changed_script_asks_unless_the_settings_let_a_person_s_own_be_told(
    memory: MemoryServerMemory,
) -> None:
    approve(running(script("one", "two")), memory)
    own = running(script("one", "other", "more"))
    told = check_consent(replace(own, tells_changes=True), memory)
    assert told.is_approved
    assert told.changed == {"shop": (ChangedFile("/srv/a.py"),)}
    assert not check_consent(own, memory).is_approved
    foreign = running(script("one", "other", "more", asks=True))
    asked = check_consent(replace(foreign, tells_changes=True), memory)
    assert not asked.is_approved
    facts = [fact.text for fact in asked.question[0].facts() if fact.label == "changed" and fact.warns]
    assert facts == ["/srv/a.py: changed since you approved it"]
    approve(running(script("one", "other", "more", asks=True)), memory)
    assert check_consent(running(script("one", "other", "more", asks=True)), memory).is_approved


def test_the_question_says_what_no_file_covers() -> None:
    spec = ServerSpec("a", "npx", ("-y", "shop"), uncovered=("shop (npm): whatever version is newest",))
    facts = describe(Configuration("mcp.json", (spec,)))[0].facts()
    assert [fact.text for fact in facts if fact.label == "not read"] == [*spec.uncovered]


def test_what_changed_under_watch_is_remembered_and_what_another_user_changed_is_not(
    tmp_path: Path, memory: MemoryServerMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, other = tmp_path / "server.py", tmp_path / "other.py"
    own.write_text("import other\n", encoding="utf-8")
    other.write_text("", encoding="utf-8")
    entry = {"mcpServers": {"a": {"command": sys.executable, "args": ["server.py"], "cwd": "."}}}
    (tmp_path / "mcp.json").write_text(json.dumps(entry), encoding="utf-8")

    def opened() -> Configuration:
        return read(tmp_path / "mcp.json", environment={})

    approve_work(opened().servers[0], "mcp.json", memory)
    assert not check_consent(opened(), memory).is_approved  # What nobody approved stays so.
    approve(opened(), memory)
    monkeypatch.setattr(program, "_is_own", lambda path: path.name != "other.py")
    for path in (own, other):
        path.write_text("import other  # changed\n", encoding="utf-8")
    approve_work(opened().servers[0], "mcp.json", memory)
    assert [Path(file.path).name for file in check_consent(opened(), memory).asking] == ["other.py"]


@pytest.mark.parametrize("is_trusted", [False, True])
def test_what_settings_name_is_asked_for_even_where_servers_are_trusted(
    memory: MemoryServerMemory, is_trusted: bool
) -> None:
    named = Named("access.predicates", "/srv/own.py", "d1")
    plain = replace(running(script("one")), trusted=is_trusted)
    approve(plain, memory)
    assert check_consent(plain, memory).is_approved
    naming = replace(plain, named=(named,))
    check = check_consent(naming, memory)
    assert not check.is_approved
    assert any(named.text in fact.text for fact in check.question[-1].facts())
    assert [server.name for server in check.question] == ["shop", "settings"][is_trusted:]
    approve(naming, memory)
    assert check_consent(naming, memory).is_approved
    assert not check_consent(replace(plain, named=(replace(named, text="other"),)), memory).is_approved


@pytest.mark.parametrize("is_empty", [False, True])
async def test_installing_into_a_configuration_that_nobody_approved_stores_no_consent(is_empty: bool) -> None:
    known = configured(shop_and_weather())
    configuration = replace(known, servers=(), toolsets={}) if is_empty else known
    ports = market(editor=MemoryEditor())
    async with opened(
        servers=servers_and_money(), configuration=configuration, approved=False, marketplace=ports
    ) as rig:
        await rig.bench.install(marketplace_of(rig.bench).plan("currency"))
        assert [spec.name for spec in rig.bench.configuration.servers][-1] == "currency"
        assert rig.memory.approvals == {}
        await rig.bench.remove_server(marketplace_of(rig.bench).removal("currency"))
        assert rig.memory.approvals == {}


texts = st.one_of(st.text("ab -=", max_size=3), st.text(max_size=3))
tables = st.dictionaries(texts, texts, min_size=1, max_size=3)
arguments = st.lists(texts, min_size=2, max_size=3, unique=True).map(tuple)
specs = st.builds(
    ServerSpec, st.sampled_from(["shop", "mail"]), texts, arguments, tables, texts, texts, tables
)


def configuration(*servers: ServerSpec) -> Configuration:
    return Configuration("mcp.json", servers)


def covers(given_for: Configuration, wanted: Configuration) -> bool:
    """Whether a consent to one configuration covers another one."""
    return set(wanted.consent_items()) <= set(given_for.consent_items())


RUNS = ServerSpec(
    "shop", "npx", ("-y", "shop"), {"A": "1"}, "/srv", "https://shop.example", headers={"X": "1"}
)


@pytest.mark.parametrize(
    "other",
    [
        *({field: f"{getattr(RUNS, field)}x"} for field in ("command", "cwd", "url")),
        *(
            {"args": args}
            for args in (("-y",), ("shop", "-y"), ("-y", "shop", ""), ("-y shop",), ("-y", "shopx"))
        ),
        {"command": "npx -y", "args": ("shop",)},
        *({field: table} for field in ("env", "headers") for table in ({}, {"A": "2"}, {"A": "1", "B": ""})),
    ],
)
def test_any_change_of_what_runs_voids_the_consent(other: dict[str, Any]) -> None:
    assert replace(RUNS, **other).fingerprint() != RUNS.fingerprint()
    assert not covers(configuration(RUNS), configuration(replace(RUNS, **other)))


FOUND = Program("/usr/bin/npx", "/usr/lib/npx.js", "/usr/bin/node")
SENT = Expansion("headers.X-Key", ("SHOP_KEY",), "${SHOP_KEY}")


@pytest.mark.parametrize(
    "other",
    [
        {"program": Program("/tmp/npx", FOUND.target, FOUND.interpreter)},
        {"program": Program(FOUND.file, "/tmp/npx.js", FOUND.interpreter)},
        {"program": Program(FOUND.file, FOUND.target, "/tmp/node")},
        {"program": Program()},
        {"expansions": ()},
        {"expansions": (SENT, Expansion("headers.X-Trace", ("AWS_SECRET",), "${AWS_SECRET}"))},
        {"expansions": (replace(SENT, own=("AWS_SECRET",)),)},
        {"expansions": (replace(SENT, key="headers.X-Trace"),)},
    ],
)
def test_another_file_or_another_own_variable_voids_the_consent_and_not_what_is_remembered(
    other: dict[str, Any],
) -> None:
    spec = ServerSpec("shop", "npx", ("shop",), program=FOUND, expansions=(SENT,))
    assert not covers(configuration(spec), configuration(replace(spec, **other)))
    assert replace(spec, **other).fingerprint() == spec.fingerprint()


@given(st.lists(specs, min_size=1, max_size=3, unique_by=lambda spec: spec.fingerprint()))
def test_a_consent_covers_the_same_servers_in_any_order_and_any_of_them_and_no_other(
    servers: list[ServerSpec],
) -> None:
    given_for = configuration(*servers)
    assert covers(given_for, configuration(*reversed(servers)))
    assert covers(given_for, configuration(*servers[1:]))
    assert not covers(configuration(*servers[1:]), given_for)
    assert not covers(given_for, configuration(replace(servers[0], name="other"), *servers[1:]))


@pytest.mark.parametrize(
    "unrelated",
    [
        {"defer_loading": True},
        {"tags": ("x",)},
        {"phrases": {"zap it": "Delete"}},
        {"era": Era.LEGACY},
        {"connect_timeout": 1.0},
        {"call_timeout": 1.0},
    ],
)
def test_what_does_not_change_what_runs_keeps_the_consent(unrelated: dict[str, Any]) -> None:
    spec = ServerSpec("shop", "node", ("shop.js",), {"TOKEN": "t"})
    assert replace(spec, **unrelated).fingerprint() == spec.fingerprint()
