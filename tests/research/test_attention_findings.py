"""The arithmetic on the published figures, each against a case worked out by hand."""

import pytest

from inspector.core.budget import utilization
from inspector.research.published import (
    B1,
    B2,
    B3,
    B4,
    FAILED,
    OURS,
    POOL_AND_SCHEMAS,
    TABLE_3,
    TASKS,
    ablation_findings,
    catalog_findings,
    fitted_context,
    fracture_tools,
    implied_task,
    implied_tasks,
    main_findings,
    scaling_findings,
    scaling_rho,
    table_2_total,
)


def test_table_2_adds_up_to_48600() -> None:
    assert table_2_total() == 15_600 + 1_800 + 8_200 + 4_350 + 2_200 + 16_450 == 48_600


def test_pool_and_schemas_are_7188_and_a_cut_by_84_8_percent() -> None:
    assert POOL_AND_SCHEMAS == 7_188
    assert 1 - POOL_AND_SCHEMAS / TABLE_3[B1].tokens == pytest.approx(0.848, abs=0.0005)


def test_the_implied_task_gives_the_rho_back() -> None:
    assert utilization(implied_task(0.24, 47_312, 100), 47_312, 100) == pytest.approx(0.24)
    assert implied_task(0.24, 47_312) == pytest.approx(14_941, abs=1)
    assert implied_task(0.91, 2_368) == pytest.approx(23_943, abs=1)


def test_no_one_task_fits_the_rho_of_b1_b4_and_tool_attention() -> None:
    spans = implied_tasks()
    assert spans[B2].low <= spans[B1].high
    assert spans[B4].high < spans[B1].low
    assert spans[B3].high < spans[OURS].low
    assert spans[B4].high < spans[OURS].low


def test_the_context_of_b1_and_b4_gives_tool_attention_less_than_printed() -> None:
    task, system = fitted_context()
    for name in (B1, B4):
        row = TABLE_3[name]
        assert utilization(task, row.tokens, system) == pytest.approx(row.rho)
    assert utilization(task, TABLE_3[OURS].tokens, system) == pytest.approx(0.84, abs=0.005)
    assert utilization(15_000, POOL_AND_SCHEMAS, 0) == pytest.approx(0.68, abs=0.005)


def test_a_session_tax_cannot_give_the_printed_rho_in_the_window() -> None:
    assert implied_task(0.24, 30 * 47_312) > 200_000


def test_the_scaling_formula_has_no_fracture_at_50_tools() -> None:
    assert scaling_rho(50) == pytest.approx(1 / 1.1)
    assert fracture_tools() == pytest.approx(1_166.67, abs=0.01)
    assert scaling_rho(50, window=8_571) == pytest.approx(0.3, abs=1e-4)


def test_failed_tasks_are_what_success_leaves() -> None:
    assert pytest.approx(1 - 0.942) == FAILED / TASKS


def test_every_finding_carries_its_numbers() -> None:
    told = " ".join((*catalog_findings(), *main_findings(), *ablation_findings(), *scaling_findings()))
    for number in ("48,600", "7,188", "84.8 %", "1.72", "1,419,360", "0.91", "1,167", "40,000"):
        assert number in told
