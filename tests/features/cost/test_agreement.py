"""`toolsight audit` and `toolsight cost` price the same configuration to the same cent."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from inspector.core.number import money
from tests.support.commands import Toolsight
from tests.support.mcp_case import SERVERS
from tests.support.weather_configuration import write_weather_configuration

DEMO = SERVERS.parent / "configs" / "demo.json"
TERSE = ("--set", "discovery.embedding_model=none")
OTHERWISE = tuple(
    word
    for value in ("calls=12", "searches_per_call=0.5", "growth=300", "pause=400")
    for word in ("--assume", value)
)


@pytest.fixture(scope="module")
def configs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {"demo": DEMO, "small": write_weather_configuration(tmp_path_factory.mktemp("agreement"))}


@pytest.fixture(scope="module")
def variables(variables: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """With what the demo's configuration refers to."""
    return {
        **variables,
        "TOOLSIGHT_PYTHON": sys.executable,
        "TOOLSIGHT_FIXTURES": str(SERVERS.parent),
        "TOOLSIGHT_STATE": str(tmp_path_factory.mktemp("state")),
    }


def asked(toolsight: Toolsight, command: str, config: Path, *more: str) -> Any:
    done = toolsight(command, "--config", str(config), "--approve", *TERSE, *more, "--json")
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "more"), [("demo", ()), ("small", OTHERWISE)])
def test_both_commands_price_a_configuration_to_the_same_cent(
    toolsight: Toolsight, configs: dict[str, Path], name: str, more: tuple[str, ...]
) -> None:
    (audited,) = asked(toolsight, "audit", configs[name], *more)["configurations"]
    session, priced = audited["session"], asked(toolsight, "cost", configs[name], *more)
    assert session["assumed"] == priced["assumed"]
    assert session["saved"] == priced["saved"]
    assert session["verdict"] == priced["verdict"]
    assert session["verdict"]["text"]
    pairs = list(zip(session["deliveries"], priced["deliveries"], strict=True))
    assert len(pairs) == 5
    for one, other in pairs:
        assert one["delivery"] == other["delivery"]
        for cache in ("cached", "uncached"):
            assert money(one[cache]["dollars"], 2) == money(other[cache]["dollars"], 2)
            assert one[cache]["dollars"] == pytest.approx(other[cache]["dollars"], abs=1e-12)
