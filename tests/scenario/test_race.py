"""A race of static binding against discovery: alignment, sums, notes and a fair script."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from inspector.core.budget import Prices, TokenParts
from inspector.core.events import (
    ApprovalDecided,
    CallFinished,
    CallRejected,
    CallStarted,
    Decision,
    Event,
    Failed,
    ModelRequested,
    ModelResponded,
    Record,
    SearchPerformed,
    ServerFailed,
    SessionStarted,
    TurnEnded,
    UserSaid,
)
from inspector.core.events.session import TurnOutcome
from inspector.core.message import ToolCall
from inspector.core.prompt_cache import CacheTerms, Charge
from inspector.core.ranking import SearchReport, SearchRequest
from inspector.scenario.race import SECONDS_A_CALL, Race, RaceFrame
from inspector.scenario.run import ScenarioResult
from inspector.scenario.scenario import Scenario, ScriptedCall, Step
from inspector.scenario.static_script import left_out, static_scenario
from inspector.scenario.totals import totals

NO_CALLS = "Neither side made a successful tool call, so the number only covers definitions."
SEARCH = ScriptedCall("search_tools", {"query": "late orders"})
ORDERS = ScriptedCall("shop__list_orders", {})


def asked(tools: int, *, searches: int = 0, history: int = 0, charge: Charge | None = None) -> ModelRequested:
    parts = TokenParts(tools=tools, searches=searches, history=history)
    return ModelRequested(1, (), parts, 1, charge=charge or Charge(), terms=CacheTerms(read=0.1, write=1.25))


def searched(query: str) -> SearchPerformed:
    return SearchPerformed(SearchReport(SearchRequest(query=query), "bm25", ()), "")


def answered(text: str) -> ModelResponded:
    return ModelResponded(1, text)


def records(*events: Event) -> list[Record]:
    return [Record("s", number, 0.0, event) for number, event in enumerate(events, 1)]


def run(*counts: int) -> list[Record]:
    return records(UserSaid("a"), *map(asked, counts), TurnEnded("answered"))


def sums(found: Sequence[RaceFrame]) -> list[tuple[int, int]]:
    return [(frame.racers[0].tokens, frame.racers[1].tokens) for frame in found]


def raced(
    scenario: Scenario,
    static: Sequence[Record],
    other: Sequence[Record],
    *,
    scripted: bool = True,
    prices: Prices | None = None,
) -> Race:
    race = Race(scenario, ("static", "toolsight"), scripted=scripted, prices=prices)
    for side, heard in enumerate((static, other)):
        for record in heard:
            race.listener(side)(record)
        race.end(side, ScenarioResult(scenario, race.profiles[side], tuple(heard), (), totals(heard)))
    return race


CASE = Scenario("Case", ("a",), ((Step(calls=(SEARCH,)), Step(calls=(ORDERS,)), Step("Done.")),))


def frames(
    static: Sequence[Record],
    other: Sequence[Record],
    pace: float = SECONDS_A_CALL,
    prices: Prices | None = None,
) -> tuple[RaceFrame, ...]:
    return raced(CASE, static, other, prices=prices).frames(pace)


def test_the_nth_call_of_both_happens_at_the_same_moment() -> None:
    found = frames(run(10, 10), run(1, 2, 3), 0.5)
    assert [frame.seconds for frame in found] == [0.0, 0.5, 1.0, 1.5]
    assert sums(found) == [(0, 0), (10, 1), (20, 3), (20, 6)]


def test_who_needs_fewer_calls_is_over_and_stands_still() -> None:
    found = frames(run(10), run(1, 2))
    assert [frame.racers[0].is_over for frame in found] == [False, True, True]
    assert [frame.racers[1].is_over for frame in found] == [False, False, True]
    assert found[1].racers[0] == found[2].racers[0]


_COUNTS = st.lists(st.integers(0, 10**6), max_size=6)


@given(_COUNTS, _COUNTS)
def test_the_last_frame_has_every_token_and_no_frame_has_fewer_than_the_one_before(
    static: list[int], other: list[int]
) -> None:
    found = frames(run(*static), run(*other))
    assert len(found) == 1 + max(len(static), len(other))
    assert sums(found)[-1] == (sum(static), sum(other))
    assert all(racer.is_over for racer in found[-1].racers)
    for before, after in pairwise(found):
        for racer, later in zip(before.racers, after.racers, strict=True):
            assert later.tokens >= racer.tokens
            assert later.calls - racer.calls == (0 if racer.is_over else 1)


@given(_COUNTS, _COUNTS, st.data())
def test_a_frame_that_is_there_does_not_change_while_the_race_goes_on(
    static: list[int], other: list[int], data: st.DataObject
) -> None:
    whole = frames(run(*static), run(*other))
    race = Race(CASE, ("static", "toolsight"))
    left = [run(*static), run(*other)]
    while any(left):
        side = data.draw(st.sampled_from([side for side in (0, 1) if left[side]]))
        race.listener(side)(left[side].pop(0))
        seen = race.frames()
        plain = [[(racer.calls, racer.tokens) for racer in frame.racers] for frame in seen]
        assert plain == [
            [(racer.calls, racer.tokens) for racer in frame.racers] for frame in whole[: len(seen)]
        ]


def test_searches_in_the_conversation_count_as_tokens_because_of_tools() -> None:
    (_, frame) = frames(run(), records(UserSaid("a"), asked(100, searches=30, history=7)))
    racer = frame.racers[1]
    assert (racer.tool_tokens, racer.search_tokens, racer.tokens, racer.input_tokens) == (100, 30, 130, 137)


def test_a_cache_and_prices_make_billed_tokens_and_dollars() -> None:
    charge = Charge(read=1000, written=100, plain=10)
    prices = Prices("model", input=0.5, output=0.0)
    found = frames(records(asked(1110, charge=charge), asked(1110, charge=charge)), run(), prices=prices)
    racer = found[-1].racers[0]
    assert racer.billed == pytest.approx(2 * 235)
    assert racer.dollars == pytest.approx(2 * 117.5)
    assert racer.has_cache


def test_what_is_not_known_is_not_nothing() -> None:
    racer = frames(run(10), run())[-1].racers[0]
    assert (racer.billed, racer.dollars, racer.has_cache) == (None, None, False)


def test_a_lane_tells_what_came_of_each_call() -> None:
    call = ModelResponded(1, "I look.", (ToolCall("c", "search_tools", {}),))
    heard = records(
        SessionStarted("c", (), "", "demo", "Demo", 1000, profile="prd"),
        UserSaid("a"),
        asked(1),
        call,
        searched("late orders"),
        searched("mail"),
        asked(2),
        CallFinished("1", "shop:list_orders", True, ""),
        CallRejected("1", "shop__x", "deferred", ""),
        asked(3),
        answered("Seven\norders"),
        TurnEnded("answered"),
        UserSaid("b"),
        asked(4),
    )
    found = [frame.racers[1] for frame in frames([], heard)]
    assert [racer.last for racer in found] == [
        "",
        "nothing: “late orders”, nothing: “mail”",
        "calls shop:list_orders, ✕ rejected, deferred: shop__x",
        "answers: Seven orders",
        "",
    ]
    assert [racer.message for racer in found] == [1, 1, 1, 1, 2]
    assert (found[0].model, found[-1].searches) == ("Demo", 2)


def test_the_script_of_static_binding_has_no_search_and_every_other_call() -> None:
    both = Step("Both.", (SEARCH, ORDERS), wait=3.0)
    scenario = Scenario("Case", ("a", "b"), ((Step(calls=(SEARCH,)), both, Step("Done.")), (Step("Hi."),)))
    static = static_scenario(scenario)
    assert static.turns == ((Step("Both.", (ORDERS,), wait=3.0), Step("Done.")), (Step("Hi."),))
    assert static.profile == "static"
    expected = "static: 2 scripted searches left out, 1 fewer model call."
    assert left_out(scenario) == expected
    assert left_out(static) == ""


def test_a_turn_of_nothing_but_searches_still_has_an_answer() -> None:
    static = static_scenario(Scenario("Case", ("a",), ((Step(calls=(SEARCH,)),),)))
    assert [(len(step.calls), bool(step.say)) for step in static.turns[0]] == [(0, True)]


def test_settings_of_a_scenario_do_not_make_another_profile_of_static() -> None:
    settings = {"binding.policy": "bounded", "chat.max_steps": 3}
    assert static_scenario(Scenario("Case", (), (), settings=settings)).settings == {"chat.max_steps": 3}


def test_the_verdict_has_both_shares_and_says_what_misleads() -> None:
    other = records(UserSaid("a"), asked(10, searches=10, history=80), asked(20), TurnEnded("answered"))
    static = records(UserSaid("a"), asked(160, history=40), TurnEnded("answered"))
    verdict = raced(CASE, static, other).verdict
    assert verdict is not None
    assert verdict.saved == pytest.approx(0.75)
    assert verdict.input_saved == pytest.approx(0.4)
    assert verdict.billed_saved is None
    assert verdict.notes == (
        "static: 1 scripted search left out, 1 fewer model call.",
        "toolsight: 1 more model call than static, each of which takes time.",
        NO_CALLS,
    )


def test_a_model_of_its_own_mind_has_no_script_to_excuse() -> None:
    verdict = raced(CASE, run(5), run(5), scripted=False).verdict
    assert verdict is not None
    assert verdict.notes == (NO_CALLS,)


def test_more_tokens_are_a_negative_saving_and_no_answer_is_told() -> None:
    capped = records(UserSaid("a"), asked(30), TurnEnded("capped"), UserSaid("b"), TurnEnded("answered"))
    verdict = raced(CASE, run(20), capped, scripted=False).verdict
    assert verdict is not None
    assert verdict.saved == pytest.approx(-0.5)
    assert verdict.notes == (NO_CALLS, "toolsight: a message got no answer (capped).")


def test_there_is_no_verdict_before_both_are_over() -> None:
    race = Race(CASE, ("static", "toolsight"))
    race.end(0, ScenarioResult(CASE, "static", (), (), totals(())))
    assert race.verdict is None
    assert not race.is_over
    race.end(1, ScenarioResult(CASE, "toolsight", (), (), totals(())))
    assert race.is_over
    verdict = race.verdict
    assert verdict is not None
    assert verdict.saved is None


def solving(steps: int, outcome: TurnOutcome = "answered") -> list[Record]:
    """A run with so many calls that succeed."""
    done = [
        event
        for number in range(steps)
        for event in (
            asked(10),
            CallStarted(str(number), "shop:list_orders", {"page": number}),
            CallFinished(str(number), "shop:list_orders", True, ""),
        )
    ]
    return records(UserSaid("a"), *done, asked(10), TurnEnded(outcome))


@given(st.integers(0, 4), st.integers(0, 4))
def test_a_saving_is_told_only_where_both_sides_solved_the_same(static: int, other: int) -> None:
    verdict = raced(CASE, solving(static), solving(other), scripted=False).verdict
    assert verdict is not None
    assert (verdict.shortfall == "") is (static == other)


@pytest.mark.parametrize(("static", "other"), [("answered", "failed"), ("capped", "answered")])
def test_a_side_that_did_not_answer_leaves_no_saving(static: TurnOutcome, other: TurnOutcome) -> None:
    verdict = raced(CASE, solving(1, static), solving(1, other), scripted=False).verdict
    assert verdict is not None
    assert "did not answer" in verdict.shortfall


def test_calls_that_were_not_allowed_and_servers_that_did_not_start_are_told_of_their_side() -> None:
    no = ApprovalDecided("shop:refund_order", Decision.NO)
    heard = records(UserSaid("a"), ServerFailed("mail", "gone"), asked(1), no, no, TurnEnded("answered"))
    verdict = raced(CASE, run(1), heard, scripted=False).verdict
    assert verdict is not None
    assert verdict.notes[1:] == (
        "toolsight: mail did not start.",
        "toolsight: 2 calls skipped, because a race might change something twice: shop:refund_order. "
        "It only calls tools that a trusted server marks as read-only or that "
        "you have allowed in this session.",
    )


def test_what_the_page_knows_of_the_question_comes_first() -> None:
    race = Race(CASE, ("static", "toolsight"), scripted=False, notes=("Asked alone.",))
    for side in (0, 1):
        race.end(side, ScenarioResult(CASE, race.profiles[side], (), (), totals(())))
    assert race.verdict is not None
    assert race.verdict.notes[0] == "Asked alone."


def test_a_model_that_failed_is_told_with_its_reason() -> None:
    broken = records(UserSaid("a"), asked(1), Failed("model", "no key"), TurnEnded("failed"))
    verdict = raced(CASE, run(1), broken, scripted=False).verdict
    assert verdict is not None
    assert verdict.notes[-1] == "toolsight: a message got no answer (✕ failed: no key)."
