"""The arithmetic of a budget, against cases worked out by hand."""

import pytest

from inspector.core.budget import Budget, TokenParts, ToolCost, tools_tax, turns_left, utilization

PARTS = TokenParts(
    system=100, history=600, tools=250, meta=150, output_reserve=1000, manifest=50, pool=30, searches=20
)


def test_a_saving_pays_for_the_searches() -> None:
    budget = Budget(10_000, PARTS, static_tools=2000)
    assert budget.saved == 1500
    assert budget.saved_fraction == 0.75


def test_rho_is_the_share_of_the_task() -> None:
    assert utilization(15_000, 47_300, 200) == pytest.approx(0.24)
    assert Budget(10_000, PARTS, 0).rho == pytest.approx(600 / (600 + 500 + 100))
    assert Budget(10_000, PARTS, 2300).static_rho == pytest.approx(600 / 3000)
    assert utilization(0, 0, 0) == 0


def test_the_tools_tax_of_a_session_is_paid_on_every_turn() -> None:
    assert tools_tax(47_300, 30) == 1_419_000


def test_turns_are_projected_by_the_room_that_is_left() -> None:
    budget = Budget(10_000, PARTS, 0)
    assert turns_left(budget, 1300) == 6
    assert turns_left(budget, 0) is None
    assert turns_left(Budget(1000, PARTS, 0), 100) == 0


def test_characters_by_four_are_an_estimate_with_an_error() -> None:
    cost = ToolCost(name=3, description=10, schema=30, framing=7, chars=180)
    assert (cost.tokens, cost.estimate) == (50, 45)
    assert cost.error == pytest.approx(-0.1)
    assert ToolCost(0, 0, 0, 0, 0).error == 0
