"""The session's state as a fold over any stream of events."""

from inspector.core.budget import TokenParts
from inspector.core.events import (
    CallFinished,
    CallRejected,
    CallStarted,
    CatalogBuilt,
    CatalogEntry,
    Event,
    ModelRequested,
    Record,
    ServerConnecting,
    ServerFailed,
    ServerReady,
    ServerStopped,
    SessionStarted,
    ToolEvicted,
    ToolLoaded,
    ToolRefreshed,
    TurnEnded,
    UserSaid,
)
from inspector.core.events.base import Actor
from inspector.core.fold import fold
from inspector.core.server import ServerPhase
from inspector.core.session import Binding, SessionState
from tests.core.test_event import records


def built(*ids: str, pinned: tuple[str, ...] = ()) -> CatalogBuilt:
    return CatalogBuilt("", tuple(CatalogEntry(i, 10, i not in pinned) for i in ids), "", 1, 100)


def after(*stream: Event) -> SessionState:
    return fold(records(list(stream)))


def load(tool: str) -> ToolLoaded:
    return ToolLoaded(tool, 10, "found")


def test_loaded_tools_are_bound_in_the_order_they_were_loaded_after_the_pinned_ones() -> None:
    state = after(built("a:one", "a:two", "b:one", pinned=("b:one",)), load("a:two"), load("a:one"))
    assert state.bound_ids == ("b:one", "a:two", "a:one")


def test_loaded_and_evicted_tools_stay_so_when_the_catalog_is_built_again() -> None:
    evicted = ToolEvicted("a:two", "loop")
    state = after(built("a:one", "a:two"), load("a:one"), load("a:two"), evicted, built("a:one", "a:two"))
    assert state.tools["a:one"].binding is Binding.LOADED
    assert state.tools["a:two"].binding is Binding.EVICTED
    assert state.bound_ids == ("a:one",)


def test_a_call_counts_for_its_tool_and_its_turn() -> None:
    request = ModelRequested(3, ("a:one",), TokenParts(tools=10, meta=5), 2)
    state = after(built("a:one"), load("a:one"), request, CallFinished("c", "a:one", True, "fine"))
    assert (state.tools["a:one"].uses, state.tools["a:one"].last_call, state.calls) == (1, 3, 1)
    assert [cost.parts.tool_tokens for cost in state.costs] == [15]


def test_only_a_call_that_succeeds_leaves_output_behind() -> None:
    failed, done = (CallFinished("c", "a:one", ok, "text") for ok in (False, True))
    assert after(built("a:one"), failed).outputs == frozenset()
    assert after(built("a:one"), failed, done).outputs == {"a:one"}


def test_a_call_by_hand_recovers_nothing() -> None:
    rejected = CallRejected("r", "a:two", "unknown tool", "There is no such tool.")
    by_hand, by_model = (CallStarted("c", "a:one", {}, by) for by in ("user", "model"))
    assert after(built("a:one"), rejected, by_hand).recoveries == 0
    assert after(built("a:one"), rejected, by_hand, by_model).recoveries == 1


def test_a_persons_no_is_no_rejection_and_needs_no_recovery() -> None:
    refused = CallRejected("r", "a:one", "refused", "The user refused the call.")
    state = after(
        built("a:one"), refused, CallStarted("c", "a:one", {}), TurnEnded("answered", "Shall I stop?")
    )
    assert (state.rejections, state.refusals, state.recoveries) == (0, 1, 0)


def test_a_server_keeps_its_target_from_connecting_to_failure() -> None:
    state = after(
        SessionStarted("c", ("a", "b"), "", "m", "model", 1000),
        ServerConnecting("a", "run a"),
        ServerReady("a", 3, 300),
        ServerConnecting("b", "run b"),
        ServerFailed("b", "gone", stderr_tail="boom"),
    )
    assert state.ready_servers == 1
    assert (state.servers["a"].target, state.servers["a"].tools) == ("run a", 3)
    assert state.servers["b"].phase is ServerPhase.FAILED
    assert (state.servers["b"].target, state.servers["b"].stderr_tail) == ("run b", "boom")


def test_a_stopped_server_counts_no_tools() -> None:
    state = after(ServerReady("a", 3, 300), ServerStopped("a"))
    assert (state.servers["a"].phase, state.servers["a"].tools) == (ServerPhase.STOPPED, 0)


def test_the_session_is_busy_from_the_question_to_the_end_of_the_turn() -> None:
    assert after(UserSaid("hello")).busy
    assert not after(UserSaid("hello"), TurnEnded("answered")).busy


IDS = ("a:x", "b:y", "c:z")


def state(*events: Event) -> SessionState:
    built = CatalogBuilt(
        "",
        tuple(CatalogEntry(id_, 10, deferred=True) for id_ in IDS),
        manifest="m",
        meta_tokens=1,
        static_tokens=30,
    )
    return fold(Record("s", seq, float(seq), event) for seq, event in enumerate((built, *events), start=1))


def call(tool: str, by: Actor = "model") -> tuple[Event, Event]:
    return CallStarted(f"c {tool}", tool, {}, by), CallFinished(f"c {tool}", tool, True, "")


def test_another_message_is_another_task_and_a_persons_call_is_none_of_the_models() -> None:
    assert state(*call("a:x"), *call("b:y", by="user")).inertia.called == "a:x"
    assert state(*call("a:x"), UserSaid("next")).inertia.called == ""


def test_a_tool_bound_ahead_says_so_until_it_is_called() -> None:
    bound = (ToolLoaded("b:y", 10, "follows a:x", cause="inertia"),)
    waiting = state(*bound).tools["b:y"]
    assert (waiting.is_ahead, waiting.last_call, waiting.found) == (True, None, 0)
    called = state(*bound, *call("b:y"))
    assert not called.tools["b:y"].is_ahead
    assert called.inertia.used == frozenset({"b:y"})


def test_a_tool_bound_ahead_was_not_discovered_by_a_search() -> None:
    assert state(ToolLoaded("b:y", 10, "follows a:x", cause="inertia")).discovered == frozenset()
    found = state(
        ToolLoaded("b:y", 10, "follows a:x", cause="inertia"), ToolRefreshed("b:y", "“y”"), *call("b:y")
    )
    assert found.discovered == frozenset({"b:y"})
    assert found.inertia.used == frozenset()
