"""What the question before a start says, and what it marks."""

import pytest

from inspector.config.configuration import Configuration
from inspector.config.consent import Fact, chooses, describe, warnings_text
from inspector.core.server import Expansion, Program, ServerSpec

NPX = Program("/usr/bin/npx", "/usr/lib/npx.js", "/usr/bin/node")

DECISIVE = (
    *(
        "PATH",
        "HOME",
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "LD_AUDIT",
        "DYLD_INSERT_LIBRARIES",
        "BASH_ENV",
        "ENV",
    ),
    *(
        "NODE_OPTIONS",
        "NODE_PATH",
        "PYTHONSTARTUP",
        "PYTHONPATH",
        "PYTHONHOME",
        "PERL5OPT",
        "PERL5LIB",
        "RUBYOPT",
    ),
    *("RUBYLIB", "JAVA_TOOL_OPTIONS", "GIT_SSH_COMMAND", "GIT_CONFIG_VALUE_0", "npm_config_registry"),
    *("NPM_CONFIG_PREFIX", "npm_config_script_shell", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "PIP_INDEX_URL"),
    *("HTTP_PROXY", "https_proxy", "NODE_EXTRA_CA_CERTS", "DOCKER_HOST"),
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


def test_a_file_that_is_written_whole_is_not_said_twice() -> None:
    assert "file" not in lines(ServerSpec("a", "/bin/x", program=Program("/bin/x")))


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


def test_a_secret_hidden_in_a_value_that_decides_hides_only_itself() -> None:
    path = Expansion("env.PATH", ("AWS_SECRET",), "/tmp/evil:${AWS_SECRET}")
    shown = lines(ServerSpec("a", "x", env={"PATH": "/tmp/evil:s3cret"}, expansions=(path,)))
    assert "PATH=/tmp/evil:${AWS_SECRET}" in shown
    assert "s3cret" not in shown


@pytest.mark.parametrize("blank", [" ", "\n", "\t", "\u00a0", "\u3000", "\u2800"])
def test_blanks_cannot_push_the_end_of_a_line_to_where_another_seems_to_begin(blank: str) -> None:
    shown = lines(ServerSpec("a", "x", (f"y{blank * 80}command /usr/bin/safe",)))
    assert "'y[80 spaces]command /usr/bin/safe'" in shown


def test_the_question_says_how_many_lines_are_marked() -> None:
    calm = ServerSpec("a", "x")
    loud = ServerSpec("b", "x", env={"PATH": "/tmp", "LD_PRELOAD": "/tmp/x.so"})
    assert warnings_text(describe(Configuration("mcp.json", (calm,)))) == ""
    assert warnings_text(describe(Configuration("mcp.json", (calm, loud)))) == "Check the 2 lines marked !"
