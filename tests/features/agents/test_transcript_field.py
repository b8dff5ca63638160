"""Values of other programs' records: each as its type, or as nothing."""

import math
from typing import Any

import pytest

from inspector.features.agents.transcript import AgentTool, Tally
from inspector.features.agents.transcript_file.record_reader import (
    agent_tool,
    arguments,
    count,
    is_shallow,
    moment,
    said,
)


def nested(depth: int) -> Any:
    """Lists in lists."""
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "told"), [(0, 0), (7, 7), (7.0, 7), ("7", 7), ("900719925474099", 900719925474099)]
)
def test_a_count_is_read_as_it_is_written(value: object, told: int) -> None:
    assert count(value) == told


@pytest.mark.parametrize(
    "value",
    [None, True, False, -1, 7.5, "", "-7", "7.5", "٧", "9" * 400, 2**53, float("nan"), float("inf"), [7]],
)
def test_what_is_no_count_is_unknown(value: object) -> None:
    assert count(value) is None


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("2026-10-05T08:00:00.500Z", 1791187200.5),
        ("2026-10-05T10:00:00+02:00", 1791187200.0),
        ("2026-10-05T08:00:00", 1791187200.0),
        (1791187200, 1791187200.0),
        *((value, None) for value in ("", None)),
    ],
)
def test_a_time_is_in_utc_or_unknown(value: object, told: float | None) -> None:
    tally = Tally()
    assert moment(value, tally) == told
    assert not tally.malformed


@pytest.mark.parametrize(
    "value",
    [
        "now",
        "9999-99-99",
        "9999-12-31T23:59:59-12:00",
        "1969-12-31T23:59:59Z",
        -1,
        9e15,
        2**60,
        math.nan,
        True,
        [],
    ],
)
def test_a_time_that_no_calendar_has_is_unknown_and_counted(value: object) -> None:
    tally = Tally()
    assert moment(value, tally) is None
    assert tally.malformed.total() == 1


def test_arguments_that_nobody_could_walk_through_are_left_out() -> None:
    assert (is_shallow(nested(90)), is_shallow(nested(200))) == (True, False)
    assert arguments({"a": nested(200)}) == ({}, "the arguments are nested too deeply")
    assert arguments('{"a": 1}') == ({"a": 1}, "")
    assert arguments("[1]") == ({}, "the arguments are not an object")


def test_a_part_without_text_is_named() -> None:
    assert said([{"type": "text", "text": "a"}, {"type": "image"}, 5, "b"]) == "a\n[image]\nb"


@pytest.mark.parametrize(
    ("sent", "tool"),
    [
        ("mcp__shop__list", AgentTool("list", "shop", "mcp__shop__list")),
        ("mcp__shop__list__all", AgentTool("list__all", "shop", "mcp__shop__list__all")),
        *(
            (name, AgentTool(name, "", name))
            for name in ("Bash", "mcp__shop", "mcp____list", "mcp__shop__", "")
        ),
    ],
)
def test_a_server_is_what_stands_between_the_first_underscores(sent: str, tool: AgentTool) -> None:
    assert agent_tool(sent) == tool
