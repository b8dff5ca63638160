"""The testbed, its words and its tasks."""

import hashlib

import pytest

from docs.papers.task import (
    tasks,
)
from docs.papers.testbed import TABLE_2, Testbed, build_testbed
from inspector.core.tool import definition
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


def test_the_tools_that_the_documented_numbers_are_of_have_not_changed(large: Testbed) -> None:
    texts = [compact({**definition(tool), "read_only": tool.annotations.read_only}) for tool in large.tools]
    digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()
    assert digest.startswith("c1e9545bee25")


def test_the_tasks_that_the_documented_numbers_are_of_have_not_changed() -> None:
    said = [f"{task.kind} {sorted(task.scopes)} {task.turns}" for task in tasks(build_testbed(quarter))]
    assert hashlib.sha256("\n".join(said).encode()).hexdigest().startswith("43ae5d5eb1fb")
