"""The bars of the report, and what the other scripts of docs/benchmark make of tools and times."""

import json
import re
import time
from dataclasses import replace
from pathlib import Path

import pytest

from docs import evidence
from docs.benchmark import bars, retrieval
from docs.benchmark.levers import LONGEST, SHORTEST, joined, plainer
from docs.benchmark.loop import Shares
from docs.benchmark.speed import SIZES, Speed
from docs.benchmark.wrong_names import EVICTED, KINDS, Wrong, wrong_calls
from inspector.access.reach import EvalCase, EvalSet
from inspector.core.ranking import Answer
from inspector.core.tool import Tool

FOUND = Answer.FOUND
GOOD = Speed(0, 1.0, 15.0, 1.5, 20.0, 39.0, 80.0, 100.0, 200.0)
REPORT = """## Bars

| bar | measured | holds |
|---|---|---|
| mean | 0.9 | yes |
| 10,000 tools: a change is found within 100 ms | 105 ms | **no** |

## Published data sets

text

## Speed and size

old
"""


def speeds(**slow: float) -> list[Speed]:
    return [replace(GOOD, tools=count, **slow) for count in SIZES]


def broken(slow: dict[str, float]) -> list[str]:
    return [bar.what for bar in bars.speed_bars(speeds(**slow)) if not bar.holds]


@pytest.mark.parametrize(
    ("slow", "what"),
    [
        ({"hybrid_ms": 2.0}, ["up to 1,000 tools: a search below 2 ms"]),
        ({"steps_ms": 40.0}, ["10,000 tools: 8 steps end to end p50 below 40 ms"]),
        ({"live_mb": 1_201.0}, ["10,000 tools: index memory below", "100,000 tools: index memory at most"]),
        ({}, []),
    ],
)
def test_a_speed_bar_that_fails_says_so(slow: dict[str, float], what: list[str]) -> None:
    found = broken(slow)
    assert len(found) == len(what)
    assert all(whole.startswith(start) for whole, start in zip(found, what, strict=True))


def test_speed_measured_anew_replaces_its_bars_and_its_section(monkeypatch: pytest.MonkeyPatch) -> None:
    def measured(found: list[bars.Bar]) -> str:
        found += bars.speed_bars(speeds())
        return "## Speed and size\n\nnew"

    monkeypatch.setattr(retrieval, "speed_section", measured)
    report = retrieval._with_speed(REPORT, [])
    assert report.endswith("text\n\n## Speed and size\n\nnew\n")
    assert report.count("a change is found") == 1
    assert "| mean | 0.9 | yes |\n| up to 1,000 tools" in report


def test_each_request_is_in_one_long_task_at_most() -> None:
    tools = tuple(Tool("s", f"tool{number}") for number in range(100))
    cases = tuple(EvalCase(tool.id, f"Find {tool.name}.", (frozenset({tool.id}),)) for tool in tools)
    tasks = joined(EvalSet("set", tools, cases)).cases
    wanted = [group for task in tasks for group in task.relevant]
    assert len(wanted) == len(set(wanted)) > 90
    assert {len(task.relevant) for task in tasks} == set(range(SHORTEST, LONGEST + 1))
    assert all(task.query.count(", then find") == len(task.relevant) - 1 for task in tasks)


def test_a_plainer_tool_keeps_its_first_sentence_and_loses_limits_and_examples() -> None:
    tool = Tool("s", "pages", "Use this to list pages. It sorts them. At most 50 come back, e.g. drafts.", {})
    assert plainer(tool).description == "Use this to list pages. It sorts them."
    plain = Tool("s", "pages", "Lists pages. It sorts them.", {})
    assert plainer(plain) is plain


def test_time_within_another_layer_counts_there_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([0.0, 1.0, 4.0, 9.0])
    monkeypatch.setattr(time, "process_time", lambda: next(times))
    shares = Shares()
    inner = shares.timed("inner", lambda: None)
    inner()
    with shares.within("outer"):
        inner()
    assert shares.spent == {"outer": 1.0 + 5.0, "inner": 3.0}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.name and kind.state != EVICTED])
def test_a_wrong_call_names_no_tool_of_the_catalog_unless_the_name_is_meant_to_be_right(kind: Wrong) -> None:
    tools = [Tool(server, name, "", {}) for server in ("a", "b") for name in ("listPages", "get_page", "x")]
    taken = {tool.wire_name for tool in tools}
    for tool_id, name in wrong_calls(kind, tools):
        assert tool_id in {tool.id for tool in tools}
        assert (name in taken) == (kind.what == "the right name")


def printed(*words: str) -> str:
    """What both commands print, with few keys."""
    if "papers" in words:
        row = ["live", "100", "105", "1", "1", "96.9 % [94.5, 98.2]", "1", "1", "91.6 % [88.8, 93.5]"]
        rows = [row, [row[0], "200", *row[2:]]]
        return json.dumps({"sections": [{"tables": [{"title": "Random sets", "rows": rows}]}]})
    share = {"mean": 0.5, "low": 0.25, "high": 1.5}
    setups = [
        {"setup": {"name": name}, "runs": 9, "tasks": 8, "solved": 7, "returned": share, "reached": share}
        | dict.fromkeys(("tool_tokens", "cost", "uncached", "cost_ratio", "uncached_ratio"), share)
        for name in ("static", "toolsight delivery append", "toolsight delivery call_tool")
    ]
    return json.dumps({"setups": setups, "tools": 42, "calls": 3, "left_out": {"a": 1}})


def test_every_figure_of_recorded_runs_that_the_readme_names_is_measured_and_signed() -> None:
    found = evidence.figures(Path("data"), printed)
    for words in evidence.SENTENCES:
        assert set(re.findall(r"\{(\w+)\}", words)) <= found.keys()
    assert found["mcpmark_append_cost"] == "-50"
    assert found["mcpmark_append_cost_high"] == "+50"
    assert (found["live_first_100"], found["live_found_200_high"]) == ("96.9", "93.5")
    rows = evidence.table(Path("data"), printed)["table"].splitlines()
    assert len(rows) == 2 + 3 * len(evidence.COLLECTIONS)
    assert len({row.count("|") for row in rows}) == 1
    assert "| $0.500, -50 % [-75, +50] |" in rows[3]
