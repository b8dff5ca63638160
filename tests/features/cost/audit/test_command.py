"""`toolsight audit` on client files in a temporary home folder, and its reports."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inspector.cli import consent
from inspector.cli.options import Options
from inspector.cli.table import say_report
from inspector.config.client import ClientConfiguration
from inspector.config.configuration import Configuration
from inspector.core.budget import Prices, Tokenizer
from inspector.core.report import Facts, Question
from inspector.core.server import ServerSpec
from inspector.core.tool import Tool
from inspector.features.cost.audit.audit import Pricing, configuration_audit
from inspector.features.cost.audit.command import _is_allowed, audit_machine
from inspector.features.cost.audit.facts import audit_report
from inspector.features.cost.audit.result import Audit, Basis, Problem, Reading, Subject
from inspector.store.server_memory import MemoryServerMemory
from tests.support.commands import Done, Toolsight
from tests.support.fakes import character_meter
from tests.support.hostile import by_hostile_kind
from tests.support.mcp_case import SERVERS

PRICES = Prices("m", 2e-6, 8e-6, cache_read=0.5e-6, source="a list", date="of today")

Run = Callable[..., Done]


def server(name: str, state: Path, **more: Any) -> dict[str, Any]:
    environment = {"TOOLSIGHT_STATE": str(state), **more}
    return {"command": sys.executable, "args": [str(SERVERS / f"{name}.py")], "env": environment}


def written(path: Path, content: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five clients: two that work, one without its keys, one broken, one without servers."""
    folder = tmp_path_factory.mktemp("home")
    weather, calc = server("weather", folder), server("calc", folder)
    desktop = folder / ".config" / "Claude" / "claude_desktop_config.json"
    written(desktop, {"mcpServers": {"weather": weather, "calc": calc}})
    projects = {"/projects/engine": {"mcpServers": {"sky": weather}}, "/none": {}}
    written(folder / ".claude.json", {"numStartups": 4, "projects": projects})
    lacking = {
        "locked": {"command": "locked", "env": {"TOKEN": "${NO_SUCH_TOKEN}"}},
        "ends": server("faulty", folder, FAULT="crash_on_start"),
        "gone": {"command": "no-such-command-anywhere"},
    }
    written(folder / ".cursor" / "mcp.json", {"mcpServers": lacking})
    written(folder / ".codeium" / "windsurf" / "mcp_config.json", '{"mcpServers": {"a": ')
    written(folder / ".gemini" / "settings.json", {"theme": "x"})
    (folder / "project").mkdir()
    return folder


@pytest.fixture(scope="module")
def run(toolsight: Toolsight, home: Path) -> Run:
    return in_home(toolsight, home)


def in_home(toolsight: Toolsight, home: Path) -> Run:
    """Runs the command in the folder `project` of the home folder."""
    elsewhere = {
        name: None for name in ("XDG_STATE_HOME", *os.environ) if name.startswith(("XDG_", "CLAUDE_"))
    }
    variables = {"HOME": str(home), "TOOLSIGHT_DB": str(home / "toolsight.db"), "COLUMNS": "160"}

    def run(*arguments: str) -> Done:
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(home / "project")
            return toolsight("audit", *arguments, **{**elsewhere, **variables})

    return run


@pytest.fixture(scope="module")
def approved(run: Run) -> dict[str, Any]:
    done = run("--approve", "--json")
    assert done.exit_code == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def servers(found: dict[str, Any], client: str) -> dict[str, Any]:
    (one,) = [one for one in found["configurations"] if one["client"] == client]
    return {server["name"]: server for server in one["servers"]}


def test_without_consent_nothing_is_started(run: Run, tmp_path: Path) -> None:
    done = run("--json", "--db", str(tmp_path / "other.db"))
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    reasons = {name: one["reason"] for name, one in servers(found, "Claude Desktop").items()}
    assert reasons == {"weather": "not approved", "calc": "not approved"}
    assert servers(found, "Cursor")["locked"]["reason"] == "needs NO_SUCH_TOKEN"
    assert all(one["tokens"] == 0 for one in found["configurations"])


