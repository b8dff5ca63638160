"""Loops and redundant searches that are noticed in a session."""

from collections.abc import Sequence

from hypothesis import given, strategies as st

from inspector.core.settings import BindingSettings, GuardSettings, Settings
from inspector.core.stream import LiveSettings
from inspector.loop.search_tools import RedundancyDetector
from inspector.schema.json_value import JsonObject
from tests.loop.test_chat import Bench
from tests.support.fakes import calls, says, searches

HOPELESS, OTHERWISE = searches(query="recite a poem"), searches(query="poem recital")
REFUSED = searches(server_name="bakery")
UNKNOWN = calls(("bakery__bake", {"loaves": 2}))


async def test_the_third_equal_search_that_finds_nothing_is_a_loop() -> None:
    bench = Bench(HOPELESS, HOPELESS, HOPELESS, says("sorry"))
    await bench.say()
    (loop,) = bench.events("loop")
    assert (loop.tool, loop.counted, loop.count) == ("search_tools", "search", 3)
    third = bench.tool_messages()[-1]
    assert "this search was made 3 times; the last 3 results were identical" in third
    assert "If no tool here does it, say so" in third
    assert "unloaded" not in third


async def test_rewordings_of_a_hopeless_search_are_not_one_search_made_again() -> None:
    bench = Bench(HOPELESS, OTHERWISE, searches(query="bake a pizza"), says("sorry"))
    await bench.say()
    assert bench.events("loop") == []
    assert not any(request.think for request in bench.events("request"))
    (told,) = bench.events("redundant")
    assert (told.overlap, told.in_a_row) == (None, 3)
    *_, second, third = bench.tool_messages()
    assert "[Note:" not in second
    assert "3 searches in a row found no tool to call" in third


REFUSALS: Sequence[JsonObject] = (
    {},
    {"query": "  "},
    {"server_name": "bakery"},
    {"query": "bread", "domain": ["food"]},
)


async def test_searches_with_errors_neither_count_as_hopeless_nor_as_redundant() -> None:
    bench = Bench(*(searches(**arguments) for arguments in REFUSALS), says("sorry"))
    await bench.say()
    assert all(search.report.error for search in bench.events("search"))
    assert bench.events("redundant") == bench.events("loop") == []
    assert not any("[Note:" in text for text in bench.tool_messages())


async def test_a_search_whose_results_have_no_room_did_not_find_nothing() -> None:
    used, listing = calls(("shop__list_orders", {})), searches(server_name="weather")
    settings = Settings(binding=BindingSettings(capacity=1))
    model = (searches(tool_names=["list_orders"]), used, listing, listing, listing, says("sorry"))
    bench = Bench(*model, settings=settings)
    await bench.say()
    *_, second, third = bench.tool_messages()
    assert second.startswith("Not loaded, as there is no more room: weather:get_forecast.")
    assert bench.events("redundant") == []
    assert "Use one of the tools that it found" in third


async def test_the_same_rejected_call_is_a_loop() -> None:
    bench = Bench(UNKNOWN, UNKNOWN, UNKNOWN, says("sorry"))
    await bench.say()
    (loop,) = bench.events("loop")
    assert (loop.tool, loop.counted, loop.count) == ("bakery__bake", "rejection", 3)
    assert "was made 3 times and rejected each time" in bench.tool_messages()[-1]
    assert "unloaded" not in loop.guidance


async def test_a_call_that_runs_after_it_was_rejected_is_no_loop() -> None:
    early = calls(("shop__list_orders", {}))
    bench = Bench(early, early, searches(tool_names=["list_orders"]), early, early, says("done"))
    await bench.say()
    assert bench.events("loop") == []


async def test_as_published_neither_searches_nor_rejected_calls_count() -> None:
    settings = Settings(guard=GuardSettings(as_published=True))
    bench = Bench(*[REFUSED] * 4, *[UNKNOWN] * 4, says("sorry"), settings=settings)
    await bench.say()
    assert bench.events("count") == []
    assert bench.events("loop") == []


WINDOW = 300.0
FOUND = st.lists(st.sampled_from("abcde"), max_size=5)


def detector(*, as_published: bool = False) -> RedundancyDetector:
    return RedundancyDetector(LiveSettings(Settings(guard=GuardSettings(as_published=as_published))))


def test_a_note_says_how_many_of_the_tools_were_known() -> None:
    watch = detector()
    watch.after_search("orders", ["a", "b", "c", "d"], 0)
    redundant = watch.after_search("more", ["a", "b", "c", "d", "e"], 1)
    assert redundant is not None
    assert "(orders) found 4 of these 5 tools;" in redundant.note
    assert redundant.summary() == "more  80 % already found by orders"


def test_finding_a_tool_again_after_it_was_evicted_is_not_redundant() -> None:
    watch = detector()
    watch.after_search("forecast", ["a"], 0)
    watch.forget(["a"])
    assert watch.after_search("forecast", ["a"], 1) is None


@given(st.lists(st.tuples(FOUND, st.floats(0, 180)), max_size=30))
def test_a_search_is_redundant_exactly_when_one_of_the_window_had_found_enough_of_it(
    searches: list[tuple[list[str], float]],
) -> None:
    watch, now, past = detector(as_published=True), 0.0, list[tuple[frozenset[str], float]]()
    for found, delay in searches:
        now += delay
        results = frozenset(found)
        shares = [len(results & seen) / len(results) for seen, at in past if results and now - at <= WINDOW]
        expected = max(shares, default=0.0)
        redundant = watch.after_search("q", found, now)
        assert (redundant.overlap if redundant else None) == (expected if expected >= 0.8 else None)
        past.append((results, now))
