"""The limits that keep the code easy to live in; there is no list of exceptions."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted(
    path for folder in ("inspector", "widgets", "fixtures") for path in (ROOT / folder).rglob("*.py")
)
MAX_FILE, MAX_FUNCTION, MAX_CLASS, MAX_APP = 400, 60, 200, 150
FORBIDDEN_MODULES = {"utils", "util", "helpers", "helper", "common", "manager", "misc"}


def _nodes(path: Path) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(path.read_text(encoding="utf-8")))


def _length(node: ast.AST) -> int:
    assert isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
    return (node.end_lineno or node.lineno) - node.lineno + 1


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_source_file_stays_within_the_limits(path: Path) -> None:
    assert path.stem not in FORBIDDEN_MODULES
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_FILE
    for node in _nodes(path):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert _length(node) <= MAX_FUNCTION, node.name
        if isinstance(node, ast.ClassDef):
            limit = (
                MAX_APP if any(ast.unparse(base).split("[")[0] == "App" for base in node.bases) else MAX_CLASS
            )
            assert _length(node) <= limit, node.name


def test_the_limits_are_checked_on_real_files() -> None:
    assert len(SOURCES) > 40
