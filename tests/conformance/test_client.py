"""The official conformance suite for clients, which starts `client.py` against servers of its own.

TOOLSIGHT_CONFORMANCE names a folder in which `npm install @modelcontextprotocol/conformance` was run (with a
node that the suite accepts in front of PATH, or as `node_modules/.bin/node` there); without it, or without
the suite in it, these tests are left out.
"""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.mcp_case import ROOT

pytestmark = pytest.mark.slow

FOLDER_VARIABLE = "TOOLSIGHT_CONFORMANCE"
EXPECTED_FAILURES = Path(__file__).with_name("expected-failures.yml")
SECONDS = 60
SCENARIOS = (
    "initialize",
    "tools_call",
    "elicitation-sep1034-client-defaults",
    "sse-retry",
    "request-metadata",
    "sep-2322-client-request-state",
    "http-standard-headers",
    "http-custom-headers",
    "http-invalid-tool-headers",
    "json-schema-ref-no-deref",
    "json-schema-2020-12-preservation",
)


def suite() -> tuple[Path, Mapping[str, str]]:
    """The suite's command, and an environment in which it runs."""
    folder = os.environ.get(FOLDER_VARIABLE, "")
    if not folder:
        pytest.skip(
            f"{FOLDER_VARIABLE} names no folder with the npm package @modelcontextprotocol/conformance"
        )
    programs = Path(folder).absolute() / "node_modules" / ".bin"
    command = programs / "conformance"
    if not command.exists():
        pytest.skip(f"{command} is not there: install @modelcontextprotocol/conformance in {folder}")
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    node = shutil.which("node", path=environment["PATH"])
    if node is None:
        pytest.skip("the suite needs node")
    probe = subprocess.run(
        [command, "--version"], env=environment, capture_output=True, text=True, timeout=SECONDS
    )
    if probe.returncode:
        pytest.skip(f"the suite does not run with {node}: {probe.stderr.strip().splitlines()[-1]}")
    return command, environment


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_scenario_of_the_official_suite_passes(scenario: str, tmp_path: Path) -> None:
    command, environment = suite()
    known = subprocess.run(
        [command, "list", "--client"], env=environment, capture_output=True, text=True, timeout=SECONDS
    )
    if scenario not in known.stdout:
        pytest.skip(f"this version of the suite has no scenario {scenario}")
    ours = shlex.join([sys.executable, "-m", "tests.conformance.client"])
    asked = [command, "client", "--command", ours, "--scenario", scenario]
    done = subprocess.run(
        [*asked, "--expected-failures", EXPECTED_FAILURES, "--output-dir", tmp_path],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stdout + done.stderr
