"""`python -m docs.papers`: the list, one section, the report in a file, and what stops it."""

import json
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from docs.papers.__main__ import main
from docs.papers.report import Section, Table
from docs.papers.run import CHAPTERS, Chapter
from docs.papers.source import Source, Steps
from inspector.cli.run import Exit
from inspector.search.answer.evalset import TOOLS
from tests.support.commands import Done, servers_in_process as servers_in_process

Run = Callable[..., Done]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command with vectors in a separate file."""
    fixed = ("--db", str(tmp_path / "vectors.db"), "--embedding-model", "none")

    def done(*arguments: str) -> Done:
        code = main([*fixed, *arguments])
        printed = capsys.readouterr()
        return Done(code, printed.out, printed.err)

    return done


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes every chapter return the same section at once."""
    canned = tuple(Chapter(one.id, one.title, one.source, one.about, _canned) for one in CHAPTERS)
    monkeypatch.setattr("docs.papers.__main__.CHAPTERS", canned)


def _canned(_source: Source, _steps: Steps) -> tuple[Section, ...]:
    table = Table("The demo's catalog", ("tools", "static"), (("84", "10,376"),), frozenset({0, 1}))
    return (Section("catalog-size", "Tokens by catalog size", "Table 1", "tokens", (table,)),)


def catalog(folder: Path, names: Sequence[str]) -> Path:
    folder.mkdir()
    rows = [{"id": name, "server": "s", "name": name, "description": f"{name} it."} for name in names]
    (folder / TOOLS).write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return folder


def test_an_unknown_section_is_an_error_with_the_nearest_name(run: Run) -> None:
    refused = run("latenci")
    assert refused.exit_code == 2
    assert "latency" in refused.stderr.partition("hint:")[2]


@pytest.mark.slow
def test_a_section_is_measured_on_the_demo_and_on_the_named_folders(run: Run, tmp_path: Path) -> None:
    catalog(tmp_path / "theirs", [f"tool_{number}" for number in range(12)])
    result = run("catalog-size", "--data", str(tmp_path / "theirs"))
    assert result.exit_code == 0
    assert result.stdout.startswith("# Published numbers, reproduced\n")
    assert "### The demo's catalog" in result.stdout
    assert "### theirs" in result.stdout
    assert "`python -m docs.papers catalog-size --data FOLDER`" in result.stdout
    assert str(tmp_path) not in result.stdout


def test_a_stopped_run_leaves_the_file_unchanged(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(_source: Source, steps: Steps) -> tuple[Section, ...]:
        os.kill(os.getpid(), signal.SIGINT)
        steps("never begins")
        raise AssertionError("it went on")

    one = CHAPTERS[0]
    monkeypatch.setattr(
        "docs.papers.__main__.CHAPTERS", (Chapter(one.id, one.title, one.source, one.about, stopped),)
    )
    path = tmp_path / "report.md"
    path.write_text("what was there before")
    result = run("--all", "--output", str(path))
    assert result.exit_code == Exit.INTERRUPTED
    assert "nothing was written" in result.stderr
    assert path.read_text() == "what was there before"
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.md"]


@pytest.mark.usefixtures("quick")
def test_an_unwritable_file_is_reported_before_anything_is_measured(run: Run, tmp_path: Path) -> None:
    refused = run("--all", "--output", str(tmp_path / "none" / "report.md"))
    assert refused.exit_code == 2
    assert "its folder does not exist" in refused.stderr
    (tmp_path / "folder").mkdir()
    refused = run("--all", "--output", str(tmp_path / "folder"))
    assert refused.exit_code == 2
    assert "cannot be written" in refused.stderr
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder"]
