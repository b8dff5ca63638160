"""`toolsight race`: both runs, the drawing, the table."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from inspector.core.budget import Prices
from inspector.features.lab.comparison import ModelCallCost
from inspector.features.lab.race.command import ansi_line, drawn
from inspector.features.lab.race.facts import NOT_COMPARABLE, big_share
from inspector.features.lab.race.race import RaceFrame, Racer, Verdict
from tests.support.commands import Toolsight
from tests.support.examples import examples
from tests.support.lab import FORECAST, MemoryLabs
from tests.widgets.hostile import HOSTILE, LONG, dangerous

REFUND = """
title: A refund
turns:
  - user: Refund it.
    steps:
      - calls: [{tool: search_tools, arguments: {tool_names: [refund_order]}}]
      - calls: [{tool: "shop:refund_order", arguments: {}}]
      - say: Done.
"""
_STYLES = re.compile(r"\x1b\[[0-9;]*m")


def race_of(text: str) -> tuple[tuple[RaceFrame, ...], Verdict]:
    """A race in which everything that is told comes from the text."""
    start = Racer(profile=text, model=text, tokenizer=text, last=text, outcome=text)
    cost = ModelCallCost(1, 90, 3, search_tokens=9, input_tokens=120, billed=100.0, dollars=0.1)
    racer = replace(start, costs=(cost,), is_over=True)
    frames = (RaceFrame(0.0, (start, start)), RaceFrame(0.6, (racer, racer)))
    return frames, Verdict((racer, racer), (text,), Prices(text, 1.0, 1.0, source=text, date=text))


@pytest.mark.usefixtures("labs")
def test_both_runs_and_every_call_are_in_the_table(toolsight: Toolsight, file: Callable[[str], str]) -> None:
    printed = toolsight("race", file(FORECAST), "--profile", "prd")
    assert printed.exit_code == 0, printed.stderr
    assert "static: 1 scripted search left out, 1 fewer model call." in printed.stdout
    assert "prd: 1 more model call than static, each of which takes time." in printed.stdout
    rows = [line.split() for line in printed.stdout.splitlines()[-3:]]
    assert [row[0] for row in rows] == ["1", "2", "3"]
    assert rows[-1][1] == "–"


def test_the_script_answers_without_its_searches_under_static(
    toolsight: Toolsight, labs: MemoryLabs, file: Callable[[str], str]
) -> None:
    path = file(FORECAST)
    told = json.loads(toolsight("race", path, "--json").stdout)
    assert sorted(profile for profile, _ in labs.opened) == ["static", "toolsight"]
    models = {profile: options.model for profile, options in labs.opened}
    assert models["toolsight"] == f"demo/script:{path}"
    assert models["static"] != models["toolsight"]
    assert not Path(models["static"].removeprefix("demo/script:")).exists()
    static, other = told["lanes"]
    assert (static["searches"], other["searches"]) == (0, 1)
    assert (static["calls"], other["calls"]) == (2, 3)
    assert told["saved"] == pytest.approx(1 - other["tokens"] / static["tokens"])
    assert told["frames"][-1]["lanes"] == [
        {"tokens": racer["tokens"], "present": racer["present"]} for racer in told["lanes"]
    ]


def test_a_setting_that_would_change_static_applies_to_the_other_lane_only(
    toolsight: Toolsight, labs: MemoryLabs, file: Callable[[str], str]
) -> None:
    both = ("--set", "binding.policy=keep", "--set", "chat.max_steps=9")
    assert toolsight("race", file(FORECAST), *both).exit_code == 0
    assert {profile: dict(options.values) for profile, options in labs.opened} == {
        "static": {"chat.max_steps": 9},
        "toolsight": {"binding.policy": "keep", "chat.max_steps": 9},
    }


@examples(share=0.4)
@given(st.one_of(st.text(max_size=200), st.sampled_from((*HOSTILE, LONG))))
def test_no_text_controls_the_terminal(text: str) -> None:
    frames, verdict = race_of(text)
    for line in drawn(text, frames[-1], verdict, 100):
        assert not dangerous(_STYLES.sub("", ansi_line(line, 100)))


@given(st.text(max_size=100), st.integers(20, 120))
def test_no_line_is_wider_than_the_terminal(text: str, width: int) -> None:
    from rich.cells import cell_len

    frames, verdict = race_of(text)
    for line in drawn(text, frames[-1], verdict, width):
        assert cell_len(ansi_line(line, width, colored=False)) <= width


def test_on_a_terminal_the_race_is_drawn_to_its_end(
    toolsight: Toolsight, labs: MemoryLabs, file: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector.features.lab.race.command._is_terminal", lambda: True)
    monkeypatch.setattr("inspector.features.lab.race.command.SECONDS_A_CALL", 0.01)
    printed = toolsight("race", file(FORECAST))
    assert printed.exit_code == 0, printed.stderr
    assert len(labs.opened) == 2
    drawings = printed.stdout.split("Race  A forecast")[1:]
    assert len(drawings) == 5
    assert "getting ready" in drawings[0]
    assert all(f"call {number}" in drawings[number] for number in (1, 2, 3))
    assert "instead of" in drawings[-1]


@pytest.mark.parametrize(
    "arguments",
    [
        ("no-such-scenario",),
        ("loop", "--profile", "static"),
        ("loop", "--profile", "no-such-profile"),
        ("loop", "--present"),
    ],
)
def test_a_mistake_exits_with_two_and_plays_nothing(
    toolsight: Toolsight, labs: MemoryLabs, arguments: tuple[str, ...]
) -> None:
    failed = toolsight("race", *arguments)
    assert failed.exit_code == 2, failed.stderr
    assert not labs.opened


QUESTION = "Which orders are late?"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A configuration; the labs in memory have its servers."""
    path = tmp_path / "shop.json"
    path.write_text('{"mcpServers": {"shop": {"command": "shop"}}, "profile": "prd"}', encoding="utf-8")
    return path


