import dataclasses

import pytest
from hypothesis import given, strategies as st

from inspector.domain.settings import RedundancySettings, Settings
from inspector.engine.live import LiveSettings
from inspector.engine.loop.guards.redundancy import KEPT_SEARCHES, RedundancyDetector

WINDOW = 100.0
SETTINGS = RedundancySettings(overlap=0.8, window_seconds=WINDOW)
FOUND = st.lists(st.sampled_from("abcde"), max_size=5)


def detector(settings: RedundancySettings = SETTINGS) -> RedundancyDetector:
    return RedundancyDetector(LiveSettings(Settings(redundancy=settings)))


def test_a_search_that_finds_the_same_again_is_redundant() -> None:
    watch = detector()
    assert watch.after_search("orders", ["a", "b", "c"], 0) is None
    redundant = watch.after_search("late orders", ["a", "b"], 1)
    assert redundant is not None
    assert (redundant.query, redundant.earlier, redundant.overlap) == ("late orders", "orders", 1.0)
    assert "an earlier search (orders) found these tools" in redundant.note


def test_a_search_that_finds_something_new_is_not_redundant() -> None:
    watch = detector()
    watch.after_search("orders", ["a", "b"], 0)
    assert watch.after_search("mail", ["c", "d"], 1) is None
    assert watch.after_search("both", ["a", "c", "e"], 2) is None


@pytest.mark.parametrize(("overlap", "is_redundant"), [(0.5, True), (0.51, False)])
def test_the_overlap_is_the_share_of_what_was_found_now(overlap: float, is_redundant: bool) -> None:
    watch = detector(dataclasses.replace(SETTINGS, overlap=overlap))
    watch.after_search("orders", ["a", "b", "c"], 0)
    assert (watch.after_search("more", ["c", "d"], 1) is not None) is is_redundant


def test_an_old_search_makes_nothing_redundant() -> None:
    watch = detector()
    watch.after_search("orders", ["a"], 0)
    assert watch.after_search("orders", ["a"], WINDOW + 1) is None


@pytest.mark.parametrize(
    "again", ["translate a poem into Klingon", "Klingon translation of poems", "translate into Klingon"]
)
def test_asking_again_for_what_was_not_found_is_told(again: str) -> None:
    watch = detector()
    assert watch.after_search("translate a poem into Klingon", [], 0) is None
    redundant = watch.after_search(again, [], 1)
    assert redundant is not None
    assert "asked before (translate a poem into Klingon), nothing found" in redundant.note


def test_every_rewording_is_told_as_the_first_wording() -> None:
    watch = detector()
    asked = ("poem Klingon translation", "Klingon translation service", "service for Klingon")
    told = [watch.after_search(label, [], 0) for label in asked]
    assert [one.earlier for one in told if one is not None] == [asked[0], asked[0]]


def test_finding_nothing_for_two_different_requests_is_not_redundant() -> None:
    watch = detector()
    watch.after_search("translate a poem into Klingon", [], 0)
    assert watch.after_search("brew some coffee", [], 1) is None


def test_the_third_search_in_a_row_that_finds_nothing_is_told_whatever_its_words() -> None:
    watch = detector()
    told = [watch.after_search(label, [], 0) for label in ("poems", "coffee", "tides")]
    assert told[:2] == [None, None]
    assert told[2] is not None
    assert "the last 3 searches found nothing" in told[2].note


@pytest.mark.parametrize("start", ["a search that finds something", "a message of the user"])
def test_what_is_hopeless_in_a_row_starts_anew(start: str) -> None:
    watch = detector()
    for label in ("poems", "coffee"):
        watch.after_search(label, [], 0)
    watch.new_message() if "user" in start else watch.after_search("orders", ["a"], 0)
    assert watch.after_search("tides", [], 0) is None


def test_as_published_finding_nothing_is_never_redundant() -> None:
    watch = detector(dataclasses.replace(SETTINGS, hopeless=False))
    assert [watch.after_search("x", [], at) for at in range(4)] == [None] * 4


def test_finding_a_tool_again_after_it_was_evicted_is_not_redundant() -> None:
    watch = detector()
    watch.after_search("forecast", ["a"], 0)
    watch.forget(["a"])
    assert watch.after_search("forecast", ["a"], 1) is None


def test_after_a_new_start_nothing_is_redundant() -> None:
    watch = detector()
    watch.after_search("orders", ["a"], 0)
    watch.clear()
    assert watch.after_search("orders", ["a"], 1) is None


def test_switched_off_it_says_nothing_but_remembers() -> None:
    live = LiveSettings(Settings(redundancy=dataclasses.replace(SETTINGS, enabled=False)))
    watch = RedundancyDetector(live)
    assert [watch.after_search("orders", ["a"], at) for at in (0, 1)] == [None, None]
    live.settings = Settings(redundancy=SETTINGS)
    assert watch.after_search("orders", ["a"], 2) is not None


def test_only_the_latest_searches_are_remembered() -> None:
    watch = detector()
    watch.after_search("orders", ["a"], 0)
    for _ in range(KEPT_SEARCHES - 1):
        watch.after_search("mail", ["b"], 0)
    assert watch.after_search("orders", ["a"], 0) is not None
    for _ in range(KEPT_SEARCHES):
        watch.after_search("mail", ["b"], 0)
    assert watch.after_search("orders", ["a"], 0) is None


@given(st.lists(st.tuples(FOUND, st.floats(0, 60)), max_size=30))
def test_a_search_is_redundant_exactly_when_one_of_the_window_had_found_enough_of_it(
    searches: list[tuple[list[str], float]],
) -> None:
    watch, now, past = (
        detector(dataclasses.replace(SETTINGS, hopeless=False)),
        0.0,
        list[tuple[frozenset[str], float]](),
    )
    for found, delay in searches:
        now += delay
        results = frozenset(found)
        shares = [len(results & seen) / len(results) for seen, at in past if results and now - at <= WINDOW]
        expected = max(shares, default=0.0)
        redundant = watch.after_search("q", found, now)
        assert (redundant.overlap if redundant else None) == (expected if expected >= 0.8 else None)
        past.append((results, now))
