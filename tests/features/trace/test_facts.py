"""What a call cost and a session did, as the timeline says it."""

from msgspec.structs import replace

from inspector.core.budget import Prices, TokenParts
from inspector.core.prompt_cache import Breakpoints, CacheTerms, Charge
from inspector.core.report import Facts
from inspector.core.session import CallCost
from inspector.features.trace.facts import call_facts, price_text, session_facts

PRICES = Prices("model", 1e-6, 1e-5, 1e-7, source="a list", date="2026-01-05")
CALL = CallCost(
    1,
    TokenParts(100, 200, 300, 40, 1000, 60, 0, 50),
    5000,
    Charge(read=500, written=200, plain=50),
    CacheTerms(write=1.0, read=0.1),
)
REPORTED = replace(
    CALL,
    reported_input=765,
    reported_output=100,
    reported_read=510,
    reported_written=200,
    reported_reasoning=20,
)


def told(facts: Facts) -> dict[str, str]:
    return {one.label: one.text for one in facts.facts}


def test_what_was_computed_and_what_is_reported_stand_side_by_side() -> None:
    said = told(call_facts(REPORTED, PRICES))
    assert said["sent"].startswith("750 tokens, 450 of them for tools; binding every tool")
    assert said["billed"] == "300 tokens, 67 % from the cache"
    assert said["answer"] == "100 tokens reported, 20 of them reasoning"
    assert said["reported"] == "765 tokens of input (+15, +2.0 %), 67 % from the cache"
    assert said["price"] == "$0.0013 computed, $0.0013 as reported"


def test_marks_for_the_cache_and_what_lost_it_are_told() -> None:
    call = replace(
        CALL, breakpoints=Breakpoints((3,), True, (0,), "1h"), charge=Charge(0, 750, 0, "tools: a")
    )
    said = told(call_facts(call, PRICES))
    assert said["marked for the cache"] == "tools[3], system, messages[0] for 1h"
    assert [one.text for one in call_facts(call, None).facts if one.warns] == ["tools: a"]


def test_a_session_adds_its_calls_up() -> None:
    said = told(session_facts((REPORTED, CALL), PRICES, "model"))
    assert said["session"] == "$0.0016 (2 calls, computed, $0.0013 reported for 1 call)"
    assert (said["input"], said["billed"]) == ("1.5k tokens", "600 tokens, 67 % from the cache")


def test_prices_say_whose_they_are_and_of_which_day() -> None:
    assert price_text(PRICES, "model") == "model: $1.00 in, $10.00 out per 1M, a list, 2026-01-05"
    assert price_text(PRICES, "other").startswith("as model")
    assert "budget.priced_as" in price_text(None, "model")
