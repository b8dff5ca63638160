"""The iteration guard, and the arguments that it takes for the same."""

import json
from typing import Any

import pytest
from hypothesis import example, given, strategies as st
from msgspec.structs import replace

from inspector.core.settings import GuardSettings, Settings
from inspector.core.stream import LiveSettings
from inspector.loop.iteration_guard import IterationGuard, Outcome, Verdict, normalised
from inspector.schema.json_value import canonical

WINDOW = 100.0
SETTINGS = GuardSettings(max_repeats=2, window_seconds=WINDOW, window_calls=6, window_repeats=3)
CALLS = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 2), st.floats(0, 60)), max_size=60)


def guard(**changes: Any) -> IterationGuard:
    settings = replace(SETTINGS, **changes)
    return IterationGuard(LiveSettings(Settings(guard=settings)))


def counts(verdict: Verdict) -> tuple[int, int]:
    return verdict.counted.in_time, verdict.counted.in_calls


def guidance(watch: IterationGuard, tool: str = "a:b", *, evictable: bool = True) -> str:
    """What the model reads once the guard fires."""
    for _ in range(3):
        loop = watch.after_call(tool, {}, 0, Outcome(evictable=evictable)).loop
    assert loop is not None
    return loop.guidance


class TestProgress:
    """What is no loop, however often it is called."""

    def test_a_changed_result_starts_the_count_anew(self) -> None:
        watch = guard()
        seen = [
            watch.after_call("a:b", {}, 0, Outcome(result=result)) for result in ("1", "1", "2", "2", "2")
        ]
        assert [counts(verdict)[0] for verdict in seen] == [1, 2, 1, 2, 3]
        assert [verdict.loop is not None for verdict in seen] == [False] * 4 + [True]

    def test_a_message_of_the_user_starts_every_count_anew(self) -> None:
        watch = guard()
        for _question in range(9):
            assert watch.after_call("clock:now", {}, 0, Outcome(result="noon")).loop is None
            watch.new_message()

    def test_as_published_equal_calls_are_a_loop_whatever_comes_of_them(self) -> None:
        watch = guard(as_published=True)
        seen = [watch.after_call("a:b", {}, 0, Outcome(result=str(n), changes=True)) for n in range(2)]
        watch.new_message()
        last = watch.after_call("a:b", {}, 0, Outcome(result="3"))
        assert [verdict.loop for verdict in seen] == [None, None]
        assert last.loop is not None
        assert "identical" not in last.loop.guidance

    @given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xy"), st.booleans()), max_size=40))
    def test_the_last_results_of_a_loop_are_identical(self, made: list[tuple[str, str, bool]]) -> None:
        watch, results = guard(), dict[str, list[str]](a=[], b=[])
        for tool, result, changes in made:
            loop = watch.after_call(tool, {}, 0, Outcome(result=result, changes=changes)).loop
            results[tool].append(result)
            if loop is not None:
                assert len(set(results[tool][-loop.count :])) == 1
                assert f"the last {loop.count} results were identical" in loop.guidance


@pytest.mark.parametrize("changes", [{"exempt": ("memory:*",)}, {"enabled": False}])
def test_exempt_tools_and_all_where_the_guard_is_off_are_counted_but_never_a_loop(
    changes: dict[str, Any],
) -> None:
    watch = guard(**changes)
    verdicts = [watch.after_call("memory:recall", {}, 0) for _ in range(9)]
    assert all(verdict.loop is None for verdict in verdicts)
    assert {verdict.counted.exempt for verdict in verdicts} == {"exempt" in changes}
    assert counts(verdicts[-1]) == (9, SETTINGS.window_calls)


def test_finding_a_tool_again_starts_its_count_anew_in_both_windows() -> None:
    watch = guard()
    for _ in range(3):
        watch.after_call("a:b", {}, 0)
        watch.after_call("c:d", {}, 0)
    watch.clear("a:b")
    assert counts(watch.after_call("a:b", {}, 0)) == (1, 1)
    assert counts(watch.after_call("c:d", {}, 0)) == (4, 3)


def test_smaller_windows_apply_at_once() -> None:
    live = LiveSettings(Settings(guard=SETTINGS))
    watch = IterationGuard(live)
    for at in range(4):
        watch.after_call("a:b", {}, at)
    live.settings = Settings(guard=replace(SETTINGS, window_seconds=1.5, window_calls=3))
    assert counts(watch.after_call("a:b", {}, 4)) == (2, 3)


def test_no_arguments_are_too_strange_to_count() -> None:
    watch = guard()
    values: list[Any] = ["\ud800\x00", float("nan"), [None, {}], ""]
    for strange in values:
        assert [counts(watch.after_call("a:b", {"x": strange}, 0))[0] for _ in range(2)] == [1, 2]


def test_arguments_that_are_nested_too_deeply_are_never_called_equal() -> None:
    deep: Any = "end"
    for _ in range(50_000):
        deep = {"a": deep}
    watch = guard()
    assert [counts(watch.after_call("a:b", {"x": deep}, 0))[0] for _ in range(3)] == [1, 1, 1]


