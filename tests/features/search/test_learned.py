"""A search on the command line counts past use when it is told to, and says what it counted."""

from pathlib import Path

import pytest

from inspector.cli import composition
from inspector.core.events import CallFinished, CallStarted, Record, UserSaid
from inspector.store.store import SqliteStore
from tests.support.commands import Toolsight
from tests.support.memory_vectors import MemoryEmbedder
from tests.support.weather_configuration import write_weather_configuration

ASKED = "any weather alerts at the coast"


@pytest.fixture(scope="module")
def configured(tmp_path_factory: pytest.TempPathFactory, database: Path) -> tuple[str, ...]:
    """A configuration, and a recorded session in which somebody asked and an alert was looked up."""
    events = (
        UserSaid(ASKED),
        CallStarted("c", "weather:get_alerts", {}),
        CallFinished("c", "weather:get_alerts", True, "none"),
    )
    with SqliteStore(database) as store:
        for seq, event in enumerate(events, start=1):
            store.append(Record("earlier", seq, float(seq), event))
    path = write_weather_configuration(tmp_path_factory.mktemp("learned"))
    return ("--config", str(path), "--approve", "--set", "discovery.min_closest=0")


@pytest.fixture(autouse=True)
def _words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors made of words."""
    monkeypatch.setattr(composition, "make_embedder", lambda _name: MemoryEmbedder())


def test_a_search_says_how_often_a_tool_was_used_and_by_whom(
    toolsight: Toolsight, configured: tuple[str, ...]
) -> None:
    uses = ("discovery.affinity=0.5", "inertia.half_life_days=0", "discovery.min_probability=0")
    chosen = [word for value in uses for word in ("--set", value)]
    told = toolsight("search", ASKED, *configured, *chosen).stdout
    assert "weather:get_alerts   used 1 time by toolsight   prior 0.23" in told
