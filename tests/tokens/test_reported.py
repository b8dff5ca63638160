"""What a provider reports, beside what was computed."""

import pytest

from inspector.core.budget import Prices, TokenParts
from inspector.core.prompt_cache import Charge
from inspector.core.session import CallCost
from inspector.tokens.reported import answer_line, input_line, reported_dollars, reported_hit_rate

SONNET = Prices("sonnet", 3e-6, 15e-6, cache_read=0.3e-6, cache_write=3.75e-6, cache_write_hour=6e-6)
COMPUTED = CallCost(1, TokenParts(history=1000), 0, Charge(700, 200, 100))
REPORTED = CallCost(
    1, TokenParts(history=1000), 0, Charge(700, 200, 100), reported_input=1100, reported_output=50,
    reported_read=600, reported_written=400, reported_written_hour=300, reported_reasoning=20,
)  # fmt: skip


def test_reported_tokens_cost_what_each_kind_costs() -> None:
    spent = 100 * 3e-6 + 600 * 0.3e-6 + 100 * 3.75e-6 + 300 * 6e-6 + 50 * 15e-6
    assert reported_dollars(REPORTED, SONNET) == pytest.approx(spent)
    assert reported_hit_rate(REPORTED) == pytest.approx(600 / 1100)


def test_nothing_is_made_up_before_a_provider_reports() -> None:
    assert reported_dollars(COMPUTED, SONNET) is None
    assert reported_hit_rate(COMPUTED) is None
    assert answer_line(COMPUTED) == ""
    assert input_line(COMPUTED) == "computed 1,000 (700 read, 200 written); the provider reports nothing"


def test_both_sides_are_on_one_line() -> None:
    said = "computed 1,000 (700 read, 200 written); reported 1,100 (600 read, 400 written)"
    assert input_line(REPORTED) == said
    assert answer_line(REPORTED) == "answer: 50 tokens reported, 20 of them reasoning"
