"""Loops of searches, of rejected calls, and after a recovery: what the model is told."""

from collections.abc import Sequence

from inspector.core.settings import BindingSettings, GuardSettings, Settings
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
    settings = Settings(guard=GuardSettings(all_calls=False))
    bench = Bench(*[REFUSED] * 4, *[UNKNOWN] * 4, says("sorry"), settings=settings)
    await bench.say()
    assert bench.events("count") == []
    assert bench.events("loop") == []


async def test_a_loop_after_recovery_is_named_and_the_ranker_offers_alternatives() -> None:
    search, again = searches(query="orders"), calls(("shop__list_orders", {}))
    bench = Bench(search, again, again, again, search, again, says("done"))
    await bench.say()
    first, second = bench.events("loop")
    assert (first.trigger, second.trigger, second.count) == ("time", "again", 4)
    assert second.alternatives == ("shop:refund_order",)
    assert "[Repeated loop: shop:list_orders was called 4 times" in bench.tool_messages()[-1]
    assert [event.cause for event in bench.events("evict")] == ["loop", "loop"]
