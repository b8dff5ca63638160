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
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.support.mcp_case import ROOT

pytestmark = pytest.mark.slow

PACKAGE = "@modelcontextprotocol/conformance"
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
    "auth/metadata-default",
    "auth/metadata-var1",
    "auth/metadata-var2",
    "auth/metadata-var3",
    "auth/basic-cimd",
    "auth/scope-from-www-authenticate",
    "auth/scope-from-scopes-supported",
    "auth/scope-omitted-when-undefined",
    "auth/scope-step-up",
    "auth/scope-retry-limit",
    "auth/token-endpoint-auth-basic",
    "auth/token-endpoint-auth-post",
    "auth/token-endpoint-auth-none",
    "auth/pre-registration",
    "auth/2025-03-26-oauth-metadata-backcompat",
    "auth/2025-03-26-oauth-endpoint-fallback",
    "auth/resource-mismatch",
    "auth/offline-access-scope",
    "auth/offline-access-not-supported",
    "auth/authorization-server-migration",
    "auth/iss-supported",
    "auth/iss-not-advertised",
    "auth/iss-supported-missing",
    "auth/iss-wrong-issuer",
    "auth/iss-unexpected",
    "auth/iss-normalized",
    "auth/metadata-issuer-mismatch",
    "auth/client-credentials-jwt",
    "auth/client-credentials-basic",
    "auth/enterprise-managed-authorization",
    "auth/dpop",
    "auth/dpop-nonce",
    "auth/wif-jwt-bearer",
)


@dataclass(frozen=True, slots=True)
class Suite:
    """The suite's command, an environment in which it runs, and the names of its scenarios."""

    command: Path
    environment: Mapping[str, str]
    scenarios: str


@cache
def suite() -> Suite | str:
    """The suite, or why it cannot run here."""
    folder = os.environ.get(FOLDER_VARIABLE, "")
    if not folder:
        return f"{FOLDER_VARIABLE} names no folder with the npm package {PACKAGE}"
    programs = Path(folder).absolute() / "node_modules" / ".bin"
    command = programs / "conformance"
    if not command.exists():
        return f"{command} is not there: install {PACKAGE} in {folder}"
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    node = shutil.which("node", path=environment["PATH"])
    if node is None:
        return "the suite needs node"
    listed = subprocess.run(
        [str(command), "list", "--client"], env=environment, capture_output=True, text=True, timeout=SECONDS
    )
    if listed.returncode:
        return f"the suite does not run with {node}: {listed.stderr.strip().splitlines()[-1]}"
    return Suite(command, environment, listed.stdout)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_scenario_of_the_official_suite_passes(scenario: str, tmp_path: Path) -> None:
    found = suite()
    if isinstance(found, str):
        pytest.skip(found)
    if f" {scenario} " not in found.scenarios:
        pytest.skip(f"this version of the suite has no scenario {scenario}")
    ours = shlex.join([sys.executable, "-m", "tests.conformance.client"])
    told = ["--expected-failures", str(EXPECTED_FAILURES), "--output-dir", str(tmp_path)]
    done = subprocess.run(
        [str(found.command), "client", "--command", ours, "--scenario", scenario, *told],
        env=found.environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stdout + done.stderr
