"""The composite Action: its shell, as written, with a `toolsight` that only keeps what it is called with."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
ACTION = yaml.safe_load((ROOT / ".github/actions/check/action.yml").read_text(encoding="utf-8"))
KEEPS = '#!/bin/sh\nprintf "%s\\n" "$@" ---- >> "$CALLS"\necho report\nexit "${CODE:-0}"\n'


def _check(folder: Path, code: int = 0, **inputs: str) -> tuple[int, list[list[str]]]:
    """The exit code of the step, and the arguments of each call."""
    program = folder / "toolsight/bin/toolsight"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(KEEPS)
    program.chmod(0o755)
    step: dict[str, Any] = ACTION["runs"]["steps"][1]
    given = {name: one["default"] for name, one in ACTION["inputs"].items()} | inputs
    variables = {key: given[value[len("${{ inputs.") : -len(" }}")]] for key, value in step["env"].items()}
    calls = folder / "calls"
    environment = {
        **os.environ,
        **variables,
        "RUNNER_TEMP": str(folder),
        "CALLS": str(calls),
        "CODE": str(code),
    }
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    done = subprocess.run(shell, env=environment, cwd=folder, check=False, capture_output=True)
    return done.returncode, [one.splitlines() for one in calls.read_text().split("----\n")[:-1]]


def test_the_action_passes_its_inputs_on_and_fails_as_the_check_does(tmp_path: Path) -> None:
    expect = "show bill 77 -> handle_inv\n\nadd it -> upd@2\n"
    inputs = {"server": "server.py", "expect": expect, "snapshot": "tools.lock.json", "fail-on": "warning"}
    code, calls = _check(tmp_path, 3, **inputs)
    assert code == 3
    (call,) = calls
    assert call[:6] == ["check", "--fail-on", "warning", "server.py", "--snapshot", "tools.lock.json"]
    assert call[6:10] == ["--expect", "show bill 77 -> handle_inv", "--expect", "add it -> upd@2"]
    assert call[10:] == ["--no-model", "--format", "github"]


def test_the_action_writes_sarif_first_also_of_a_check_that_fails(tmp_path: Path) -> None:
    code, calls = _check(tmp_path, 3, sarif="out.sarif", arguments="")
    assert (code, (tmp_path / "out.sarif").read_text()) == (3, "report\n")
    assert [one[-1] for one in calls] == ["sarif", "github"]


@pytest.mark.parametrize("name", ["server", "expect", "snapshot", "arguments", "sarif"])
def test_nothing_in_an_input_is_run(tmp_path: Path, name: str) -> None:
    hostile = "$(touch gone) `touch gone` \"; touch gone; ' ${{ x }} *"
    _, calls = _check(tmp_path, 0, **{name: hostile})
    assert not (tmp_path / "gone").exists()
    assert hostile in calls[-1] or (tmp_path / hostile).exists()
