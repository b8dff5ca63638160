"""No planted secret leaves a run on a server that repeats it; `docs.hard.secrets` runs every command."""

import shlex
from pathlib import Path

import pytest

from docs.hard.secrets import (
    PLANTED,
    REPEATED,
    TOOL,
    World,
    commands,
    found,
    on_file,
    open_to_others,
    planted_world,
    written,
)
from inspector.cli.run import Exit
from inspector.core.redaction import SECRETS
from tests.cli.test_hints import context_of
from tests.support.commands import Toolsight

# One command for each way out: a session and its store, the registry, a file, standard output.
ASKED = " ".join(REPEATED)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return planted_world(tmp_path)


def test_no_planted_secret_is_in_any_file_or_output_and_nobody_else_reads_them(
    toolsight: Toolsight, world: World
) -> None:
    by_file = on_file(world)
    printed: dict[str, bytes] = {}
    for words in (
        ("servers", "--json", *by_file),
        ("call", TOOL, f"text={ASKED}", *by_file),
        ("chat", ASKED, *by_file),
        ("search", ASKED, "--json", *by_file),
        ("registry", "import", "--set", "discovery.embedding_model=none", *by_file),
        ("registry", "export", str(world.out / "registry.jsonl")),
        ("sessions", "import", str(world.given / "transcript.jsonl")),
        ("sessions", "show", "--as", "spans", "--content"),
    ):
        SECRETS.forget()  # Each is a process of its own.
        environment = {**world.environment, "TOOLSIGHT_DB": None, "XDG_STATE_HOME": None}
        done = toolsight(*words, **environment)
        # One of its servers cannot be reached.
        assert done.exit_code in (Exit.DONE, Exit.FAILED), done.stderr
        printed[" ".join(words[:2])] = f"{done.stdout}{done.stderr}".encode()
    files = written(world)
    assert {"out/registry.jsonl", ".local/share/toolsight/toolsight.db"} < files.keys()
    assert found({**printed, **files}) == {what: [] for what in PLANTED}
    assert open_to_others(world) == []


def test_each_command_of_the_whole_run_is_one_that_there_is(world: World) -> None:
    for words in commands(world):
        context_of(shlex.join(["toolsight", *words]))
