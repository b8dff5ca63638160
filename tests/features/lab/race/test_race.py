"""A race of static binding against discovery: alignment, sums and notes."""

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
    CatalogBuilt,
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
from inspector.core.events.discovery import CatalogEntry
from inspector.core.events.session import TurnOutcome
from inspector.core.message import ToolCall
from inspector.core.prompt_cache import CacheTerms, Charge
from inspector.core.ranking import SearchReport, SearchRequest
from inspector.features.lab.comparison import ScenarioResult, totals
from inspector.features.lab.ground import question
from inspector.features.lab.race.facts import big_share
from inspector.features.lab.race.race import Race, RaceFrame, Verdict

CASE = question("Which orders are late?")


def asked(tools: int, *, searches: int = 0, history: int = 0, charge: Charge | None = None) -> ModelRequested:
    parts = TokenParts(tools=tools, searches=searches, history=history)
    return ModelRequested(1, (), parts, 1, charge=charge or Charge(), terms=CacheTerms(read=0.1, write=1.25))


def searched(query: str) -> SearchPerformed:
    return SearchPerformed(SearchReport(SearchRequest(query=query), "bm25", ()), "")


def records(*events: Event) -> list[Record]:
    return [Record("s", number, 0.0, event) for number, event in enumerate(events, 1)]


def run(*counts: int) -> list[Record]:
    return records(UserSaid("a"), *map(asked, counts), TurnEnded("answered"))


def sums(found: Sequence[RaceFrame]) -> list[tuple[int, int]]:
    return [(frame.racers[0].discovery_tokens, frame.racers[1].discovery_tokens) for frame in found]


def raced(
    static: Sequence[Record],
    other: Sequence[Record],
    *,
    prices: Prices | None = None,
    notes: tuple[str, ...] = (),
) -> Race:
    race = Race(CASE, ("static", "toolsight"), prices=prices, notes=notes)
    for side, heard in enumerate((static, other)):
        assert race.verdict is None
        assert not race.is_over
        for record in heard:
            race.listener(side)(record)
        race.end(side, ScenarioResult(CASE, race.profiles[side], tuple(heard), (), totals(heard)))
    return race


def frames(
    static: Sequence[Record], other: Sequence[Record], prices: Prices | None = None
) -> tuple[RaceFrame, ...]:
    return raced(static, other, prices=prices).frames()


def ended(static: Sequence[Record], other: Sequence[Record]) -> Verdict:
    verdict = raced(static, other).verdict
    assert verdict is not None
    return verdict


def test_the_nth_call_of_both_happens_at_the_same_moment() -> None:
    found = frames(run(10, 10), run(1, 2, 3))
    assert sums(found) == [(0, 0), (10, 1), (20, 3), (20, 6)]


_COUNTS = st.lists(st.integers(0, 10**6), max_size=6)


@given(_COUNTS, _COUNTS)
def test_the_last_frame_has_every_token_and_who_needs_fewer_calls_stands_still(
    static: list[int], other: list[int]
) -> None:
    found = frames(run(*static), run(*other))
    assert len(found) == 1 + max(len(static), len(other))
    assert sums(found)[-1] == (sum(static), sum(other))
    assert all(racer.is_over for racer in found[-1].racers)
    for before, after in pairwise(found):
        for racer, later in zip(before.racers, after.racers, strict=True):
            assert later.discovery_tokens >= racer.discovery_tokens
            assert later.model_calls - racer.model_calls == (0 if racer.is_over else 1)


def test_a_cache_and_prices_make_billed_tokens_and_dollars_and_what_is_not_known_is_not_nothing() -> None:
    charge = Charge(read=1000, written=100, plain=10)
    prices = Prices("model", input=0.5, output=0.0)
    found = frames(records(asked(1110, charge=charge), asked(1110, charge=charge)), run(), prices=prices)
    racer = found[-1].racers[0]
    assert racer.billed == pytest.approx(2 * 235)
    assert racer.dollars == pytest.approx(2 * 117.5)
    assert racer.has_cache
    racer = frames(run(10), run())[-1].racers[0]
    assert (racer.billed, racer.dollars, racer.has_cache) == (None, None, False)


def test_a_lane_tells_what_came_of_each_call() -> None:
    heard = records(
        SessionStarted("c", (), "", "demo", "Demo", 1000, profile="prd"),
        UserSaid("a"),
        asked(1),
        ModelResponded(1, "I look.", (ToolCall("c", "search_tools", {}),)),
        searched("late orders"),
        searched("mail"),
        asked(2),
        CallStarted("1", "shop:list_orders", {}),
        CallFinished("1", "shop:list_orders", True, ""),
        CallRejected("1", "shop__x", "deferred", ""),
        asked(3),
        ModelResponded(1, "Seven\norders"),
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
    assert (found[0].model, found[-1].searches) == ("Demo", 2)


def test_the_verdict_has_both_shares_and_says_what_misleads() -> None:
    other = records(UserSaid("a"), asked(10, searches=10, history=80), asked(20), TurnEnded("answered"))
    static = records(UserSaid("a"), asked(160, history=40), TurnEnded("answered"))
    verdict = ended(static, other)
    assert verdict.saved == pytest.approx(0.75)
    assert verdict.input_saved == pytest.approx(0.4)
    assert verdict.billed_saved is None
    assert verdict.notes == ("toolsight: 1 more model call than static, each of which takes time.",)


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
    assert (ended(solving(static), solving(other)).shortfall == "") is (static == other > 0)


def with_tools(*tools: str) -> list[Record]:
    entries = tuple(CatalogEntry(tool, 5, False) for tool in tools)
    made = CatalogBuilt("", entries, "", 0, 5 * len(entries))
    done = CallStarted("1", "a:x", {}), CallFinished("1", "a:x", True, "")
    return records(made, UserSaid("a"), asked(10), *done, TurnEnded("answered"))


_tools = st.frozensets(st.sampled_from(("a:x", "a:y", "b:x")), max_size=3)


@given(_tools, _tools)
def test_a_race_with_unequal_catalogs_has_no_number_and_says_so_largest(
    static: frozenset[str], other: frozenset[str]
) -> None:
    verdict = ended(with_tools(*sorted(static)), with_tools(*sorted(other)))
    assert verdict.shortfall.startswith("Not comparable: static had") is (static != other)
    assert (big_share(verdict) == "NOT COMPARABLE") is (static != other)
    assert not any(note.startswith("Not comparable") for note in verdict.notes)


@pytest.mark.parametrize(("static", "other"), [("answered", "failed"), ("capped", "answered")])
def test_a_side_that_did_not_answer_leaves_no_saving(static: TurnOutcome, other: TurnOutcome) -> None:
    assert "did not answer" in ended(solving(1, static), solving(1, other)).shortfall


def test_what_is_known_of_the_question_comes_first_then_what_each_side_could_not_do() -> None:
    no = ApprovalDecided("shop:refund_order", Decision.NO)
    broken = records(UserSaid("a"), asked(1), Failed("model", "no key"), TurnEnded("failed"))
    heard = records(UserSaid("a"), ServerFailed("mail", "gone"), asked(1), no, no, TurnEnded("answered"))
    verdict = raced(broken, heard, notes=("Asked alone.",)).verdict
    assert verdict is not None
    assert verdict.notes == (
        "Asked alone.",
        "static: a message got no answer (✕ failed: no key).",
        "toolsight: mail did not start.",
        "toolsight: 2 calls skipped, because a race might change something twice: shop:refund_order. "
        "It only calls tools that a trusted server marks as read-only or that "
        "you have allowed in this session.",
    )
