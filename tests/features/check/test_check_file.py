"""The configuration of a check: where it is found, what it says, and what is refused in it."""

from pathlib import Path

import pytest

from inspector.core.error import ConfigError
from inspector.features.check.command import CheckFile, find_check
from tests.support.hostile import with_hostile_text

RULES = ("similar-tool", "no-annotations")
OWN = """
[check]
expect = ["late orders -> list_orders"]
requests = ["requests.jsonl"]
client = ["codex"]
budget = 4000
snapshot = "tools.lock.json"
fail-on = "warning"

[check.disable]
similar-tool = "they are told apart by their parameters"
"""


def found(folder: Path, text: str = "", name: str = "toolsight.toml", *, below: str = "") -> CheckFile:
    (folder / below).mkdir(exist_ok=True, parents=True)
    if text:
        (folder / name).write_text(text, encoding="utf-8")
    return find_check(folder / below, RULES)[0]


def refused(folder: Path, text: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        found(folder, text)
    assert "toolsight.toml" in caught.value.message
    return caught.value


def test_every_key_is_read(tmp_path: Path) -> None:
    read = found(tmp_path, OWN)
    assert (read.expect, read.requests, read.client) == (
        ["late orders -> list_orders"],
        ["requests.jsonl"],
        ["codex"],
    )
    assert (read.budget, read.snapshot, read.fail_on) == (4000, "tools.lock.json", "warning")
    assert read.disable == {"similar-tool": "they are told apart by their parameters"}


def test_pyproject_has_it_in_a_table_of_its_own_and_other_tables_are_nothing_to_it(tmp_path: Path) -> None:
    text = OWN.replace("[check", "[tool.toolsight.check")
    assert found(tmp_path, f"[project]\nname = 'x'\n{text}", "pyproject.toml") == found(tmp_path / "a", OWN)
    assert found(tmp_path / "b", "[tool.other]\nbudget = 1\n", "pyproject.toml") == CheckFile()


def test_it_is_found_from_a_folder_below_up_to_the_repositorys_root_and_no_further(tmp_path: Path) -> None:
    assert found(tmp_path, OWN, below="src/deep") == CheckFile(), (
        "without a repository only this folder counts"
    )
    (tmp_path / ".git").mkdir()
    assert found(tmp_path, below="src/deep").budget == 4000
    assert find_check(tmp_path / "src" / "deep", RULES)[1] == tmp_path
    (tmp_path / "src" / ".git").mkdir()
    assert found(tmp_path, below="src/deep") == CheckFile()


def test_the_nearest_file_counts_alone(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    found(tmp_path, OWN, below="src")
    assert found(tmp_path / "src", "[check]\nbudget = 5\n") == CheckFile(budget=5)


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        ("[check]\nbudgett = 1", "budgett", "budget"),
        ("[check]\nbudget = 0", "check.budget", ""),
        ("[check]\nbudget = 'many'", "check.budget", "how many tokens"),
        ("[check]\nexpect = 'a -> b'", "check.expect", "a list"),
        ("[check]\nfail-on = 'note'", "check.fail-on must be 'error', 'warning' or 'never'", ""),
        ("[check]\nfail_on = 'never'", "check.fail_on", "fail-on"),
        ("[check.disable]\nsimilar-tol = 'x'", "check.disable.similar-tol is not a rule", "similar-tool"),
        ("[check.disable]\nsimilar-tool = ' '", "check.disable.similar-tool has no reason", "Say why"),
        ("[check.disable]\nsimilar-tool = false", "check.disable.similar-tool must be a string", ""),
        ("check = 3", "check must be a table", "[check]"),
        ("[check", "is not TOML", "Correct the line"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_what_to_write(
    tmp_path: Path, text: str, said: str, hint: str
) -> None:
    error = refused(tmp_path, text)
    assert said in error.message
    assert hint in str(error.hint)


@with_hostile_text
def test_any_file_is_read_or_refused(text: str, tmp_path: Path) -> None:
    for content in (text, f"[check]\nexpect = ['''{text}''']", f'[check.disable]\n"{text}" = "why"'):
        (tmp_path / "toolsight.toml").write_bytes(content.encode("utf-8", "surrogatepass"))
        try:
            find_check(tmp_path, RULES)
        except ConfigError as error:
            assert "toolsight.toml" in error.message  # noqa: PT017 - most are refused, not all
