"""`toolsight bench calibrate` on a small data set, and on a server's tools."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.cli import composition
from inspector.search.index.ports import Embedder
from tests.support.commands import Done, Toolsight
from tests.support.memory_vectors import MemoryEmbedder
from tests.support.weather_configuration import write_weather_configuration

TOOLS = ("list_orders", "refund_order", "send_message", "get_forecast")
QUERIES = {"refund an order": "refund_order", "send a message": "send_message", "forecast": "get_forecast"}

Run = Callable[..., Done]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Four tools, three possible requests and one impossible one."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    tools = [{"id": name, "server": "s", "name": name} for name in TOOLS]
    rows: list[object] = [{"id": q, "query": q, "relevant": [tool]} for q, tool in QUERIES.items()]
    rows.append({"id": "none", "query": "haircut", "relevant": []})
    for name, lines in (("tools", tools), ("queries", rows)):
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return folder


@pytest.fixture
def run(toolsight: Toolsight, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Calibrate with vectors made of words."""

    def embedder(name: str) -> Embedder | None:
        return None if name == "none" else MemoryEmbedder()

    monkeypatch.setattr(composition, "make_embedder", embedder)
    return lambda *arguments: toolsight("bench", "calibrate", *arguments)


@pytest.mark.parametrize(
    ("ranker", "setting"),
    [
        ("hybrid", "discovery.min_probability"),
        ("dense", "discovery.iso_threshold"),
        ("iso", "gate.threshold"),
    ],
)
def test_the_curve_ends_with_the_setting_to_write(run: Run, data: Path, ranker: str, setting: str) -> None:
    result = run("--data", str(data), "--ranker", ranker)
    lines = result.stdout.splitlines()
    assert lines[0] == f"{ranker} on tiny: 3 possible and 1 impossible requests"
    assert sum(line.strip().startswith("0.") for line in lines) == (50 if ranker == "hybrid" else 41)
    best = next(line for line in lines if "best F1" in line)
    value = float(best.partition("best F1")[2].split()[0])
    section, _, name = setting.partition(".")
    told = json.loads(f"{{{lines[-1]}}}")["settings"]
    assert told[section][name] == value
    assert told.keys() == {section}
    assert ("min_closest" in told[section]) == (ranker == "hybrid")
    assert [line for line in lines if line.startswith("now")]


def test_generated_requests_give_no_setting_to_copy(run: Run, tmp_path: Path) -> None:
    configuration = write_weather_configuration(tmp_path)
    lines = run("--config", str(configuration), "--approve", "--ranker", "iso").stdout.splitlines()
    assert lines[0].startswith("iso on generated: ")
    assert lines[-1].startswith("No setting to copy")
    assert not any('"settings"' in line for line in lines)


def test_json_has_every_point_and_the_best_ones(run: Run, data: Path) -> None:
    found = json.loads(run("--data", str(data), "--json").stdout)
    assert (found["ranker"], found["setting"], found["possible"]) == (
        "hybrid",
        "discovery.min_probability",
        3,
    )
    assert found["points"][0]["threshold"] == 0.01
    assert found["values"].keys() == {"discovery.min_probability", "discovery.min_closest"}
    assert found["best"] in found["points"]
    assert found["best"]["f1"] == max(point["f1"] for point in found["points"])
    assert found["now"] > 0
