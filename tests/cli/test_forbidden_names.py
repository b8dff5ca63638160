"""A restricted user who mistypes a name, or guesses a forbidden one, reads no name that is not permitted."""

import json
import re
import sys
from pathlib import Path

import click
import pytest

from inspector import cli
from inspector.cli.options import common_options
from tests.cli.test_help import commands
from tests.support import light_server
from tests.support.commands import Toolsight
from tests.support.weather_configuration import write_weather_configuration

POLICY = """
organisations:
  acme:
    roles: {forecasters: ["weather:get_forecast"]}
    users: {ada: {roles: [forecasters]}, bob: {tools: ["vault:*"]}}
experts: {clerk: ["weather:*"], guard: ["vault:*"]}
"""
FORBIDDEN = ("vault", "get_alerts", "book_ticket", "bob", "guard")
TYPED = "TYPED"
SERVER, TOOL, HIDDEN = "vualt", "vualt:get_alrets", "weather:get_alerts"

# Of each option or argument that takes such a name: the words of the command, and what is typed for TYPED.
NAMED = {
    ("servers", "--wire"): (("servers", "--wire", TYPED), SERVER),
    ("tools", "tool_id"): (("tools", TYPED, "--client", "claude-code"), HIDDEN),
    ("call", "tool"): (("call", TYPED, "city=Oslo"), HIDDEN),
    ("doctor server", "name"): (("doctor", "server", TYPED), SERVER),
    ("search", "--server"): (("search", "rain", "--server", TYPED), SERVER),
    ("search", "--name"): (("search", "rain", "--name", TYPED), TOOL),
    ("search", "--tag"): (("search", "rain", "--tag", TYPED), "scret"),
    ("search", "--why"): (("search", "rain", "--why", TYPED), HIDDEN),
    ("check", "--expect"): (("check", "--no-model", "--expect", f"rain -> {TYPED}"), TOOL),
    ("registry show", "tool_id"): (("registry", "show", TYPED), HIDDEN),
    ("marketplace remove", "server"): (("marketplace", "remove", TYPED, "--yes"), SERVER),
    ("common", "--trust"): (("tools", "--trust", TYPED), SERVER),
    ("common", "--toolset"): (("tools", "--toolset", TYPED), "vualts"),
    ("common", "--user"): (("tools", "--user", TYPED), "bbo"),
    ("common", "--expert"): (("tools", "--expert", TYPED), "gurad"),
}
# Those that take what no policy hides: a query, a file, a client, a ranker, a plugin, a setting.
FREE = {
    *(
        "query",
        "message",
        "given",
        "--try-description",
        "--client",
        "--ranker",
        "--env",
    ),
    "--assume",
    *("--model", "--api-base", "--profile", "--set", "--input", "--policy"),
}
# These show everything, to whom it belongs: they refuse to be told a user.
OWNERS = ("config access", "sessions", "cost", "audit")
OTHERS = {
    *(
        ("race", "asked"),
        ("scenario run", "names"),
        ("scenario compare", "name"),
    ),
    # Files of one's own.
    ("skills", "words"),
    # Calls of one's own file; and they refuse to be told a user.
    *(("call", "--saved"), ("call", "--save"), ("servers", "--sign-in"), ("servers", "--sign-out")),
    *(("marketplace show", "name"), ("marketplace install", "name"), ("search", "--try-name")),
}
# They hand it to the question of consent and to a session, which restricts it for itself.
OPENERS = {
    *("cli/launch.py", "cli/open_app.py", "features/marketplace/command.py", "features/lab/open_lab.py"),
    *("features/lab/command.py", "features/tools/sign_in_command.py"),
    *("features/gateway/command.py", "features/gateway/serve.py", "features/clients/race.py"),
    # The owner's, and what it lists is restricted afterwards.
    *("features/cost/audit/command.py", "features/setup/config_command.py"),
}


@pytest.fixture(scope="module")
def restricted(tmp_path_factory: pytest.TempPathFactory, toolsight: Toolsight) -> tuple[str, ...]:
    """ada on two servers of which she may see one tool; the registry has all tools of both."""
    folder = tmp_path_factory.mktemp("restricted")
    path, policy = write_weather_configuration(folder), folder / "policy.yaml"
    data = json.loads(path.read_text())
    data["mcpServers"]["vault"] = {"command": sys.executable, "args": [light_server.__file__]}
    data["tool_sets"] = {"vaults": {"servers": {"vault": True}}, "open": {"servers": {"weather": True}}}
    data["settings"] = {"discovery.embedding_model": "none", "discovery.tags": {"vault:*": ["secret"]}}
    path.write_text(json.dumps(data), encoding="utf-8")
    policy.write_text(POLICY, encoding="utf-8")
    whole = ("--config", str(path), "--approve")
    assert toolsight("tools", *whole).exit_code == 0
    assert toolsight("registry", "import", *whole, "--set", "discovery.embedding_model=none").exit_code == 0
    return ("--policy", str(policy), "--user", "ada", "--config", str(path), "--approve")


