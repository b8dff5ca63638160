"""The command line as its users have it: a subprocess with its own database."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Toolsight = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("record") / "toolsight.db"


@pytest.fixture(scope="module")
def toolsight(database: Path) -> Toolsight:
    """Run a command without a terminal; its output is text."""
    environment = {**os.environ, "TOOLSIGHT_DB": str(database), "COLUMNS": "200", "PYTHONUTF8": "1"}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "inspector", *arguments],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            env=environment,
            timeout=120,
            check=False,
        )

    return run
