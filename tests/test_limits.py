"""The limits that keep the code easy to live in: functions end at 60 lines, all else may say why not."""

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted(
    path for folder in ("inspector", "widgets", "fixtures") for path in (ROOT / folder).rglob("*.py")
)
LONG_FILE, MAX_FUNCTION, LONG_CLASS = 400, 60, 200
REASON = "# Long because "
TOP = {
    *(".ci", ".github", ".gitignore", ".pre-commit-config.yaml", ".pre-commit-hooks.yaml"),
    *("CHANGELOG.md", "CONTRIBUTING.md", "Makefile", "README.md", "pyproject.toml"),
    *("requirements.lock", "requirements-uv.lock"),
    *("docs", "findings", "fixtures", "inspector", "screenshots", "tests", "widgets"),
}
FORBIDDEN_MODULES = {"utils", "util", "helpers", "helper", "common", "manager", "misc"}


def _too_long(path: Path) -> Iterator[str]:
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    if len(lines) > LONG_FILE and REASON not in text:
        yield f"{path.name} has {len(lines)} lines"
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        first, last = node.lineno, node.end_lineno or node.lineno
        length = last - first + 1
        if isinstance(node, ast.ClassDef):
            if length > LONG_CLASS and REASON not in "\n".join(lines[first - 2 : last]):
                yield f"class {node.name} has {length} lines"
        elif length > MAX_FUNCTION:
            yield f"{node.name} has {length} lines"


def test_every_source_keeps_to_the_limits_or_says_why_it_is_longer() -> None:
    problems = {str(path.relative_to(ROOT)): list(_too_long(path)) for path in SOURCES}
    assert {path: told for path, told in problems.items() if told} == {}


def test_no_module_is_a_drawer_for_everything() -> None:
    assert not [path for path in SOURCES if path.stem in FORBIDDEN_MODULES]


def test_the_limits_are_checked_on_real_files() -> None:
    assert len(SOURCES) > 40


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("x = 1\n" * 401, ["f.py has 401 lines"]),
        ("# Long because it is one table.\n" + "x = 1\n" * 401, []),
        ("def f():\n" + "    x = 1\n" * 60, ["f has 61 lines"]),
        ("# Long because why not.\ndef f():\n" + "    x = 1\n" * 60, ["f has 61 lines"]),
        ("class A:\n" + "    x = 1\n" * 200, ["class A has 201 lines"]),
        ("# Long because it is one thing.\nclass A:\n" + "    x = 1\n" * 200, []),
    ],
)
def test_a_reason_excuses_files_and_classes_but_no_function(
    tmp_path: Path, text: str, problems: list[str]
) -> None:
    path = tmp_path / "f.py"
    path.write_text(text, encoding="utf-8")
    assert list(_too_long(path)) == problems


def test_nothing_is_kept_at_the_top_but_what_the_project_is_made_of() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode or not (ROOT / ".git").exists():
        pytest.skip("not a checkout that git reads")
    assert {path.partition("/")[0] for path in listed.stdout.split("\0") if path} == TOP
