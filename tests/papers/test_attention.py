"""Tool Attention measured again, and what its own figures say."""

import pytest

from docs.papers.attention import Study, sections, study
from docs.papers.published import (
    B1,
    TABLE_3,
    TABLE_5,
)
from docs.papers.report import Report, markdown
from docs.papers.study import DEFAULT, best
from tests.papers.test_testbed import quarter
from tests.support.memory_vectors import MemoryEmbedder

# Its study takes seconds.
pytestmark = pytest.mark.measured


@pytest.fixture(scope="module")
def found() -> Study:
    return study(
        quarter,
        MemoryEmbedder(),
        progress=lambda *_: None,
        seeds=(0, 1),
        tasks=25,
        sizes=(50, 120),
    )


def test_the_full_schema_costs_the_same_for_every_task(found: Study) -> None:
    tokens = found.by_name[B1].per_call
    assert tokens.low == tokens.mean == tokens.high == found.bench.testbed.full


def test_a_higher_threshold_never_costs_more(found: Study) -> None:
    tokens = [one.tokens for one in found.swept]
    assert tokens == sorted(tokens, reverse=True)
    assert [one.threshold for one in found.swept] == [step / 100 for step in range(10, 51, 2)]
    assert best(found.swept) in found.swept


def test_every_published_row_stands_in_the_report(found: Study) -> None:
    text = markdown(Report("report", (), sections(found, 2)))
    for name in (*TABLE_3, *TABLE_5, DEFAULT):
        assert name in text
    assert "Projected in the paper, not reproduced" in text
