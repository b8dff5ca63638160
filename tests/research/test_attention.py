"""The whole report on a small number of tasks, and what a prompt cache makes of each layout."""

import pytest

from inspector.core.prompt_cache import Block
from inspector.core.report import Origin, Report, markdown
from inspector.research.attention import Study, attention_sections, sections, study
from inspector.research.caching import measured
from inspector.research.published import B1, OURS, TABLE_3, TABLE_5, WHOLE
from inspector.research.study import DEFAULT, best
from inspector.search.index import ToolIndex
from tests.research.test_testbed import quarter
from tests.support.memory_vectors import MemoryEmbedder


def small_study() -> Study:
    made = study(
        quarter,
        MemoryEmbedder(),
        progress=lambda *_: None,
        stopped=lambda: False,
        seeds=(0, 1),
        tasks=25,
        sizes=(50, 120),
    )
    assert made is not None
    return made


found = pytest.fixture(scope="module")(small_study)


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


def test_the_sweep_meets_the_whole_system_at_its_threshold(found: Study) -> None:
    at = next(one for one in found.swept if one.threshold == 0.28)
    assert at.tokens == pytest.approx(found.variants[WHOLE].per_call.mean)


def test_a_list_that_never_changes_is_cached_nearly_whole(found: Study) -> None:
    stable, random, first = found.layouts[:3]
    assert stable.hit_rate > 0.9
    assert stable.requests == first.requests > 30
    assert first.hit_rate < random.hit_rate < stable.hit_rate


def test_schemas_after_the_history_keep_more_of_the_cache_than_in_front(found: Study) -> None:
    paper, native = found.layouts[3:5]
    assert paper.tokens == native.tokens
    assert paper.hit_rate > native.hit_rate


def test_a_larger_catalog_costs_the_full_schema_more_and_rho_less(found: Study) -> None:
    small, large = (one for one in found.scaled if one.name == B1)
    assert small.tokens < large.tokens
    assert small.rho > large.rho


def test_every_published_row_stands_in_the_report(found: Study) -> None:
    text = markdown(Report("report", (), sections(found, 2)))
    for name in (*TABLE_3, *TABLE_5, DEFAULT):
        assert name in text
    assert "Projected in the paper, not reproduced" in text


@pytest.mark.slow
def test_the_same_seeds_make_the_same_report(found: Study) -> None:
    assert sections(small_study(), 2) == sections(found, 2)


def test_no_table_of_generated_tasks_passes_for_real(found: Study) -> None:
    origins = {table.title: table.origin for one in sections(found, 2) for table in one.tables}
    assert Origin.REAL not in origins.values()
    assert origins["tokens per definition"] is Origin.CALIBRATION


def test_nothing_is_reported_once_it_was_stopped() -> None:
    assert attention_sections(quarter, MemoryEmbedder(), stopped=lambda: True, tasks=5) == ()


def test_without_a_model_only_the_arithmetic_is_reported() -> None:
    (section,) = attention_sections(quarter, None)
    assert not section.tables
    assert section.findings


def test_the_cache_reads_what_a_request_repeats() -> None:
    head = Block("head", 2_000, "tools")
    layout = measured("l", [[head, Block("a", 1_000, "history")], [head, Block("b", 1_000, "history")]])
    assert (layout.requests, layout.tokens, layout.read) == (2, 6_000, 2_000)
    assert layout.billed == pytest.approx(4_000 * 1.25 + 2_000 * 0.1)
