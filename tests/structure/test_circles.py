"""No file of the program imports a file that imports it, however many lie between."""

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def imports(root: Path) -> dict[str, set[str]]:
    """Each module with the modules that it imports, wherever in the file; packages are left out."""
    files = {
        ".".join(path.relative_to(root).with_suffix("").parts): path
        for top in ("inspector", "widgets")
        for path in (root / top).rglob("*.py")
        if path.stem != "__init__"
    }
    return {name: set(_imported(path, files)) - {name} for name, path in files.items()}


def _imported(path: Path, files: Mapping[str, Path]) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
            yield from (name for name in names if name in files)


@pytest.mark.slow
def test_no_files_import_each_other_in_a_circle() -> None:
    try:
        TopologicalSorter(imports(ROOT)).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_a_circle_of_files_is_seen(tmp_path: Path) -> None:
    (tmp_path / "inspector").mkdir()
    (tmp_path / "inspector" / "a.py").write_text("from inspector.b import B\n", encoding="utf-8")
    (tmp_path / "inspector" / "b.py").write_text("def f():\n    from inspector import a\n", encoding="utf-8")
    with pytest.raises(CycleError):
        TopologicalSorter(imports(tmp_path)).prepare()
