"""The command line: run by `main` in this process on the demo servers, or in a separate process."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest
from click.testing import CliRunner

from inspector.cli import main
from inspector.cli.location import demo_folder
from inspector.features.lab import open_lab
from inspector.mcp.client import link
from tests.support.in_process import channel
from tests.support.lab import FORECAST, MemoryLabs
from tests.support.retrieval import give, kept as demo_vectors_of


@dataclass(frozen=True, slots=True)
class Done:
    """A command's exit code and output."""

    exit_code: int
    stdout: str
    stderr: str


class Toolsight(Protocol):
    """Runs a command without a terminal. A variable that is None is unset; unexpected errors are raised."""

    def __call__(self, *arguments: str, **environment: str | None) -> Done: ...


@contextmanager
def no_processes() -> Iterator[None]:
    """The demo's servers run in this process, and have seen nothing yet."""
    demo_folder.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(link, "StdioChannel", channel)
        yield


@pytest.fixture(scope="module", autouse=True)
def servers_in_process() -> Iterator[None]:
    # What another module's commands have sent or locked is not seen by this one's.
    with no_processes():
        yield


@pytest.fixture(scope="session")
def demo_vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database that has the vectors of the demo's tools, and nothing else."""

    def embed(database: Path) -> None:
        variables = {"TOOLSIGHT_DB": str(database), "XDG_STATE_HOME": str(database.parent)}
        # A session's fixture comes before its modules'.
        with CliRunner().isolation(env=variables), no_processes():
            assert exit_code_of(("search", "orders", "--demo")) == 0
            assert exit_code_of(("marketplace", "search", "rates", "--demo")) == 0

    base = tmp_path_factory.getbasetemp()
    return demo_vectors_of(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base, embed)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory, demo_vectors: Path) -> Path:
    path = tmp_path_factory.mktemp("record") / "toolsight.db"
    give(demo_vectors, path)
    return path


@pytest.fixture(scope="module")
def variables(database: Path) -> dict[str, str]:
    """The environment of a module's commands: one database, a wide terminal, and a separate log folder."""
    return {
        "TOOLSIGHT_DB": str(database),
        "XDG_STATE_HOME": str(database.parent),
        "COLUMNS": "200",
        "PYTHONUTF8": "1",
    }


@pytest.fixture(scope="module")
def toolsight(variables: dict[str, str]) -> Toolsight:
    return in_process(variables)


def in_process(variables: Mapping[str, str]) -> Toolsight:
    """Runs commands in this process, with these variables."""

    def run(*arguments: str, **environment: str | None) -> Done:
        with CliRunner().isolation(env={**variables, **environment}) as streams:
            exit_code = exit_code_of(arguments)
        stdout, stderr, _ = (stream.getvalue().decode() for stream in streams)
        return Done(exit_code, stdout, stderr)

    return run


def exit_code_of(arguments: Sequence[str]) -> int:
    try:
        main(arguments)
    except SystemExit as end:
        return int(end.code) if isinstance(end.code, int) else 1
    return 0


@pytest.fixture(scope="module")
def process(variables: dict[str, str]) -> Toolsight:
    """Runs a command in a separate process, as users do, with every server in its own process."""

    def run(*arguments: str, **environment: str | None) -> Done:
        wanted = {**os.environ, **variables, **environment}
        done = subprocess.run(
            [sys.executable, "-m", "inspector", *arguments],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            env={name: value for name, value in wanted.items() if value is not None},
            timeout=120,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def labs(monkeypatch: pytest.MonkeyPatch) -> MemoryLabs:
    """Labs in memory, in place of those that a command would open on servers."""
    made = MemoryLabs()
    monkeypatch.setattr(open_lab, "open_lab", made.open)
    return made


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str], str]:
    """Writes a scenario file and returns its path."""

    def write(text: str = FORECAST) -> str:
        path = tmp_path / "case.yaml"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write
