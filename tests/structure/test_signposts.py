"""What the code or a page of the docs names in backticks is there: files, modules, names in them."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from inspector.config.setting import knobs
from inspector.features.feature_list import FEATURES
from tests.structure.mutants import MUTANTS

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = {knob.path for knob in knobs()}
CODE = ("inspector", "widgets")
PAGES = ("README.md", "CONTRIBUTING.md", "docs/*.md", "docs/papers/*.md")
PATH = re.compile(r"`((\w+)/(?:[\w.-]+/)*[\w-]+\.(?:py|toml|tcss))`")
# A module in a string, which no type checker follows.
MODULE = re.compile(r"""["'](inspector(?:\.\w+)+)["']""")
NAME = re.compile(r"`((\w+)(?:\.\w+)+)`")
# Names of other programs that begin like a module of ours.
OTHERS = {"error.type", "mcp.server.name", "mcp.log", "client.call_tool", "tools.jsonl", "tools.lock.json"}
FOLDERS = {
    path.name
    for top in (".", "inspector", "inspector/features")
    for path in (ROOT / top).iterdir()
    if path.is_dir()
}


def is_file(name: str, near: Path) -> bool:
    """Whether a path is there, seen from the project, its code, or the folder of who names it."""
    tops = (ROOT, ROOT / "inspector", ROOT / "inspector" / "features", near)
    return any((folder / name).exists() for folder in tops) or ("/" not in name and name in file_names())


@cache
def file_names() -> frozenset[str]:
    """The names of the program's files."""
    return frozenset(path.name for top in ("inspector", "widgets") for path in (ROOT / top).rglob("*.py"))


@cache
def modules() -> Mapping[str, frozenset[str]]:
    """The modules and packages of the program by the last part of their names."""
    found: dict[str, set[str]] = {}
    for top in ("inspector", "widgets"):
        for path in (ROOT / top).rglob("*.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            parts = parts[:-1] if parts[-1] == "__init__" else parts
            found.setdefault(parts[-1], set()).add(".".join(parts))
    return {name: frozenset(full) for name, full in found.items()}


@cache
def resolves(name: str) -> bool:
    """Whether a dotted name leads to something in a module of this name, or to a setting."""
    first, *rest = name.split(".")
    return name in SETTINGS or any(_leads(module, rest) for module in modules().get(first, ()))


def _leads(module: str, rest: Sequence[str]) -> bool:
    if not rest:
        return True
    if hasattr(import_module(module), "__path__") and find_spec(f"{module}.{rest[0]}") is not None:
        return _leads(f"{module}.{rest[0]}", rest[1:])
    thing: object = import_module(module)
    for part in rest:
        if not hasattr(thing, part):
            return False
        thing = getattr(thing, part)
    return True


def dead(text: str, near: Path) -> list[str]:
    """What a text names that is not there."""
    paths = [name for name, first in PATH.findall(text) if first in FOLDERS and not is_file(name, near)]
    names = [name for name, first in NAME.findall(text) if first in modules() and not resolves(name)]
    return [*paths, *(name for name in names if not is_file(name, near) and name not in OTHERS)]


def test_files_and_names_in_backticks_are_there() -> None:
    found = {}
    for page in (path for pattern in PAGES for path in ROOT.glob(pattern)):
        # Pages name keys of other programs, too: of dotted names only whole ones count.
        names = dead(page.read_text(encoding="utf-8"), page.parent)
        found[page] = [name for name in names if "/" in name or name.startswith(("inspector.", "widgets."))]
    for path in (path for top in CODE for path in (ROOT / top).rglob("*.py")):
        found[path] = dead(path.read_text(encoding="utf-8"), path.parent)
    assert {str(path.relative_to(ROOT)): names for path, names in found.items() if names} == {}


def test_a_module_that_is_named_in_a_string_is_there() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in (ROOT / "inspector").rglob("*.py")}
    named = [(str(path), name) for path, text in texts.items() for name in MODULE.findall(text)]
    assert named
    assert [one for one in named if not _leads("inspector", one[1].split(".")[1:])] == []


def test_what_a_feature_names_in_its_folder_is_there() -> None:
    for feature in FEATURES:
        made = [feature.compose, feature.stores, feature.provide, *(one.at for one in feature.pages)]
        for at in filter(None, (*made, *(one.at for one in feature.commands))):
            assert callable(feature.made(at)), f"{feature.name}: {at}"


@pytest.mark.parametrize(
    "text", ["`inspector.loop.nowhere`", "`inspector.core.tool.Nothing`", "`core/nowhere.py`"]
)
def test_a_name_that_leads_nowhere_is_seen(text: str) -> None:
    assert dead(f"See {text}.", ROOT)


def test_every_mutant_finds_its_line_once_and_its_tests() -> None:
    for mutant in MUTANTS:
        assert (ROOT / mutant.file).read_text(encoding="utf-8").count(mutant.line) == 1, mutant.rule
        assert all((ROOT / test.partition("::")[0]).exists() for test in mutant.tests), mutant.rule