def test_more_than_one_word_is_a_question_that_the_model_answers_on_the_named_servers(
    toolsight: Toolsight, labs: MemoryLabs, shop: Path
) -> None:
    told = json.loads(toolsight("race", QUESTION, "--config", str(shop), "--json").stdout)
    assert (told["question"], told["scripted"], told["title"]) == (True, False, QUESTION)
    assert [options.model for _, options in labs.opened] == ["demo/planner"] * 2
    assert sorted(profile for profile, _ in labs.opened) == ["prd", "static"]
    assert all(ground is not None and ground.configuration.source == str(shop) for ground in labs.grounds)
    assert {racer["outcome"] for racer in told["lanes"]} == {"answered"}


def test_a_question_without_servers_is_a_mistake_and_one_on_the_demo_is_not(
    toolsight: Toolsight, labs: MemoryLabs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    failed = toolsight("race", QUESTION)
    assert failed.exit_code == 2
    assert "no server or configuration given" in failed.stderr
    assert not labs.opened
    assert toolsight("race", QUESTION, "--demo").exit_code == 0
    assert len(labs.opened) == 2


def test_a_question_to_a_script_is_a_mistake(toolsight: Toolsight, labs: MemoryLabs, shop: Path) -> None:
    failed = toolsight("race", QUESTION, "--config", str(shop), "--model", "demo/script:x.yaml")
    assert failed.exit_code == 2
    assert "cannot answer a question" in failed.stderr
    assert not labs.opened


@pytest.mark.usefixtures("labs")
def test_what_changes_something_is_not_called_and_that_is_told(
    toolsight: Toolsight, file: Callable[[str], str], shop: Path
) -> None:
    printed = toolsight("race", file(REFUND), "--config", str(shop))
    assert printed.exit_code == 0, printed.stderr
    for profile in ("static", "toolsight"):
        told = f"{profile}: 1 call skipped, because a race might change something twice: shop:refund_order."
        assert told in " ".join(printed.stdout.split())


def test_a_scenario_that_does_not_fit_the_named_servers_is_refused(
    toolsight: Toolsight, labs: MemoryLabs, file: Callable[[str], str], shop: Path
) -> None:
    path = file(FORECAST.replace("weather:get_forecast", "mail:send"))
    failed = toolsight("race", path, "--config", str(shop))
    assert failed.exit_code == 2
    assert "cannot run on these servers: it needs mail:send" in failed.stderr
    assert "Race a question instead" in failed.stderr
    assert labs.opened
    assert toolsight("race", path).exit_code == 0


def test_where_one_side_did_less_there_is_no_large_number() -> None:
    _, verdict = race_of("a")
    solved = replace(verdict.racers[0], outcome="answered", steps=2)
    assert big_share(Verdict((solved, replace(solved, steps=1)))) == NOT_COMPARABLE
    assert big_share(Verdict((solved, solved))) != NOT_COMPARABLE