def test_the_guidance_of_a_tool_replaces_the_advice_for_all_tools() -> None:
    watch = guard(
        guidance={"a:*": "Search for list_orders.", "*:b": "Or ask the user.", "c:*": "Wait.", "*": " "}
    )
    text = guidance(watch)
    assert text.endswith("has been unloaded. Search for list_orders. Or ask the user.]")
    assert "Use search_tools" in guidance(watch, "x:y")


def test_guidance_does_not_claim_that_a_pinned_tool_was_unloaded() -> None:
    assert "unloaded" in guidance(guard())
    assert "unloaded" not in guidance(guard(), evictable=False)


@given(CALLS, st.integers(1, 4), st.integers(2, 8), st.integers(1, 4))
def test_the_guard_counts_as_a_recount_does_and_fires_exactly_over_a_limit(
    calls: list[tuple[str, int, float]], max_repeats: int, window_calls: int, window_repeats: int
) -> None:
    watch = guard(max_repeats=max_repeats, window_calls=window_calls, window_repeats=window_repeats)
    now, past = 0.0, list[tuple[tuple[str, int], float]]()
    for tool, argument, delay in calls:
        now += delay
        past.append(((tool, argument), now))
        in_time = sum(1 for call, at in past if call == (tool, argument) and now - at <= WINDOW)
        in_calls = sum(1 for call, _ in past[-window_calls:] if call == (tool, argument))
        verdict = watch.after_call(tool, {"x": argument}, now)
        assert counts(verdict) == (in_time, in_calls)
        assert (verdict.loop is not None) == (in_time > max_repeats or in_calls > window_repeats)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)

SAME = {
    "key order": ({"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"d": 3, "c": 2}, "a": 1}),
    "null is absent": ({"a": 1, "b": None}, {"a": 1}),
    "white space inside": ({"q": "late \t\u00a0 orders"}, {"q": "late orders"}),
    "whole numbers": ({"n": 3}, {"n": 3.0}),
    "numbers as text with decimals": ({"n": 3}, {"n": " 3.00 "}),
    "negative zero": ({"n": 0}, {"n": "-0.0"}),
    "exponents of numbers": ({"n": 10**16}, {"n": 1e16}),
    "numbers in lists": ({"n": [1, {"m": 2}]}, {"n": ["1.0", {"m": "2"}]}),
    "slash after a path": ({"p": "/a/b/"}, {"p": "/a/b"}),
    "case of scheme and host": ({"u": "HTTPS://Example.COM/A"}, {"u": "https://example.com/A"}),
    "slash after a URL": ({"u": "https://e.com/a//"}, {"u": "https://e.com/a"}),
    "slash before a query": ({"u": "https://e.com/a/?id=1"}, {"u": "https://e.com/a?id=1"}),
    "fragment": ({"u": "https://e.com/a#top"}, {"u": "https://e.com/a"}),
    "order of parameters": ({"u": "https://e.com/?b=1&a=2/"}, {"u": "https://e.com/?a=2/&b=1"}),
    "tracking beside a parameter": ({"u": "https://e.com/?utm_x=1&id=2"}, {"u": "https://e.com/?id=2"}),
}
OTHER = {
    "case of text": ({"q": "Orders"}, {"q": "orders"}),
    "order of lists": ({"n": [1, 2]}, {"n": [2, 1]}),
    "empty text is not absent": ({"q": ""}, {}),
    "true is not 1": ({"n": True}, {"n": 1}),
    "leading zeros": ({"n": "007"}, {"n": 7}),
    "exponents in text": ({"n": "1e3"}, {"n": 1000}),
    "numbers out of range": ({"n": "1e999"}, {"n": float("inf")}),
    "versions": ({"v": "3.10"}, {"v": "3.1"}),
    "large numbers": ({"n": 2**53}, {"n": 2**53 + 1}),
    "slash before a path": ({"p": "/a"}, {"p": "a"}),
    "case of a path": ({"u": "https://e.com/A"}, {"u": "https://e.com/a"}),
    "value of a parameter": ({"u": "https://e.com/?id=1"}, {"u": "https://e.com/?id=2"}),
    "order of one parameter": ({"u": "https://e.com/?a=1&a=2"}, {"u": "https://e.com/?a=2&a=1"}),
    "parameters that only look like tracking": ({"u": "https://e.com/?reference=1"}, {"u": "https://e.com/"}),
    "fragments outside of URLs": ({"q": "a#1"}, {"q": "a#2"}),
}


@pytest.mark.parametrize(("one", "two"), SAME.values(), ids=SAME)
def test_arguments_that_mean_the_same_have_one_form(one: dict[str, Any], two: dict[str, Any]) -> None:
    assert normalised(one) == normalised(two)
    assert canonical(normalised(one)) == canonical(normalised(two))


@pytest.mark.parametrize(("one", "two"), OTHER.values(), ids=OTHER)
def test_arguments_that_mean_something_else_differ(one: dict[str, Any], two: dict[str, Any]) -> None:
    assert normalised(one) != normalised(two)
    assert canonical(normalised(one)) != canonical(normalised(two))


@given(st.dictionaries(st.text(), JSON, max_size=4))
@example({"u": "http://X /"})
@example({"u": "3.00/"})
@example({"n": -0.0})
def test_a_normal_form_is_its_own_normal_form(arguments: dict[str, Any]) -> None:
    form = normalised(arguments)
    assert normalised(form) == form
    assert normalised(json.loads(canonical(form))) == form
