"""`toolsight bench label`: writing files of labelled requests without losing a line."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.core.events import CallStarted, Record, SearchPerformed
from inspector.core.ranking import Hit, Outcome, Score, SearchReport, SearchRequest
from inspector.search.answer.evalset import read_cases
from inspector.store.store import SqliteStore
from tests.support.commands import Done, Toolsight
from tests.support.weather_configuration import write_weather_configuration

KEPT = b'{"id": "mine", "query": "Refund  it", "relevant": ["shop:refund"], "note": "kept as it is"}'

Run = Callable[..., Done]


@pytest.fixture
def weather(tmp_path: Path) -> Path:
    return write_weather_configuration(tmp_path)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file with one line and no line break."""
    path = tmp_path / "mine.jsonl"
    path.write_bytes(KEPT)
    return path


@pytest.fixture
def add(toolsight: Toolsight, file: Path, tmp_path: Path) -> Run:
    def run(*arguments: str) -> Done:
        return toolsight("bench", "label", str(file), "--db", str(tmp_path / "x.db"), *arguments)

    return run


def test_a_damaged_file_stays_as_it_is(add: Run, file: Path) -> None:
    file.write_bytes(KEPT + b"\n{half")
    refused = add("--from-log")
    assert refused.exit_code == 2
    assert "mine.jsonl:2" in refused.stderr
    assert file.read_bytes() == KEPT + b"\n{half"


@pytest.mark.parametrize("arguments", [(), ("--from-log", "--generate")])
def test_anything_but_one_way_to_label_is_a_usage_error(add: Run, arguments: tuple[str, ...]) -> None:
    assert add(*arguments).exit_code == 2


def record(database: Path, session: str, query: str, tool: str) -> None:
    """A model searched, found the tool and called it."""
    hits = (Hit(1, Score(tool, 1.0), Outcome.LOADED),)
    with SqliteStore(database) as store:
        found = SearchPerformed(SearchReport(SearchRequest(query), "bm25", hits), "")
        store.append(Record(session, 1, 1.0, found))
        store.append(Record(session, 2, 2.0, CallStarted("1", tool, {})))


def test_what_models_searched_for_and_called_is_added_once(add: Run, file: Path, tmp_path: Path) -> None:
    record(tmp_path / "x.db", "one", "late orders", "shop:list")
    record(tmp_path / "x.db", "two", "refund it", "shop:other")
    record(tmp_path / "x.db", "three", "a forecast", "weather:get")
    assert "added 2" in add("--from-log").stdout
    assert "added 0" in add("--from-log").stdout
    assert file.read_bytes().startswith(KEPT + b"\n")
    cases = read_cases(file)
    assert [case.query for case in cases] == ["Refund  it", "late orders", "a forecast"]
    assert [case.kind for case in cases[1:]] == ["logged", "logged"]


def test_a_generated_set_covers_every_tool_and_is_never_overwritten(
    toolsight: Toolsight, weather: Path, tmp_path: Path
) -> None:
    output = tmp_path / "made.jsonl"
    asked = ("bench", "label", str(output), "--generate", "--config", str(weather), "--approve")
    done = toolsight(*asked)
    assert done.exit_code == 0, done.stderr
    assert "Review them" in done.stdout
    listed = json.loads(toolsight("tools", "--config", str(weather), "--json").stdout)
    labelled = {tool for case in read_cases(output) for group in case.relevant for tool in group}
    assert labelled == {tool["id"] for tool in listed}
    again = toolsight(*asked)
    assert again.exit_code == 2
    assert "already exists" in again.stderr
