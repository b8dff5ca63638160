"""How commands end: exit codes, lost output, no terminal."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from inspector.cli.open_app import open_app
from inspector.cli.options import Options
from inspector.cli.run import Exit
from inspector.core.error import ConfigError
from tests.support.commands import Toolsight


def test_what_is_wrong_on_the_command_line_is_exit_code_2(toolsight: Toolsight, tmp_path: Path) -> None:
    wrong = (
        ("servres",),
        ("tools", "--nosuch"),
        ("tools", "--set", "binding.capacty=3"),
        ("tools", "--profile", "nosuch"),
        ("tools", "--config", str(tmp_path / "nosuch.json")),
        ("tools", "--demo", "--user", "ada"),
        ("scenario", "run", "nosuch"),
    )
    assert {toolsight(*words).exit_code for words in wrong} == {Exit.USAGE}


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_told_and_a_closed_pipe_is_not() -> None:
    command = [sys.executable, "-m", "inspector", "--version"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        Exit.FAILED,
        "error: the output cannot be written: No space left on device\n",
    )
    reading, writing = os.pipe()
    os.close(reading)
    closed = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (closed.returncode, closed.stderr) == (Exit.FAILED, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_lost_output_is_told_once_whatever_is_still_printed_as_the_command_ends() -> None:
    script = "from inspector.cli.table import say\ntry: say('one')\nfinally: say('two')"
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-c", script]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr.count("error: ")) == (Exit.FAILED, 1)


def test_without_a_terminal_the_app_names_commands_and_opens_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with Path(os.devnull).open() as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        with pytest.raises(ConfigError) as caught:
            open_app(Options(demo=True))
    assert "needs a terminal" in caught.value.message
    assert "`toolsight tools`" in caught.value.hint
