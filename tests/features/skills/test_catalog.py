"""Skills in the catalog: found beside tools, loaded by a call, and nothing without the setting."""

import json
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from inspector.core.ranking import Outcome
from tests.features.skills.test_command import COLON, FINE, write
from tests.support import skill_server
from tests.support.commands import Toolsight

HERE = ("--set", "discovery.skills=.")
SERVER = ("--set", "discovery.skills=servers", "--", sys.executable, skill_server.__file__)
PDF = "---\nname: {0}\ndescription: Fill in the fields of a PDF form.\n---\n1. List them.\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with three skills, one of which HOME has too; nothing can be shown of another one."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name, text in (("pdf", PDF), ("notes", FINE), ("blank", "---\nname: blank\n---\n")):
        write(tmp_path / "p/.agents/skills", name, text)
    write(tmp_path / "home/.claude/skills", "notes", FINE.replace("Write", "Compose"))
    monkeypatch.chdir(tmp_path / "p")
    return tmp_path / "p"


@pytest.mark.usefixtures("project")
def test_a_search_finds_skills_beside_tools_and_explains_why(toolsight: Toolsight) -> None:
    found = json.loads(toolsight("search", "fill in a form", "--demo", *HERE, "--json").stdout)
    best = found["hits"][0]["score"]
    assert best["tool_id"] == "skills:pdf"
    assert sum(part["value"] for part in best["parts"]) == pytest.approx(best["value"], abs=1e-9)
    only = json.loads(toolsight("search", "notes", "--tag", "skill", "--demo", *HERE, "--json").stdout)
    tagged = {one["score"]["tool_id"] for one in only["hits"] if one["outcome"] != Outcome.OTHER_TAG}
    assert tagged == {"skills:notes", "skills:pdf"}


def test_a_chat_finds_a_skill_and_its_body_is_in_the_answer(toolsight: Toolsight, project: Path) -> None:
    told = json.loads(toolsight("chat", "Fill in the PDF form", "--demo", *HERE, "--json").stdout)
    result = next(one["event"] for one in told if one["kind"] == "result")
    assert (result["tool"], result["ok"]) == ("skills:pdf", True)
    assert result["text"] == f"Folder of this skill: {project}/.agents/skills/pdf\n\n1. List them."


def test_a_call_reads_the_body_as_it_is_now(toolsight: Toolsight, project: Path) -> None:
    assert toolsight("call", "skills:notes", *HERE).stdout.endswith("\nDo it.\n")
    (project / ".agents/skills/notes/SKILL.md").write_text(
        FINE.replace("Do", "Skip").format("notes"), encoding="utf-8"
    )
    assert toolsight("call", "skills:notes", *HERE).stdout.endswith("\nSkip it.\n")


@pytest.mark.usefixtures("project")
def test_of_one_name_the_project_counts_and_what_has_no_text_is_left_out(toolsight: Toolsight) -> None:
    (server,) = json.loads(toolsight("servers", *HERE, "--json").stdout)
    assert [(one["name"], one["reason"]) for one in server["skipped"]] == [("blank", "no description")]
    tools = json.loads(toolsight("tools", *HERE, "--json").stdout)
    assert {one["id"]: one["description"] for one in tools} == {
        "skills:notes": "Write notes.",
        "skills:pdf": "Fill in the fields of a PDF form.",
    }
    assert "call it to read its instructions" in str(tools[0]["definition"])


@pytest.mark.usefixtures("project")
def test_no_real_client_is_said_to_get_them_as_tools(toolsight: Toolsight) -> None:
    assert json.loads(toolsight("tools", "--client", "codex", *HERE, "--json").stdout)["tools"] == []


def test_a_check_says_what_is_gone_because_of_which_line_and_who_wins(
    toolsight: Toolsight, project: Path
) -> None:
    write(project / ".agents/skills", "colon", COLON)
    found = json.loads(toolsight("check", "--no-model", *HERE, "--json").stdout)["findings"]
    told = {(one["rule"], one["message"].removeprefix(str(project))): one["proof"] for one in found}
    gone = told["skill-gone", "/.agents/skills/colon/SKILL.md:3: value with a colon needs quotes"]
    assert "gone in 6 of 11 clients because of this (4 say nothing): copilot-cli," in gone
    twice = told["skill-twice", "notes: 2 skills share this name, with 2 different texts. Clients show:"]
    assert twice.endswith("/home/.claude/skills/notes/SKILL.md: opencode")
    assert {name for name, _ in told} == {"skill-gone", "skill-twice"}
    (project / ".agents/skills/blank/SKILL.md").unlink()
    assert toolsight("check", "--no-model", "--fail-on", "warning", *HERE).exit_code == 3
    assert toolsight("check", "--no-model", "--fail-on", "warning", "--client", "codex", *HERE).exit_code == 0


def test_a_check_names_what_is_lost_with_an_emptied_folder(toolsight: Toolsight, project: Path) -> None:
    write(project / ".agents/skills", "free", "---\nname: free\ndescription: It.\nlicense: 2.0\n---\n")
    printed = toolsight("check", "--no-model", "--client", "openhands", *HERE).stdout
    assert "free/SKILL.md:4: license is not text (2.0)" in printed
    assert "3 other skills with it in openhands" in printed


def test_a_check_shows_what_controls_a_terminal(toolsight: Toolsight, project: Path) -> None:
    write(project / ".agents/skills", "bad", "---\nname: bad\ndescription: Re\x1b[2Jd\n---\n")
    printed = toolsight("check", "--no-model", *HERE).stdout
    assert "bad/SKILL.md:3: not YAML" in printed
    assert "description: Re\\x1b[2Jd" in printed


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["", "old"])
def test_a_servers_skill_is_found_and_read_from_it(toolsight: Toolsight, mode: str) -> None:
    found = json.loads(toolsight("search", "check an invoice", "--json", *SERVER, mode).stdout)
    assert found["hits"][0]["score"]["tool_id"] == "skill_server:skill-invoice-check"
    printed = toolsight("call", "skill_server:skill-invoice-check", *SERVER, mode).stdout
    assert printed.startswith("Address of this skill: skill://invoice-check/SKILL.md\n")
    assert printed.endswith("Do it step by step.\n")


@pytest.mark.slow
def test_a_server_with_a_process_of_its_own_serves_the_same_skill(toolsight: Toolsight) -> None:
    *before, script = SERVER
    asked = ("call", "skill_server:skill-release-notes")
    own = toolsight(*asked, *before, "-u", script)
    assert own == toolsight(*asked, *SERVER)
    assert own.stdout.endswith("Do it step by step.\n")


@pytest.mark.slow
def test_a_skill_that_is_not_what_its_server_listed_is_refused(toolsight: Toolsight) -> None:
    done = toolsight("call", "skill_server:skill-invoice-check", *SERVER, "changed")
    assert done.exit_code != 0
    listed = sha256(skill_server.text_of("invoice-check").encode()).hexdigest()
    assert (
        "skill://invoice-check/SKILL.md is not what its server listed: its digest is sha256:" in done.stderr
    )
    assert f"not sha256:{listed}" in done.stderr
    assert "reconnect" in done.stderr
    assert "Pay it" not in done.stdout
    assert toolsight("call", "skill_server:skill-release-notes", *SERVER, "changed").exit_code == 0


@pytest.mark.slow
def test_a_list_of_skills_that_fails_costs_no_tool(toolsight: Toolsight) -> None:
    (server,) = json.loads(toolsight("servers", "--json", *SERVER, "broken").stdout)
    assert server["phase"] == "ready"
    assert "the list is broken" in str(server["skipped"])
