"""What stays loaded: eviction by any limits, and the room for the searches of a reply."""

from collections.abc import Sequence

from hypothesis import given, strategies as st
from msgspec.structs import replace

from inspector.core.events import CallFinished
from inspector.core.session import Binding, ToolState
from inspector.core.settings import BindingSettings, Settings
from inspector.loop.tool_context import LRU, Eviction, Found, Limits, Placement, evictions
from tests.loop.test_chat import Bench
from tests.loop.test_tool_context import IDS, NAMES, Ground
from tests.support.fakes import calls, says

NOW = 1000.0


def tool(
    name: str, *, turn: int | None = 0, uses: int = 0, used_at: float | None = NOW, tokens: int = 10
) -> ToolState:
    return ToolState(
        f"s:{name}",
        tokens,
        Binding.LOADED,
        uses=uses,
        last_call=turn,
        discovered_at=NOW,
        last_used_at=used_at,
    )


@st.composite
def loaded_tools(draw: st.DrawFn) -> list[ToolState]:
    names = draw(st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8))
    return [
        tool(
            name,
            turn=draw(st.none() | st.integers(0, 5)),
            uses=draw(st.integers(0, 3)),
            used_at=draw(st.none() | st.floats(0, NOW)),
            tokens=draw(st.integers(0, 50)),
        )
        for name in names
    ]


limits_of_any_kind = st.builds(
    Limits,
    capacity=st.integers(0, 9),
    tokens=st.none() | st.integers(0, 200),
    ttl=st.just(0.0) | st.floats(0.1, NOW),
    eager=st.booleans(),
)


def ids(found: tuple[Eviction, ...]) -> list[str]:
    return [one.tool_id for one in found]


def staying(loaded: list[ToolState], found: tuple[Eviction, ...]) -> list[ToolState]:
    return [one for one in loaded if one.id not in ids(found)]


def is_within(loaded: list[ToolState], limits: Limits) -> bool:
    has_room = not limits.capacity or len(loaded) <= limits.capacity
    return has_room and (limits.tokens is None or sum(one.tokens for one in loaded) <= limits.tokens)


@given(loaded_tools(), limits_of_any_kind)
def test_what_stays_is_within_the_capacity_and_the_tokens(loaded: list[ToolState], limits: Limits) -> None:
    assert is_within(staying(loaded, evictions(loaded, limits, NOW)), limits)


@given(loaded_tools(), limits_of_any_kind)
def test_no_tool_that_goes_was_used_in_a_later_model_call_than_one_that_stays(
    loaded: list[ToolState], limits: Limits
) -> None:
    by_id = {one.id: one for one in loaded}
    found = evictions(loaded, limits, NOW)
    turns = [by_id[one.tool_id].last_call or 0 for one in found if one.cause == LRU]
    assert turns == sorted(turns)
    assert all(turns[-1] <= (one.last_call or 0) for one in staying(loaded, found) if turns)


@given(loaded_tools(), limits_of_any_kind, st.data())
def test_what_was_found_just_now_goes_last_and_the_best_of_it_last_of_all(
    loaded: list[ToolState], limits: Limits, data: st.DataObject
) -> None:
    latest = data.draw(
        st.lists(st.sampled_from([t.id for t in loaded]), unique=True) if loaded else st.just([])
    )
    found = [one.tool_id for one in evictions(loaded, limits, NOW, latest) if one.cause == LRU]
    of_latest = [tool_id for tool_id in found if tool_id in latest]
    assert found[len(found) - len(of_latest) :] == of_latest
    assert of_latest == sorted(of_latest, key=latest.index, reverse=True)
    if of_latest:
        left = staying(loaded, evictions(loaded, limits, NOW, latest))
        assert all(one.id in latest for one in left)


def test_of_one_model_call_the_less_used_go_first_then_the_earlier_search_then_the_worse_find() -> None:
    loaded = [
        replace(tool("best", turn=2), place=1),
        replace(tool("second", turn=2), place=2),
        replace(tool("other search", turn=2), place=1),
        tool("used", turn=2, uses=1),
        tool("old", turn=1),
    ]
    gone = ids(evictions(loaded, Limits(1), NOW))
    assert gone == ["s:old", "s:second", "s:best", "s:other search"]


def test_a_tool_at_its_last_second_has_not_expired() -> None:
    loaded = [tool("a", used_at=NOW - 60)]
    assert evictions(loaded, Limits(ttl=60, eager=True), NOW) == ()
    assert ids(evictions(loaded, Limits(ttl=60, eager=True), NOW + 1)) == ["s:a"]


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
