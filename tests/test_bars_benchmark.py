"""The bars of the report, the long tasks of the levers, and where speed is written again."""

from dataclasses import replace

import pytest

from docs.benchmark import bars, retrieval
from docs.benchmark.levers import LONGEST, SHORTEST, joined
from docs.benchmark.speed import SIZES, Speed
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
