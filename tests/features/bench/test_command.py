"""`toolsight bench` on small data sets."""

import json
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from inspector.cli import composition
from inspector.cli.run import Exit
from inspector.features.bench.command import DEFAULT_RANKERS
from tests.support.commands import Done, Toolsight
from tests.support.weather_configuration import write_weather_configuration

Run = Callable[..., Done]


@pytest.fixture
def weather(tmp_path: Path) -> Path:
    return write_weather_configuration(tmp_path)


def write_lines(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


@pytest.fixture
def run(toolsight: Toolsight, data: Path) -> Run:
    """Measure the data set."""

    def measure(*arguments: str, model: str = "none", **environment: str) -> Done:
        return toolsight(
            "bench",
            "--data",
            str(data),
            "--set",
            f"discovery.embedding_model={model}",
            *arguments,
            **environment,
        )

    return measure


def test_every_ranker_but_regex_is_measured_unless_some_are_named(run: Run) -> None:
    rows = json.loads(run("--json").stdout)
    assert [row["ranker"] for row in rows] == list(DEFAULT_RANKERS)
    assert "regex" not in DEFAULT_RANKERS
    rows = json.loads(run("--json", "--ranker", "regex", "--ranker", "regex").stdout)
    assert [row["ranker"] for row in rows] == ["regex"]


def test_details_show_the_requests_on_which_the_first_two_rankers_differ(run: Run, data: Path) -> None:
    with (data / "queries.jsonl").open("a") as file:
        file.write(json.dumps({"id": "typo", "query": "refnud ordre", "relevant": ["refund_order"]}))
    shown = run("--ranker", "bm25", "--ranker", "fuzzy", "--details", "1").stdout
    assert "tiny: fuzzy - bm25 = +" in shown
    assert "0.000 -> 1.000  typo  refnud ordre" in shown


def test_details_without_a_second_ranker_are_refused(run: Run) -> None:
    result = run("--ranker", "bm25", "--details", "1")
    assert result.exit_code == 2
    assert "two rankers" in result.stderr


def test_two_data_sets_with_the_same_name_are_refused(run: Run, data: Path) -> None:
    refused = run("--data", str(data))
    assert refused.exit_code == 2
    assert "two data sets are named 'tiny'" in refused.stderr


class StoppingEmbedder:
    """Stands in for a person who presses Ctrl+C while the text `at` is embedded."""

    name = "stopping"

    def __init__(self, at: str) -> None:
        self.at = at

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        if any(self.at in text for text in texts):
            signal.raise_signal(signal.SIGINT)
        return [[1.0, 0.0] for _ in texts]

    def words(self) -> list[str]:
        return []

    def prepare(self, progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> None:
        pass


def test_an_interrupted_run_prints_what_it_has(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(composition, "make_embedder", lambda _: StoppingEmbedder("send a message"))
    before = signal.getsignal(signal.SIGINT)
    chosen = ("--ranker", "bm25", "--ranker", "dense", "--ranker", "fuzzy")
    result = run(*chosen, model="packaged")
    assert result.exit_code == Exit.INTERRUPTED
    shown = [line.partition("  ")[0] for line in result.stdout.splitlines()[5:7]]
    assert shown == ["bm25", "dense (first 2)"]
    assert "cancelled" in result.stderr
    assert signal.getsignal(signal.SIGINT) is before


def test_the_command_measures_requests_over_the_tools_of_a_configuration(
    toolsight: Toolsight, weather: Path, tmp_path: Path
) -> None:
    cases = tmp_path / "mine.jsonl"
    write_lines(cases, [{"id": "1", "query": "forecast", "relevant": ["weather:get_forecast"]}])
    fixed = (
        "--config",
        str(weather),
        "--approve",
        "--set",
        "discovery.embedding_model=none",
        "--ranker",
        "bm25",
    )
    done = toolsight("bench", "--data", str(cases), *fixed, "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)[0]["hit_1"]["mean"] == 1.0
    write_lines(cases, [{"id": "1", "query": "forecast", "relevant": ["weather:get_forcast"]}])
    done = toolsight("bench", "--data", str(cases), *fixed)
    assert done.exit_code == 2
    assert "Closest: weather:get_forecast" in done.stderr


def test_the_file_of_requests_beside_a_configuration_is_measured_if_nothing_else_is_named(
    toolsight: Toolsight, weather: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = "# asked\nforecast for a city -> get_forecast@3\nsing me a song -> nothing\n"
    (tmp_path / "toolsight.requests").write_text(lines, encoding="utf-8")
    fixed = (
        "--config",
        str(weather),
        "--approve",
        "--ranker",
        "bm25",
        "--set",
        "discovery.embedding_model=none",
        "--json",
    )
    [row] = json.loads(toolsight("bench", *fixed).stdout)
    assert (row["dataset"], row["possible"], row["impossible"]) == ("toolsight", 1, 1)
    (tmp_path / "toolsight.requests").write_text("forecast -> get_forecat", encoding="utf-8")
    refused = toolsight("bench", *fixed)
    assert (refused.exit_code, "get_forecast" in refused.stderr) == (2, True)


def test_misses_stand_below_the_table_and_alone_with_rank_reason_and_what_came_first(
    run: Run, data: Path
) -> None:
    with (data / "queries.jsonl").open("a") as file:
        file.write(json.dumps({"id": "far", "query": "send the orders", "relevant": ["list_orders"]}) + "\n")
        file.write(json.dumps({"id": "two", "query": "sned 99", "relevant": ["send_message"]}) + "\n")
        either = ["list_orders", "refund_order"]
        file.write(json.dumps({"id": "or", "query": "refund, send a message", "relevant": [either]}))
    shown = run("--ranker", "bm25").stdout
    assert "tiny: bm25 misses" in shown
    alone = run("--ranker", "bm25", "--misses").stdout
    assert "nDCG@10" not in alone
    line = next(line for line in alone.splitlines() if "send the orders" in line)
    assert "list_orders" in line
    assert "send_message" in line
    found = json.loads(run("--ranker", "bm25", "--misses", "--json").stdout)
    by_request = {one["request"]: one for one in found}
    assert by_request["send the orders"] | {"why": ""} == {
        "request": "send the orders",
        "tool": "s:list_orders",
        "rank": 2,
        "why": "",
        "first": "s:send_message",
        "dataset": "tiny",
    }
    assert by_request["refund, send a message"]["tool"] == "s:refund_order"
    assert by_request["sned 99"]["rank"] is None
    assert "missing words: sned  99" in by_request["sned 99"]["why"]
    rows = json.loads(run("--ranker", "bm25", "--ranker", "fuzzy", "--json").stdout)
    assert [row["misses"] is None for row in rows] == [False, True]
    assert rows[0]["misses"] == [{k: v for k, v in one.items() if k != "dataset"} for one in found]


def test_misses_and_a_sweep_exclude_each_other(run: Run) -> None:
    assert run("--sweep", "hybrid", "--misses").exit_code == 2
