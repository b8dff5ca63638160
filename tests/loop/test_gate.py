"""Which tools a turn is bound to, and what becomes of calls of all others."""

import json
from collections.abc import Collection, Mapping, Sequence

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from inspector.core.events import GateApplied
from inspector.core.message import AssistantMessage, Message, NoteMessage, ToolMessage, UserMessage
from inspector.core.session import Binding
from inspector.core.settings import BindingSettings, DiscoverySettings, GateSettings, Settings
from inspector.core.tool import Tool
from inspector.loop.gate import Gate, gate_query
from inspector.search.ranker.catalog_rankers import CatalogRankers
from tests.loop.test_chat import Bench, bound_names
from tests.support.fakes import ManualClock, Step, calls, says
from tests.support.retrieval import rankers_of

FARM = tuple(
    Tool("farm", name, f"{name.replace('_', ' ')} on the farm")
    for name in (
        "milk_cows",
        "feed_cows",
        "feed_pigs",
        "count_pigs",
        "shear_sheep",
        "mow_meadow",
        "milk_cows_2",
    )
)
IDS = tuple(tool.id for tool in FARM)
RANKERS: CatalogRankers = rankers_of(FARM)
CLOSED = "milestone_reached('x')"

words = st.lists(st.sampled_from(["milk", "feed", "cows", "pigs", "sheep", "farm", "zebra"]), max_size=4)
closed_tools = st.dictionaries(st.sampled_from(IDS), st.just((CLOSED,)))
thresholds = st.floats(-1, 1)


def apply(
    query: str,
    *,
    pinned: Collection[str] = (),
    unmet: Mapping[str, Sequence[str]] | None = None,
    threshold: float = 0.1,
    top_k: int = 3,
    ranker: str = "dense",
) -> GateApplied:
    settings = GateSettings(ranker=ranker, threshold=threshold, top_k=top_k)
    gate = Gate(ManualClock())
    return gate.apply(RANKERS, [UserMessage(query)], settings, pinned=pinned, unmet=unmet or {}, tokens=len)


def scores(query: str) -> dict[str, float]:
    return dict(zip(IDS, RANKERS.get("dense").rank(query).values.tolist(), strict=True))


@given(words, closed_tools, st.frozensets(st.sampled_from(IDS)), thresholds, st.integers(1, 8))
def test_the_active_tools_are_the_best_open_ones_over_the_threshold_that_are_not_pinned(
    query: list[str], unmet: dict[str, tuple[str, ...]], pinned: frozenset[str], threshold: float, top_k: int
) -> None:
    values = scores(" ".join(query))
    open_ids = [tool_id for tool_id in IDS if tool_id not in unmet and tool_id not in pinned]
    fit = [tool_id for tool_id in open_ids if values[tool_id] >= threshold]
    best = sorted(fit, key=lambda tool_id: -values[tool_id])[:top_k]
    applied = apply(" ".join(query), unmet=unmet, pinned=pinned, threshold=threshold, top_k=top_k)
    assert applied.active == tuple(best)


@given(words, closed_tools, thresholds, st.integers(1, 8))
def test_the_event_tells_scores_in_order_and_what_closed_each(
    query: list[str], unmet: dict[str, tuple[str, ...]], threshold: float, top_k: int
) -> None:
    applied = apply(" ".join(query), unmet=unmet, threshold=threshold, top_k=top_k)
    values = scores(" ".join(query))
    told = [one.score for one in applied.candidates]
    assert told == [values[one.tool] for one in applied.candidates] == sorted(told, reverse=True)
    assert all(one.unmet == unmet.get(one.tool, ()) for one in applied.candidates)
    assert tuple(one.tool for one in applied.candidates if not one.unmet)[:top_k] == applied.active
    assert applied.gated_out == tuple(one.tool for one in applied.candidates if one.unmet)


def test_without_vectors_nothing_passes_and_the_note_tells_why() -> None:
    gate, rankers = Gate(ManualClock()), rankers_of(FARM, semantic=False)
    applied = gate.apply(rankers, [UserMessage("milk cows")], GateSettings(), pinned=(), unmet={}, tokens=len)
    assert (applied.active, applied.below) == ((), len(FARM))
    assert applied.note == "finds nothing: no embedding model is in use"


ASKED, ANSWERED = UserMessage("first request"), AssistantMessage("first answer")
SAID, RESULT = AssistantMessage("let me see"), ToolMessage("c", "t", "the result")
NOW = UserMessage("now this")


