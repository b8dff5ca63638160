"""What a search says, found, closest or nothing, and what it loads; the confidences are given."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from inspector.core.ranking import Answer, Outcome, Part, Score, SearchRequest, Signal
from inspector.core.tool import Tool, why_destroys
from inspector.search.answer.answer_text import CLOSEST_ONLY, SearchAnswer
from inspector.search.answer.search import CLOSEST_AT_MOST, NEAR, SURELY, SearchRules, ToolSearch
from inspector.search.index.name_index import NameIndex
from inspector.search.index.tool_index import ToolIndex
from inspector.search.ranker.ranker import Ranking
from tests.support.fakes import ManualClock

RULES = SearchRules(limit=5, threshold=0.35, closest_threshold=0.02)
SURE, UNSURE, HOPELESS = 0.8, 0.2, 0.01
READING = tuple(Tool("shop", f"list_{word}", "Lists.") for word in ("orders", "parcels", "carts", "stock"))


class Knowing:
    """A ranker that is as confident in the tools, from the first on, as it was told to be."""

    name = "knowing"

    def __init__(self, tools: tuple[Tool, ...], fit: list[float], read: str = "") -> None:
        self._tools, self._fit, self._read = tools, np.array(fit), read

    def terms(self, _query: str) -> tuple[str, ...]:
        return ()

    def rank(self, _query: str) -> Ranking:
        fit, kept = self._fit, np.ones(len(self._fit), np.bool_)

        def explained(position: int) -> Score:
            value = float(fit[position])
            return Score(self._tools[position].id, value, (Part(Signal.SEMANTIC, "told", value),))

        return Ranking(fit, kept, explained, fit=fit, comparable=fit, read=self._read)


def ask(
    query: str, *tools: Tool, fit: float | list[float] = UNSURE, rules: SearchRules = RULES, read: str = ""
) -> SearchAnswer:
    fits = [fit] * len(tools) if isinstance(fit, float) else fit
    index = ToolIndex(tools)
    search = ToolSearch(index, NameIndex(index), Knowing(tools, fits, read), rules, ManualClock())
    return search.run(SearchRequest(query))


def loaded(answer: SearchAnswer) -> list[str]:
    return [tool.name for tool in answer.to_load]


@pytest.mark.parametrize(
    ("confidence", "answer"), [(SURE, Answer.FOUND), (UNSURE, Answer.CLOSEST), (HOPELESS, Answer.NOTHING)]
)
def test_the_confidence_decides_what_a_search_says(confidence: float, answer: Answer) -> None:
    assert ask("orders", *READING, fit=confidence).report.answer is answer


def test_closest_returns_at_most_five() -> None:
    tools = [Tool("shop", f"list_{number}", "Lists.") for number in range(8)]
    few = replace(RULES, limit=8)
    assert loaded(ask("orders", *tools, rules=few)) == [f"list_{number}" for number in range(CLOSEST_AT_MOST)]
    assert len(loaded(ask("orders", *tools, rules=few, fit=SURE))) == len(tools)
    assert CLOSEST_AT_MOST == 5


PINNED = replace(RULES, pinned=frozenset({READING[1].id}))


@pytest.mark.parametrize(
    ("query", "fits", "found"),
    [
        ("convert miles", [0.5, SURE, 0.6], [1]),
        ("convert miles", [SURE, 0.7, 0.6], [0, 1, 2]),
        ("list the carts and send a message", [0.5, SURE, 0.6], [1, 2, 0]),
        ("convert miles", [0.1, UNSURE, 0.15], [1, 2, 0]),
    ],
)
def test_nothing_is_loaded_beside_a_pinned_tool_that_clearly_does_what_is_asked(
    query: str, fits: list[float], found: list[int]
) -> None:
    report = ask(query, *READING[:3], fit=fits, rules=PINNED).report
    assert [hit.tool_id for hit in report.results] == [READING[at].id for at in found]
    left = {hit.outcome for hit in report.hits if not hit.outcome.is_result}
    assert left == ({Outcome.PINNED_FITS} if len(found) == 1 else set())


@given(st.lists(st.floats(0, 1), min_size=1, max_size=len(READING)).filter(lambda fits: max(fits) >= 0.35))
def test_of_what_is_found_after_the_first_few_a_tool_far_below_the_best_is_no_result(
    fits: list[float],
) -> None:
    fits = sorted(fits, reverse=True)
    found = loaded(ask("orders", *READING[: len(fits)], fit=fits))
    assert all(at < SURELY or fits[at] >= NEAR * fits[0] for at in range(len(found)))


def test_late_places_are_for_short_definitions() -> None:
    tools = [Tool("shop", f"list_{number}", "Lists." * (1 if number % 2 else 200)) for number in range(8)]
    found = loaded(ask("orders", *tools, fit=SURE, rules=replace(RULES, more=3)))
    assert found == [f"list_{number}" for number in (0, 1, 2, 3, 4, 5, 7)]


CANCEL = Tool("shop", "cancel_order", "Cancel an order.")
REFUND = Tool("shop", "refund_order", "Refund an order.")
DELETE = Tool("wiki", "delete_page", "Delete a page.")
CLEANUP = Tool("db", "cleanup", "This tool permanently deletes all rows. Drops nothing else.")


@pytest.mark.parametrize("fit", [UNSURE, SURE])
@pytest.mark.parametrize(
    ("query", "tool"),
    [
        ("the parcel for order 1042 has gone out", CANCEL),
        ("where is order 1042", REFUND),
        ("I threw away the wrong page, get it back", DELETE),
        ("undo the deletion of that page", DELETE),
        ("how many rows are there", CLEANUP),
    ],
)
def test_what_destroys_is_withheld_from_every_answer_unless_asked_for(
    query: str, tool: Tool, fit: float
) -> None:
    answer = ask(query, tool, READING[0], fit=fit)
    assert loaded(answer) == [READING[0].name]
    assert answer.report.hits[0].outcome is Outcome.WITHHELD
    assert f"does not clearly ask for it: {tool.id} ({why_destroys(tool)})" in answer.text


@given(st.floats(0, 1), st.floats(0, 1))
def test_what_comes_first_by_a_clear_margin_is_never_withheld_from_a_request(
    one: float, other: float
) -> None:
    answer = ask("make page 7 vanish", DELETE, READING[0], fit=[one, other])
    is_withheld = Outcome.WITHHELD in [hit.outcome for hit in answer.report.hits]
    is_first = one > 0 and other <= NEAR * one
    assert is_withheld is (not is_first and max(one, other) >= RULES.closest_threshold)


@pytest.mark.parametrize(
    ("query", "tool"),
    [
        ("cancel order 1042", CANCEL),
        ("get my money back for order 1042", REFUND),
        ("get rid of that page", DELETE),
        ("purge the rows", CLEANUP),
        ("reset the board", Tool("game", "reset_board", "Reset the board.")),
    ],
)
def test_a_destructive_tool_that_was_asked_for_is_among_the_closest(query: str, tool: Tool) -> None:
    assert tool.name in loaded(ask(query, tool, READING[0]))


@pytest.mark.parametrize(
    ("query", "tool"),
    [
        ("the parcel for order 1042 has gone out", CANCEL),
        ("I deleted the wrong page, get it back", DELETE),
        ("The order was refunded. Show it.", REFUND),
    ],
)
def test_what_is_merely_told_loads_nothing_that_destroys_however_well_it_fits(query: str, tool: Tool) -> None:
    answer = ask(query, tool, READING[0], fit=SURE)
    assert (answer.report.answer, loaded(answer)) == (Answer.FOUND, [READING[0].name])
    assert "does not clearly ask for it" in answer.text
    alone = ask(query, tool, fit=SURE)
    assert (alone.report.answer, loaded(alone)) == (Answer.NOTHING, [])
    assert tool.id in alone.text


def test_the_model_reads_one_sentence_of_caution_where_the_search_is_unsure() -> None:
    assert ask("orders", *READING).text.startswith(CLOSEST_ONLY)
    assert CLOSEST_ONLY not in ask("orders", *READING, fit=SURE).text


def test_the_caution_is_read_also_where_there_is_no_room_for_all() -> None:
    answer = ask("the parcel for order 1042 has gone out", *READING[:2], CANCEL)
    placed = answer.placed({READING[0].id}, ())
    assert loaded(placed) == [READING[0].name]
    assert placed.text.startswith(CLOSEST_ONLY)
    assert CANCEL.id in placed.text


def test_nothing_loads_nothing_and_names_the_nearest() -> None:
    answer = ask("orders", *READING, fit=HOPELESS)
    assert (loaded(answer), answer.report.results) == ([], ())
    assert answer.text.startswith("No tool fits this request")
    assert [tool.id in answer.text for tool in READING] == [True, True, True, False]


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_a_search_is_sure_from_its_threshold_on_whatever_closest_needs(
    confidence: float, threshold: float, closest: float
) -> None:
    rules = SearchRules(5, threshold, closest)
    report = ask("orders", READING[0], fit=confidence, rules=rules).report
    assert (report.answer is Answer.FOUND) == (confidence >= threshold)
