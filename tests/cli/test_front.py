"""What a newcomer reads first: the README and the docs, as short as promised, and true."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from docs import tables
from inspector.cli.root import cli
from tests.support.commands import Toolsight
from tests.support.retrieval import give

ROOT = Path(__file__).resolve().parents[2]
README, DOCS = ROOT / "README.md", ROOT / "docs"
PAGES = [README, *sorted(DOCS.glob("*.md")), *sorted((DOCS / "papers").glob("*.md"))]
# What needs a terminal, or a file of the reader's own.
_ASKS = {
    "toolsight server.py": 2,
    "toolsight sessions import": 2,
    "toolsight clients measure": 2,
}


def blocks(page: Path) -> Iterator[str]:
    """The lines of a page that are commands of Toolsight, without comments."""
    for block in re.findall(r"^```\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            command = line.partition("  #")[0].strip()
            if command.startswith("toolsight "):
                yield command


def test_the_readme_and_the_docs_are_as_short_as_promised() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 120
    assert sum(len(page.read_text(encoding="utf-8").split()) for page in DOCS.glob("*.md")) <= 12_000
    assert len((ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()) <= 100


def test_thirty_words_have_an_entry() -> None:
    _, _, words = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Words")
    rows = [line for line in words.splitlines() if line.startswith("| ")]
    assert len(rows) - 1 <= 36


@pytest.mark.parametrize("page", tables.PAGES, ids=lambda page: page.stem)
def test_the_tables_of_commands_and_keys_are_those_of_the_program(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert tables.written(text) == text, "`make docs` writes them"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.slow
def test_every_command_of_the_readme_runs_as_printed(
    toolsight: Toolsight, tmp_path: Path, demo_vectors: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    give(demo_vectors, tmp_path / "x.db")
    for command in blocks(README):
        expected = next((code for start, code in _ASKS.items() if command.startswith(start)), 0)
        words, _, target = command.partition(" > ")
        done = toolsight(*shlex.split(words)[1:], HOME=str(tmp_path), TOOLSIGHT_DB=str(tmp_path / "x.db"))
        assert done.exit_code == expected, f"{command}: {done.stderr}"
        if target:
            (tmp_path / target).write_text(done.stdout, encoding="utf-8")


@pytest.mark.parametrize("page", [README, *DOCS.glob("*.md")], ids=lambda page: page.stem)
def test_every_command_of_a_page_is_one_and_takes_what_it_is_printed_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("server.py").touch()
    monkeypatch.setattr(click.Command, "invoke", lambda _command, _context: None)
    for line in blocks(page):
        cli(shlex.split(line.partition(" > ")[0])[1:], standalone_mode=False)