def test_every_option_that_takes_a_name_is_driven_here() -> None:
    taken = set()
    for words, command in commands():
        common = common_options(command)
        if "user" not in {option.name for option in common} or " ".join(words).startswith(OWNERS):
            continue
        for one in (*command.params, *common):
            name = one.opts[0]
            if isinstance(one.type, click.types.StringParamType) and name not in FREE:
                taken.add(("common" if one in common else " ".join(words), name))
    assert taken - OTHERS == set(NAMED)


@pytest.mark.parametrize(("words", "typed"), NAMED.values(), ids=map(" ".join, NAMED))
def test_a_forbidden_name_is_not_read_in_any_answer_to_a_typo_or_a_guess(
    toolsight: Toolsight, restricted: tuple[str, ...], tmp_path: Path, words: tuple[str, ...], typed: str
) -> None:
    places = {TYPED: typed, "CASES": str(tmp_path / "cases.jsonl")}
    given = tuple(places.get(word, word).replace(TYPED, typed) for word in words)
    viewer = restricted if words[0] != "registry" or words[1] == "import" else restricted[:4]
    done = toolsight(*given[:1], *viewer, *given[1:])
    told = (done.stdout + done.stderr).replace(typed, "").replace(restricted[5], "")
    assert told
    assert not [name for name in FORBIDDEN if name in told.casefold()], told


def test_a_check_reports_no_forbidden_name(toolsight: Toolsight, restricted: tuple[str, ...]) -> None:
    done = toolsight("check", "--no-model", "--all", "--json", *restricted)
    assert "weather" in done.stdout
    assert not [name for name in FORBIDDEN if name in done.stdout.casefold()], done.stdout


def test_commands_read_the_restricted_configuration() -> None:
    folder = Path(cli.__file__).parents[1]
    readers = {
        str(path.relative_to(folder))
        for room in ("cli", "features")
        for path in (folder / room).rglob("*.py")
        if re.search(r"\.unrestricted\b", path.read_text(encoding="utf-8"))
    }
    assert readers == OPENERS


def test_a_forbidden_server_is_the_same_as_none(toolsight: Toolsight, restricted: tuple[str, ...]) -> None:
    for words in (("call", "NAME:x"), ("servers", "--wire", "NAME")):
        told = []
        for name in ("vault", "qqqqq"):
            done = toolsight(*(word.replace("NAME", name) for word in words), *restricted)
            told.append((done.exit_code, (done.stdout + done.stderr).replace(name, "NAME")))
        assert told[0] == told[1]
        assert told[0][0] == 2


def test_a_configuration_that_cannot_be_read_names_no_server_to_a_user(
    toolsight: Toolsight, restricted: tuple[str, ...], tmp_path: Path
) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text(json.dumps({"mcpServers": {"vault": {"command": 7}}}))
    done = toolsight("tools", *restricted[:4], "--config", str(broken))
    assert done.exit_code == 2
    assert "vault" not in done.stderr
    assert "vault" in toolsight("tools", "--config", str(broken)).stderr


@pytest.mark.parametrize("words", [("tools",), ("call", "weather:get_forecast")])
def test_a_pattern_without_a_match_is_an_error_of_the_policy(
    toolsight: Toolsight, restricted: tuple[str, ...], tmp_path: Path, words: tuple[str, ...]
) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(POLICY.replace("get_forecast", "get_forecats"), encoding="utf-8")
    done = toolsight(*words, "--policy", str(policy), *restricted[2:])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "error: --policy: weather:get_forecats matches no tool" in done.stderr


def test_a_pattern_for_another_server_does_not_keep_a_tool_from_being_called(
    toolsight: Toolsight, restricted: tuple[str, ...], tmp_path: Path
) -> None:
    policy = tmp_path / "policy.yaml"
    both = POLICY.replace('["weather:get_forecast"]', '["weather:get_forecast", "vault:get_alerts"]')
    policy.write_text(both, encoding="utf-8")
    call = ("call", "weather:get_forecast", "city=Oslo", "--yes")
    done = toolsight(*call, "--policy", str(policy), *restricted[2:])
    assert done.exit_code == 0, done.stderr
    assert "access.policy" not in done.stderr
