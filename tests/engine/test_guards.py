from hypothesis import given
from hypothesis import strategies as st

from inspector.domain.settings import GuardSettings, RedundancySettings
from inspector.engine.guards.iteration import IterationGuard, arguments_hash
from inspector.engine.guards.redundancy import RedundancyDetector

WINDOW = 100.0


def guard() -> IterationGuard:
    return IterationGuard(GuardSettings(max_repeats=2, window_seconds=WINDOW))


def detector() -> RedundancyDetector:
    return RedundancyDetector(RedundancySettings(overlap=0.8, window_seconds=WINDOW))


def test_the_third_equal_call_within_the_window_is_a_loop() -> None:
    watch = guard()
    assert watch.after_call("a:b", {"x": 1}, 0) is None
    assert watch.after_call("a:b", {"x": 1}, 1) is None
    loop = watch.after_call("a:b", {"x": 1}, 2)
    assert loop is not None
    assert (loop.tool, loop.count) == ("a:b", 3)
    assert "a:b was called 3 times" in loop.guidance


def test_calls_with_other_arguments_are_no_loop() -> None:
    watch = guard()
    assert all(watch.after_call("a:b", {"x": n}, n) is None for n in range(10))


def test_the_order_of_keys_does_not_hide_a_loop() -> None:
    assert arguments_hash({"a": 1, "b": {"c": 2, "d": 3}}) == arguments_hash({"b": {"d": 3, "c": 2}, "a": 1})


def test_calls_outside_the_window_are_forgotten() -> None:
    watch = guard()
    times = (0.0, 1.0, WINDOW + 1.5)
    assert [watch.after_call("a:b", {}, at) for at in times] == [None, None, None]


def test_finding_a_tool_again_starts_its_count_anew() -> None:
    watch = guard()
    watch.after_call("a:b", {}, 0)
    watch.after_call("a:b", {}, 0)
    watch.clear("a:b")
    assert watch.after_call("a:b", {}, 0) is None


def test_guidance_does_not_claim_that_a_pinned_tool_was_unloaded() -> None:
    watch = guard()
    loops = [watch.after_call("a:b", {}, 0, evictable=False) for _ in range(3)]
    assert loops[-1] is not None
    assert "unloaded" not in loops[-1].guidance


@given(st.lists(st.tuples(st.sampled_from(["a", "b"]), st.integers(0, 2), st.floats(0, 30)), max_size=60))
def test_the_guard_fires_exactly_when_more_than_two_equal_calls_fall_into_the_window(
    calls: list[tuple[str, int, float]],
) -> None:
    watch, now, past = guard(), 0.0, list[tuple[str, int, float]]()
    for tool, argument, delay in calls:
        now += delay
        past.append((tool, argument, now))
        equal = sum(1 for t, a, at in past if (t, a) == (tool, argument) and now - at <= WINDOW)
        fired = watch.after_call(tool, {"x": argument}, now)
        assert (fired.count if fired else None) == (equal if equal > 2 else None)


def test_a_search_that_finds_the_same_again_is_redundant() -> None:
    watch = detector()
    assert watch.after_search("orders", ["a", "b", "c"], 0) is None
    redundant = watch.after_search("late orders", ["a", "b"], 1)
    assert redundant is not None
    assert (redundant.earlier, redundant.overlap) == ("orders", 1.0)


def test_a_search_that_finds_something_new_is_not_redundant() -> None:
    watch = detector()
    watch.after_search("orders", ["a", "b"], 0)
    assert watch.after_search("mail", ["c", "d"], 1) is None
    assert watch.after_search("both", ["a", "c", "e"], 2) is None


def test_an_old_search_makes_nothing_redundant() -> None:
    watch = detector()
    watch.after_search("orders", ["a"], 0)
    assert watch.after_search("orders", ["a"], WINDOW + 1) is None


def test_finding_nothing_twice_is_not_redundant() -> None:
    watch = detector()
    watch.after_search("x", [], 0)
    assert watch.after_search("x", [], 1) is None


def test_finding_a_tool_again_after_it_was_evicted_is_not_redundant() -> None:
    watch = detector()
    watch.after_search("forecast", ["a"], 0)
    watch.forget(["a"])
    assert watch.after_search("forecast", ["a"], 1) is None
