"""Tool Attention measured again, and what its own figures say."""

import pytest

from docs.papers.attention import Study, attention_sections, sections, study
from docs.papers.caching import measured
from docs.papers.published import (
    B1,
    B4,
    OURS,
    POOL_AND_SCHEMAS,
    TABLE_3,
    TABLE_5,
    ablation_findings,
    catalog_findings,
    fitted_context,
    implied_task,
    main_findings,
    scaling_findings,
)
from docs.papers.report import Origin, Report, markdown
from docs.papers.study import DEFAULT, best
from inspector.core.budget import utilization
from inspector.core.prompt_cache import Block
from inspector.search.index.tool_index import ToolIndex
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


def test_the_pool_is_counted_beside_the_schemas(found: Study) -> None:
    ours = found.by_name[OURS]
    assert ours.whole_call == ours.per_call.mean + found.bench.pool
    assert ours.tokens.mean == pytest.approx(
        sum(run.tools + found.bench.pool * run.calls for run in ours.runs) / len(ours.runs)
    )
    assert ours.rho is not None
    assert ours.rho_bare is not None
    assert ours.rho < ours.rho_bare


def test_tasks_are_compared_with_what_a_session_embeds_for_its_gate(found: Study) -> None:
    made = found.bench.testbed
    index = ToolIndex(made.tools, lined=True)
    assert tuple(found.bench.summaries.values()) == index.line_texts


def test_a_higher_threshold_never_costs_more(found: Study) -> None:
    tokens = [one.tokens for one in found.swept]
    assert tokens == sorted(tokens, reverse=True)
    assert [one.threshold for one in found.swept] == [step / 100 for step in range(10, 51, 2)]
    assert best(found.swept) in found.swept


def test_a_list_that_never_changes_is_cached_nearly_whole(found: Study) -> None:
    stable, random, first = found.layouts[:3]
    assert stable.hit_rate > 0.9
    assert stable.requests == first.requests > 30
    assert first.hit_rate < random.hit_rate < stable.hit_rate


def test_schemas_after_the_history_keep_more_of_the_cache_than_in_front(found: Study) -> None:
    paper, native = found.layouts[3:5]
    assert paper.tokens == native.tokens
    assert paper.hit_rate > native.hit_rate


def test_every_published_row_stands_in_the_report(found: Study) -> None:
    text = markdown(Report("report", (), sections(found, 2)))
    for name in (*TABLE_3, *TABLE_5, DEFAULT):
        assert name in text
    assert "Projected in the paper, not reproduced" in text


def test_no_table_of_generated_tasks_passes_for_real(found: Study) -> None:
    origins = {table.title: table.origin for one in sections(found, 2) for table in one.tables}
    assert Origin.REAL not in origins.values()
    assert origins["tokens per definition"] is Origin.CALIBRATION


def test_without_a_model_only_the_arithmetic_is_reported() -> None:
    (section,) = attention_sections(quarter, None)
    assert not section.tables
    assert section.findings


def test_the_cache_reads_what_a_request_repeats() -> None:
    head = Block("head", 2_000, "tools")
    layout = measured("l", [[head, Block("a", 1_000, "history")], [head, Block("b", 1_000, "history")]])
    assert (layout.requests, layout.tokens, layout.read) == (2, 6_000, 2_000)
    assert layout.billed == pytest.approx(4_000 * 1.25 + 2_000 * 0.1)


def test_the_implied_task_gives_the_rho_back() -> None:
    assert utilization(implied_task(0.24, 47_312, 100), 47_312, 100) == pytest.approx(0.24)
    assert implied_task(0.24, 47_312) == pytest.approx(14_941, abs=1)
    assert implied_task(0.91, 2_368) == pytest.approx(23_943, abs=1)


def test_the_context_of_b1_and_b4_gives_tool_attention_less_than_printed() -> None:
    task, system = fitted_context()
    for name in (B1, B4):
        row = TABLE_3[name]
        assert utilization(task, row.tokens, system) == pytest.approx(row.rho)
    assert utilization(task, TABLE_3[OURS].tokens, system) == pytest.approx(0.84, abs=0.005)
    assert utilization(15_000, POOL_AND_SCHEMAS, 0) == pytest.approx(0.68, abs=0.005)


def test_every_finding_carries_its_numbers() -> None:
    told = " ".join((*catalog_findings(), *main_findings(), *ablation_findings(), *scaling_findings()))
    for number in ("48,600", "7,188", "84.8 %", "1.72", "1,419,360", "0.91", "1,167", "40,000"):
        assert number in told
