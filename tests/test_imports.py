"""Slow vendors are imported when they are first needed, not before."""

import importlib
import pkgutil
import subprocess
import sys

import pytest

import inspector
import widgets

SLOW = ("litellm", "fastembed", "mcp", "tiktoken", "sqlite_utils", "rank_bm25", "numpy", "onnxruntime")


def loaded_after(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("module", ["inspector.cli", "inspector.app.app"])
def test_starting_the_program_imports_no_slow_vendor(module: str) -> None:
    assert not loaded_after(f"import {module}") & set(SLOW)


@pytest.mark.parametrize("module", ["inspector.domain.session", "inspector.engine.workbench"])
def test_the_engine_runs_without_a_screen_or_a_vendor(module: str) -> None:
    assert not loaded_after(f"import {module}") & {
        *(set(SLOW) - {"numpy"}),
        "textual",
        "rich",
        "widgets",
        "pydantic",
        "click",
    }


def test_every_module_can_be_imported() -> None:
    """Names that are imported for the type checker only must not be needed at run time."""
    for package in (inspector, widgets):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
