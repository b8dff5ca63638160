"""`toolsight race`: both runs, what came of them, the table."""

import json
from pathlib import Path

import pytest

from tests.support.commands import Toolsight
from tests.support.lab import MemoryLabs

QUESTION = "Which orders are late?"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A configuration; the labs in memory have its servers."""
    path = tmp_path / "shop.json"
    path.write_text('{"mcpServers": {"shop": {"command": "shop"}}, "profile": "prd"}', encoding="utf-8")
    return path


def test_the_model_answers_the_question_on_the_named_servers_with_both_profiles(
    toolsight: Toolsight, labs: MemoryLabs, shop: Path
) -> None:
    told = json.loads(toolsight("race", QUESTION, "--config", str(shop), "--json").stdout)
    assert told["title"] == QUESTION
    assert [options.model for _, options in labs.opened] == ["demo/planner"] * 2
    assert sorted(profile for profile, _ in labs.opened) == ["prd", "static"]
    assert all(ground is not None and ground.configuration.source == str(shop) for ground in labs.grounds)
    static, other = told["lanes"]
    assert {static["outcome"], other["outcome"]} == {"answered"}
    assert told["saved"] == pytest.approx(1 - other["tokens"] / static["tokens"])
    assert [lane["tokens"] for lane in told["frames"][-1]["lanes"]] == [static["tokens"], other["tokens"]]


@pytest.mark.usefixtures("labs")
def test_both_sides_and_every_call_are_in_the_tables(toolsight: Toolsight, shop: Path) -> None:
    printed = toolsight("race", QUESTION, "--config", str(shop))
    assert printed.exit_code == 0, printed.stderr
    assert "static  every tool in every call   ✓ answered   2 model calls" in printed.stdout
    assert "prd: 1 more model call than static, each of which takes time." in printed.stdout
    rows = [line.split() for line in printed.stdout.splitlines()[-3:]]
    assert [row[0] for row in rows] == ["1", "2", "3"]
    assert rows[-1][1] == "–"


def test_a_setting_that_would_change_static_applies_to_the_other_side_only(
    toolsight: Toolsight, labs: MemoryLabs, shop: Path
) -> None:
    both = ("--set", "binding.policy=keep", "--set", "chat.max_steps=9")
    assert toolsight("race", QUESTION, "--config", str(shop), *both).exit_code == 0
    assert {profile: dict(options.values) for profile, options in labs.opened} == {
        "static": {"chat.max_steps": 9},
        "prd": {"binding.policy": "keep", "chat.max_steps": 9},
    }


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "Missing argument"),
        ((QUESTION,), "no server or configuration given"),
        ((QUESTION, "--demo", "--profile", "static"), "cannot race against itself"),
        ((QUESTION, "--demo", "--profile", "no-such-profile"), "no-such-profile"),
        ((QUESTION, "--demo", "--model", "demo/script:x.yaml"), "cannot answer a question"),
    ],
)
def test_a_mistake_exits_with_two_and_plays_nothing(
    toolsight: Toolsight,
    labs: MemoryLabs,
    arguments: tuple[str, ...],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    failed = toolsight("race", *arguments)
    assert failed.exit_code == 2, failed.stderr
    assert told in failed.stderr
    assert not labs.opened
