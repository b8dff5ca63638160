import dataclasses

from hypothesis import given, strategies as st

from inspector.core.settings import RedundancySettings, Settings
from inspector.core.stream import LiveSettings
from inspector.loop.redundancy import RedundancyDetector

WINDOW = 100.0
SETTINGS = RedundancySettings(overlap=0.8, window_seconds=WINDOW)
FOUND = st.lists(st.sampled_from("abcde"), max_size=5)


def detector(settings: RedundancySettings = SETTINGS) -> RedundancyDetector:
    return RedundancyDetector(LiveSettings(Settings(redundancy=settings)))


def test_a_note_says_how_many_of_the_tools_were_known() -> None:
    watch = detector()
    watch.after_search("orders", ["a", "b", "c", "d"], 0)
    redundant = watch.after_search("more", ["a", "b", "c", "d", "e"], 1)
    assert redundant is not None
    assert "(orders) found 4 of these 5 tools;" in redundant.note
    assert redundant.summary() == "more  80 % already found by orders"


def test_from_the_third_in_a_row_on_searches_that_find_no_tool_are_counted() -> None:
    watch = detector()
    told = [watch.after_search(label, [], 0) for label in ("poems", "pizza", "tides", "tides")]
    assert [one.in_a_row if one else 0 for one in told] == [0, 0, 3, 4]
    assert told[2] is not None
    assert "3 searches in a row found no tool to call. If no tool here does it, say so" in told[2].note


def test_as_published_finding_nothing_is_never_told() -> None:
    watch = detector(dataclasses.replace(SETTINGS, hopeless=False))
    assert [watch.after_search("x", [], at) for at in range(4)] == [None] * 4


def test_finding_a_tool_again_after_it_was_evicted_is_not_redundant() -> None:
    watch = detector()
    watch.after_search("forecast", ["a"], 0)
    watch.forget(["a"])
    assert watch.after_search("forecast", ["a"], 1) is None


def test_switched_off_it_says_nothing_but_remembers() -> None:
    live = LiveSettings(Settings(redundancy=dataclasses.replace(SETTINGS, enabled=False)))
    watch = RedundancyDetector(live)
    assert [watch.after_search("orders", ["a"], at) for at in (0, 1)] == [None, None]
    live.settings = Settings(redundancy=SETTINGS)
    assert watch.after_search("orders", ["a"], 2) is not None


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
