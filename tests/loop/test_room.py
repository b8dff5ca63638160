"""Who gets the room when one reply searches more than once."""

from collections.abc import Sequence

from hypothesis import given, strategies as st

from inspector.core.events import CallFinished
from inspector.core.session import Binding
from inspector.core.settings import BindingSettings, Settings
from inspector.loop.tool_context import Found, Placement
from tests.loop.test_chat import Bench
from tests.loop.test_tool_context import IDS, NAMES, Ground
from tests.support.fakes import calls, says

rankings = st.lists(st.lists(st.sampled_from(IDS), unique=True, max_size=5), max_size=4)
found = st.builds(
    Found, st.lists(st.sampled_from(IDS), unique=True, max_size=5).map(tuple), st.just("x"), st.booleans()
)


def place(ground: Ground, *finds: Found, calling: Sequence[str] = ()) -> Placement:
    """Bind what the searches of one reply found."""
    placement = ground.context.place(finds, calling)
    for loads in placement.loads:
        for load in loads:
            ground.session.emit(load)
    for eviction in placement.evictions:
        ground.session.emit(eviction)
    return placement


def asked(*names: str) -> Found:
    return Found(tuple(f"shop:{name}" for name in names), "a search")


def listed(*names: str) -> Found:
    return Found(tuple(f"shop:{name}" for name in names), "server shop", is_listing=True)


def used(*names: str, capacity: int) -> Ground:
    """A session in which these tools were found and used, each in a model call of its own."""
    ground = Ground(capacity=capacity)
    for name in names:
        ground.find(name)
        ground.ask_model()
        ground.session.emit(CallFinished("c", f"shop:{name}", True, "ok"))
    ground.ask_model()
    return ground


def test_what_was_loaded_before_makes_room_for_it() -> None:
    ground = used("a", "b", capacity=2)
    placement = place(ground, asked("c", "d"), asked("e"))
    assert ground.loaded == ["c", "e"]
    assert [one.tool for one in placement.evictions] == ["shop:a", "shop:b"]


def test_a_tool_that_the_reply_calls_goes_after_one_that_it_does_not_call() -> None:
    ground = used("a", "b", capacity=2)
    place(ground, asked("c"), calling=["shop:a"])
    assert ground.loaded == ["a", "c"]


def test_listing_a_server_unloads_no_tool_that_was_used() -> None:
    ground = used("a", "b", capacity=3)
    placement = place(ground, listed(*NAMES))
    assert ground.loaded == ["a", "b", "c"]
    assert placement.evictions == ()


def test_a_listing_comes_after_every_search_of_its_reply() -> None:
    ground = Ground(capacity=2)
    place(ground, listed("a", "b"), asked("c", "d"))
    assert ground.loaded == ["c", "d"]


@given(
    st.integers(1, 5), st.lists(found, max_size=4), st.lists(st.sampled_from(NAMES), unique=True, max_size=3)
)
def test_whatever_a_reply_searches_what_stays_is_bound_and_within_the_capacity(
    capacity: int, finds: list[Found], before: list[str]
) -> None:
    ground = used(*before, capacity=capacity)
    was_used = {tool.id for tool in ground.session.state.with_binding(Binding.LOADED)}
    placement = place(ground, *finds)
    state = ground.session.state
    assert len(state.load_order) <= capacity
    for find in finds:
        returned = placement.staying.intersection(find.tools)
        assert returned == set(state.bound_ids).intersection(find.tools)
    if all(find.is_listing for find in finds):
        assert was_used <= set(state.load_order)


async def test_a_search_says_what_it_unloaded() -> None:
    settings = Settings(binding=BindingSettings(capacity=1))
    bench = Bench(
        calls(("search_tools", {"query": "refund an order"})),
        calls(("search_tools", {"query": "weather forecast"})),
        says("done"),
        settings=settings,
    )
    await bench.say()
    first, second = bench.tool_messages()
    assert "Unloaded" not in first
    assert "Unloaded to make room: shop:refund_order." in second
