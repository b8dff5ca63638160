"""Every scenario that comes with Toolsight, played on the demo's servers with the packaged model."""

from pathlib import Path

import pytest

from tests.support.commands import Toolsight

SCENARIOS = sorted((Path(__file__).parents[3] / "fixtures" / "scenarios").glob("*.yaml"))


@pytest.mark.slow
@pytest.mark.parametrize("name", [path.stem for path in SCENARIOS])
def test_what_a_shipped_scenario_expects_is_met(toolsight: Toolsight, name: str) -> None:
    played = toolsight("scenario", "run", name, "--check")
    assert played.exit_code == 0, played.stdout