def test_every_client_is_audited_and_shared_servers_have_the_same_numbers(approved: dict[str, Any]) -> None:
    clients = [(one["client"], one["scope"]) for one in approved["configurations"]]
    assert clients == [
        ("Claude Desktop", "user"),
        ("Claude Code", "project /projects/engine"),
        ("Cursor", "user"),
    ]
    desktop, code = servers(approved, "Claude Desktop"), servers(approved, "Claude Code")
    assert desktop["weather"]["tools"] == code["sky"]["tools"] == 5
    assert all(tool["id"].startswith("sky:") for tool in code["sky"]["definitions"])


def test_people_get_tables_and_the_basis_and_no_file_of_a_client_changes(
    run: Run, approved: dict[str, Any], home: Path
) -> None:
    assert approved
    files = [path for path in home.rglob("*.json") if path.is_file()]
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}
    done = run()
    assert done.exit_code == 0, done.stderr
    for text in (
        "Claude Desktop, user   ~/.config/Claude/claude_desktop_config.json",
        "not measured: needs NO_SUCH_TOKEN",
        "with every tool deferred",
        "an assumed session of 30 model calls",
        "vs static",
        "All configurations",
        "not audited: Windsurf",
        "no servers in: ~/.gemini/settings.json",
        "o200k_base, exact",
        "price list",
        "1. Leave it as is: 9 tools",
    ):
        assert text in done.stdout
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in before} == before


def test_in_the_app_snapshots_stand_in_and_nothing_is_asked_or_started(
    approved: dict[str, Any], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home / "project")
    for name in ("ask_servers", "require_consent"):
        monkeypatch.setattr(f"inspector.features.cost.audit.command.{name}", None)
    found = audit_machine(Options(database=home / "toolsight.db"))
    here = {one.source: one.tokens for one in found.configurations}
    assert here == {one["source"]: one["tokens"] for one in approved["configurations"]}
    assert [problem.client for problem in found.problems] == ["Windsurf"]


def test_a_person_is_asked_for_each_file(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def answer(question: Question) -> bool:
        head = question.blocks[0]
        assert isinstance(head, Facts)
        asked.append(head.title)
        return head.title.startswith("yes")

    monkeypatch.setattr(consent, "_agrees", answer)
    memory = MemoryServerMemory()
    spec = ServerSpec("a", "a")
    yes = ClientConfiguration("Cursor", "user", Configuration("yes.json", (spec,)))
    no = ClientConfiguration("Cline", "user", Configuration("no.json", (ServerSpec("b", "b"),)))
    nothing = ClientConfiguration("Cline", "user", Configuration("yes.json", ()))
    found = [_is_allowed(one, memory, approve=False) for one in (yes, no, nothing, yes)]
    assert found == [True, False, False, True]
    assert asked == ["yes.json (Cursor, user)", "no.json (Cline, user)"]


# Reports


def made(*names: str, tools: int = 3, **more: Any) -> Audit:
    """An audit of configurations with one measured server each, of these names."""
    found = []
    for name in names:
        own = tuple(Tool(name, f"{name}{number}", name) for number in range(tools))
        readings = {name: Reading(own), f"{name}2": Reading(reason=name, hint=name)}
        subject = Subject("Cursor", f"project {name}", Configuration(f"/x/{name}", ()), readings)
        found.append(configuration_audit(subject, character_meter(), Pricing(PRICES)))
    return Audit(Basis("m", Tokenizer("characters", exact=True), 1000, PRICES), tuple(found), **more)


@pytest.mark.slow
@by_hostile_kind
def test_no_name_breaks_a_table_or_controls_the_terminal(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    problem = Problem("Cline", text, text, text, text)
    found = made(text, "other", problems=(problem,), empty=(text,))
    say_report(audit_report(found))
    assert "\x1b" not in capsys.readouterr().out
