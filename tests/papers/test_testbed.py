"""The testbed, its words and its tasks."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from docs.papers import vocabulary
from docs.papers.task import (
    LONG,
    MULTI,
    SINGLE,
    Task,
    mean_overlap,
    overlap,
    tasks,
)
from docs.papers.testbed import TABLE_2, Testbed, build_testbed, plans_of
from docs.papers.vocabulary import plural, with_article
from inspector.core.tool import definition, tool_summary
from inspector.schema.json_value import compact
from inspector.tokens.counter import TiktokenCounter

pytestmark = pytest.mark.measured


def quarter(text: str) -> int:
    return len(text) // 4


@pytest.fixture(scope="module")
def exact() -> Testbed:
    return build_testbed(TiktokenCounter("gpt-4").count)


def test_every_server_has_the_stated_tools_and_tokens_within_three_percent(exact: Testbed) -> None:
    for size in TABLE_2:
        assert sum(tool.server == size.server for tool in exact.tools) == size.tools
        assert exact.average(size.server) == pytest.approx(size.tokens, rel=0.03)
    assert len(exact.tools) == 120


@pytest.fixture(scope="module")
def large() -> Testbed:
    return build_testbed(quarter, total=1000)


def test_more_tools_than_there_are_words_for_are_refused() -> None:
    with pytest.raises(ValueError, match="not for 10000"):
        plans_of(TABLE_2[0].domain, 10_000)


@pytest.mark.parametrize(
    ("one", "many"),
    [
        ("branch", "branches"),
        ("reply", "replies"),
        ("status", "statuses"),
        ("line of development", "lines of development"),
        ("change up for review", "changes up for review"),
        ("rights", "rights"),
    ],
)
def test_plurals_follow_the_head_of_a_noun(one: str, many: str) -> None:
    assert plural(one) == many


def test_an_article_fits_the_sound_after_it() -> None:
    assert with_article("a issue, a user, a old index") == "an issue, a user, an old index"


def test_the_tools_that_the_documented_numbers_are_of_have_not_changed(large: Testbed) -> None:
    texts = [compact({**definition(tool), "read_only": tool.annotations.read_only}) for tool in large.tools]
    digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()
    assert digest.startswith("c1e9545bee25")


ENTITY: dict[str, Any] = {
    "name": "file",
    "said": ["document"],
    "about": "a document",
    "objects": ["notes.txt"],
    "fields": ["mode"],
    "actions": ["get"],
}
DOMAIN: dict[str, Any] = {
    "server": "disk",
    "scope": "folder",
    "where": ["at home"],
    "located": ["path"],
    "usual": ["list"],
    "entities": [ENTITY],
}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"entities": [{**ENTITY, "actions": ["fly"]}]}, "disk: no such action or parameter: fly"),
        ({"located": ["planet"]}, "disk: no such action or parameter: planet"),
        ({"where": "at home"}, r"disk: (.|\n)*where\n.*valid tuple"),
        ({"where": [3]}, r"disk: (.|\n)*where.0\n.*valid string"),
        ({"wher": []}, r"disk: (.|\n)*wher\n.*not permitted"),
        ({"entities": [{**ENTITY, "name": None}]}, r"disk: (.|\n)*entities.0.name\n.*valid string"),
        ({"entities": [{"name": "file"}]}, r"disk: (.|\n)*entities.0.said\n.*required"),
    ],
)
def test_a_file_that_does_not_hold_together_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], told: str
) -> None:
    vocabulary.actions(), vocabulary.parameters()
    (tmp_path / "words").mkdir()
    (tmp_path / "words" / "disk.json").write_text(json.dumps({**DOMAIN, **change}), encoding="utf-8")
    monkeypatch.setattr(vocabulary, "files", lambda _: tmp_path)
    with pytest.raises(ValueError, match=told):
        vocabulary.domain("disk")


MADE = build_testbed(quarter)
TASKS = tasks(MADE, 100)
SUMMARIES = {tool.id: tool_summary(tool, 60, quarter) for tool in MADE.tools}


def of(kind: str) -> list[Task]:
    return [task for task in TASKS if task.kind == kind]


def test_there_are_as_many_tasks_as_asked_for_of_every_kind() -> None:
    assert [len(of(kind)) for kind in (SINGLE, MULTI, LONG)] == [60, 30, 10]


def test_queries_share_few_words_with_the_summaries_they_are_to_find() -> None:
    assert mean_overlap(TASKS, SUMMARIES) < 0.15
    assert not any(
        overlap(step.query, SUMMARIES[step.tool_id]) > 0.6
        for task in TASKS
        for turn in task.turns
        for step in turn.steps
    )


def test_the_tasks_that_the_documented_numbers_are_of_have_not_changed() -> None:
    said = [f"{task.kind} {sorted(task.scopes)} {task.turns}" for task in tasks(MADE)]
    assert hashlib.sha256("\n".join(said).encode()).hexdigest().startswith("43ae5d5eb1fb")