@pytest.mark.parametrize(
    ("mode", "messages", "query"),
    [
        ("user", (), ""),
        ("user", (ASKED, ANSWERED, NOW, SAID, RESULT), "now this"),
        ("rolling", (ASKED, ANSWERED, NOW, SAID, RESULT), "now this first request first answer"),
        ("observation", (ASKED, RESULT, ANSWERED, NOW), "now this"),
        ("observation", (NOW, SAID, RESULT), "now this the result"),
        ("observation", (NOW, RESULT, NoteMessage("think"), SAID, NoteMessage("go")), "now this the result"),
    ],
)
def test_a_turn_is_about_what_its_mode_says(mode: str, messages: tuple[Message, ...], query: str) -> None:
    assert gate_query(messages, mode) == query


@given(st.sampled_from(["rolling", "either", "observation"]), st.integers(0, 2000))
def test_what_is_added_to_a_request_is_short_and_the_request_stays_whole(mode: str, length: int) -> None:
    before = [UserMessage("b" * length)] * 9
    query = gate_query((*before, NOW, ToolMessage("c", "t", "r" * length)), mode)
    assert query.startswith(NOW.text)
    assert len(query) <= len(NOW.text) + 1 + 600


GATE = Settings(
    discovery=DiscoverySettings(search_tool=False),
    binding=BindingSettings(policy="gate", delivery="rewrite"),
    gate=GateSettings(ranker="bm25", threshold=0.01, top_k=2),
)
ORDERS, FORECAST = "list the orders by status", "forecast for a city"


def gated(*steps: Step, settings: Settings = GATE) -> Bench:
    return Bench(*steps, settings=settings)


async def test_the_gate_binds_what_fits_the_turn_and_only_for_that_turn() -> None:
    bench = gated(says("ok"), says("ok"))
    await bench.say(ORDERS)
    await bench.say(FORECAST)
    first, second = map(bound_names, bench.model.requests)
    assert "shop__list_orders" in first
    assert "shop__list_orders" not in second
    assert "weather__get_forecast" in second
    tools = bench.session.state.tools
    assert tools["shop:list_orders"].binding is Binding.DEFERRED
    assert tools["weather:get_forecast"].binding is Binding.LOADED


async def test_a_call_of_a_tool_outside_the_active_set_is_rejected_with_what_there_is() -> None:
    bench = gated(calls(("shop__list_orders", {})), says("ok"))
    await bench.say(FORECAST)
    assert bench.servers.calls == []
    answer = json.loads(bench.tool_messages()[0])
    assert answer["error"] == "tool_not_available"
    assert answer["available"] == ["calc__evaluate", "weather__get_forecast"]


def offering(*steps: Step) -> Bench:
    """A gate that gives definitions in the conversation."""
    return gated(*steps, settings=replace(GATE, binding=replace(GATE.binding, delivery="call_tool")))


def offers(messages: Sequence[Message]) -> list[int]:
    return [n for n, message in enumerate(messages) if isinstance(message, NoteMessage) and message.offers]


async def test_definitions_stand_right_before_the_users_message_and_nothing_before_them_changes() -> None:
    bench = offering(says("ok"), says("ok"))
    await bench.say(ORDERS)
    await bench.say(FORECAST)
    first, second = bench.model.requests
    assert (first.system, first.tools) == (second.system, second.tools)
    assert bound_names(first) == ["call_tool", "calc__evaluate"]
    for request, tool_id in ((first, "shop__list_orders"), (second, "weather__get_forecast")):
        (place,) = offers(request.messages)
        assert isinstance(request.messages[place + 1], UserMessage)
        assert place == len(request.messages) - 2
        assert f'"name":"{tool_id}"' in request.messages[place].text
    assert offers(bench.chat.loop.messages) == []


async def test_a_tool_before_the_message_is_called_through_the_proxy_and_no_other_is() -> None:
    right = calls(("call_tool", {"name": "weather__get_forecast", "arguments": {}}))
    wrong = calls(("call_tool", {"name": "shop__list_orders", "arguments": {}}))
    bench = offering(wrong, right, says("ok"))
    await bench.say(FORECAST)
    assert json.loads(bench.tool_messages()[0])["error"] == "tool_not_available"
    assert [tool for _, tool, _ in bench.servers.calls] == ["get_forecast"]
