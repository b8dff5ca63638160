"""Whether discovery pays: one verdict, which follows from the break-even over all assumptions."""

import pytest
from hypothesis import given, strategies as st

from inspector.config.configuration import Configuration
from inspector.core.server import ServerSpec
from inspector.core.settings import Settings
from inspector.core.tool import Tool
from inspector.session.setup import Planner, Setup, catalog_planner
from inspector.session.verdict import Answer, Verdict
from inspector.tokens.break_even import BreakEven
from inspector.tokens.measure import BudgetMeter, FixedWindow
from inspector.tokens.plan import Assumptions
from tests.support.fakes import CharacterCounter


def verdict(tools: int, even: BreakEven) -> Verdict:
    return Verdict(tools, even, 0.24, 0.19)


@pytest.mark.parametrize(
    ("tools", "even", "words"),
    [
        (
            84,
            BreakEven(213, 26, 1593),
            ("in some sessions but not all", "with 213 or more tools", "26 to 1,593"),
        ),
        (4, BreakEven(78, 20, 303), ("4 tools are too few for discovery to save", "with 78 or more tools")),
        (900, BreakEven(78, 20, 303), ("discovery is cheaper for these 900 tools", "$0.19 with discovery")),
        (
            1,
            BreakEven(None, None, None),
            ("1 tool is too few for discovery", "would not be cheaper with 5,000 tools"),
        ),
        (
            50,
            BreakEven(None, 40, None),
            ("in some sessions", "Never cheaper under these assumptions; under others", "with 40 or more"),
        ),
        (
            50,
            BreakEven(90, 30, None),
            ("Cheaper with 90 or more tools of this size (30 or more in some sessions, never in others).",),
        ),
    ],
)
def test_the_sentence_says_what_holds_and_from_how_many_tools_on(
    tools: int, even: BreakEven, words: tuple[str, ...]
) -> None:
    text = verdict(tools, even).text
    assert all(word in text for word in words), text


def test_without_prices_no_dollars_are_said() -> None:
    assert "$" not in Verdict(84, BreakEven(213, 26, 1593), None, None).text


@pytest.mark.parametrize(
    ("static", "answer"), [(0.30, Answer.PAYS), (0.19, Answer.COSTS), (0.10, Answer.COSTS)]
)
def test_a_recorded_session_is_judged_by_what_it_cost_and_assumes_nothing(
    static: float, answer: Answer
) -> None:
    found = Verdict(84, BreakEven(213, 26, 1593), static, 0.19, is_recorded=True)
    assert found.answer is answer
    assert found.text == f"This session: $0.19 with discovery, ${static:.2f} with every tool bound."


class Counted(CharacterCounter):
    """Counts how often it counts."""

    def __init__(self) -> None:
        self.times = 0

    def count(self, text: str) -> int:
        self.times += 1
        return super().count(text)


def planned(counter: Counted) -> Planner:
    tools = tuple(Tool("shop", f"tool_{n}", f"Does thing {n}.") for n in range(5))
    setup = Setup(tools, Configuration("test.json", (ServerSpec("shop", "shop"),)), Settings())
    return catalog_planner(setup, BudgetMeter(counter, FixedWindow(1000)))


@given(st.lists(st.integers(1, 40), max_size=20))
def test_a_catalog_is_counted_once_for_any_number_of_assumptions(calls: list[int]) -> None:
    counter = Counted()
    plans = planned(counter)
    once = counter.times
    assert [len(plans(Assumptions(calls=number, searches_per_call=0)).calls) for number in calls] == calls
    assert counter.times == once
