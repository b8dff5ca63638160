"""`toolsight skills`: of folders, of one skill, and of servers."""

import json
import sys
from pathlib import Path

import pytest

from tests.support import skill_server
from tests.support.commands import Toolsight

COLON = "---\nname: {0}\ndescription: Use it when: asked\n---\n"
FINE = "---\nname: {0}\ndescription: Write {0}.\n---\nDo it.\n"


def write(folder: Path, name: str, text: str = FINE) -> Path:
    file = folder / name / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text(text.format(name), encoding="utf-8")
    return file


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a fine and a flawed skill, one of which HOME has too."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    write(tmp_path / "p/.agents/skills", "notes")
    write(tmp_path / "p/.agents/skills", "colon", COLON)
    write(tmp_path / "home/.claude/skills", "notes", FINE.replace("Write", "Compose"))
    monkeypatch.chdir(tmp_path / "p")
    return tmp_path / "p"


def row(text: str, name: str) -> list[str]:
    """The cells of a row."""
    return next(line for line in text.splitlines() if line.split()[:1] == [name]).split("   ")


@pytest.mark.usefixtures("project")
def test_the_table_has_a_row_a_skill_and_a_column_a_client(toolsight: Toolsight) -> None:
    printed = toolsight("skills").stdout
    assert "3 skills: .agents/skills 2, ~/.claude/skills 1" in printed
    assert "find no skill here: continue-cli\n" in printed
    cells = [cell.strip() for cell in row(printed, "colon") if cell.strip()]
    assert cells[:4] == ["colon", "–", "✓ whole", "✓ whole"]
    assert "✕ gone" in cells
    assert row(printed, "codex")[0] == "codex"
    assert "on the text that each client writes, as captured on 2026-11-30" in printed


def test_a_folder_that_holds_skills_is_a_place_of_each_client(toolsight: Toolsight, tmp_path: Path) -> None:
    one = write(tmp_path / "many", "one").parent
    write(tmp_path / "many", "two")
    data = json.loads(toolsight("skills", str(tmp_path / "many"), "--json").stdout)
    assert {(skill["skill"], len(skill["clients"])) for skill in data["skills"]} == {("one", 14), ("two", 14)}
    alone = json.loads(toolsight("skills", str(one), "--json").stdout)
    assert [skill["skill"] for skill in alone["skills"]] == ["one"]


def test_one_skill_is_explained_in_each_place(toolsight: Toolsight, project: Path) -> None:
    printed = toolsight("skills", "notes").stdout
    assert str(project / ".agents/skills/notes/SKILL.md") in printed
    assert "has the same name and wins" in printed
    assert "notes: 2 skills share this name, with 2 different texts" in printed
    assert "activate_skill(name)" in printed
    assert "gemini-cli 0.61.0" in printed


def test_what_a_skill_says_cannot_control_the_terminal(toolsight: Toolsight, tmp_path: Path) -> None:
    write(tmp_path / "many", "bad", '---\nname: "\\e[31mbad"\ndescription: "\\e]0;x\\a now"\n---\n!`rm x`\n')
    for words in ((), ("bad",)):
        printed = toolsight("skills", str(tmp_path / "many"), *words).stdout
        assert "\x1b" not in printed
        assert "\\x1b" in printed
    assert (
        "!`rm x` once it is loaded: claude-code, openhands"
        in toolsight("skills", str(tmp_path / "many"), "bad").stdout
    )


@pytest.mark.usefixtures("project")
def test_a_wrong_name_is_told_with_the_nearest(toolsight: Toolsight) -> None:
    done = toolsight("skills", "note")
    assert done.exit_code == 2
    assert "there is no skill 'note'" in done.stderr
    assert "Skills: notes" in done.stderr


def test_without_skills_it_says_where_to_put_one(
    toolsight: Toolsight, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    done = toolsight("skills", str(tmp_path))
    assert done.exit_code == 0
    assert ".agents/skills/NAME/SKILL.md" in done.stdout


SERVER = ("--approve", "--", sys.executable, skill_server.__file__)


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "by"), [("", "skills/list"), ("old", "resources/list"), ("broken", "")])
def test_servers_skills_are_listed(toolsight: Toolsight, mode: str, by: str) -> None:
    data = json.loads(toolsight("skills", "--json", *SERVER, mode).stdout)
    names = [(one["skill"], one["by"]) for one in data["skills"]]
    assert names == [(name, by or "resources/list") for name in skill_server.ABOUT]
    assert [one["files"] for one in data["skills"]] == ([2, 1] if not mode else [0, 0])
    assert ("the list is broken" in str(data["problems"])) is (mode == "broken")


@pytest.mark.slow
def test_servers_skills_are_shown_by_nobody_and_a_server_that_fails_has_none(toolsight: Toolsight) -> None:
    assert "shown by no client of those measured: claude-code 2.1.332" in toolsight("skills", *SERVER).stdout
    assert toolsight("skills", "--approve", "--", sys.executable, "-c", "1").exit_code == 1
