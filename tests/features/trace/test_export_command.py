"""`toolsight export`: a page has what the command prints, a session is opened without what it came from."""

from pathlib import Path

import pytest

from inspector.store.store import SqliteStore
from tests.core.test_event import records
from tests.session.test_timeline import STORY
from tests.support.commands import Toolsight


@pytest.fixture(scope="module", autouse=True)
def recorded(database: Path) -> None:
    with SqliteStore(database) as store:
        store.append_all(records(STORY, "20260101-a"))


def test_a_page_has_what_the_command_prints(toolsight: Toolsight, tmp_path: Path) -> None:
    page = tmp_path / "cost.html"
    done = toolsight("export", "-o", str(page), "cost", "--demo")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{page}: ")
    text = page.read_text()
    assert "<h1>Cost</h1>" in text
    assert "<code>toolsight cost --demo</code>" in text
    printed = toolsight("cost", "--demo").stdout
    assert all(word in text for word in printed.replace("─", " ").split() if word.isalnum())
    assert page.stat().st_mode & 0o077 == 0


def test_without_a_command_it_is_the_newest_session_by_its_name(toolsight: Toolsight, tmp_path: Path) -> None:
    page = tmp_path / "run.html"
    for words in ((), ("20260101-a",), ("sessions", "show", "20260101-a")):
        assert toolsight("export", *words, "-o", str(page)).exit_code == 0
        text = page.read_text()
        assert "<code>toolsight sessions show 20260101-a</code>" in text
        assert "which orders are late?" in text
        assert "Tools by model call" in text


def test_a_gate_that_fails_has_its_page_and_its_exit_code(toolsight: Toolsight, tmp_path: Path) -> None:
    page = tmp_path / "check.html"
    words = ("check", "--demo", "--budget", "10")
    assert toolsight("export", "-o", str(page), *words).exit_code == toolsight(*words).exit_code == 3
    assert "<h1>Check</h1>" in page.read_text()


def test_a_session_is_shown_from_its_file_alone(toolsight: Toolsight, tmp_path: Path) -> None:
    file = tmp_path / "run.toolsight"
    assert toolsight("export", "-o", str(file), "sessions", "show", "20260101-a").exit_code == 0
    elsewhere = {"TOOLSIGHT_DB": str(tmp_path / "other.db")}
    shown = toolsight("sessions", "show", str(file), "--json", **elsewhere)
    assert shown.stdout == toolsight("sessions", "show", "20260101-a", "--json").stdout
    assert not (tmp_path / "other.db").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("-o", "run.txt"), "ends in .html for a page, or in .toolsight for a session"),
        (("-o", "a.html", "cots"), "Did you mean `cost`?"),
        (("-o", "a.html", "cost", "--demo", "--json"), "leave out --json"),
        (("-o", "a.toolsight", "cost", "--demo"), "takes one session"),
        (("-o", "a.toolsight", "nowhere"), "there is no session 'nowhere'"),
        (("cost",), "Missing option '-o'"),
    ],
)
def test_what_cannot_be_exported_is_refused_and_leaves_no_file(
    toolsight: Toolsight, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = toolsight("export", *words)
    assert done.exit_code in (1, 2)
    assert told in done.stderr
    assert list(tmp_path.iterdir()) == []
