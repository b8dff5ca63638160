"""What came of predictions is folded from the calls after them, and the same from a record."""

from inspector.core.events import (
    CallFinished,
    CallStarted,
    CatalogBuilt,
    CatalogEntry,
    Event,
    Guess,
    NextPredicted,
    Record,
    ToolLoaded,
    ToolRefreshed,
    UserSaid,
)
from inspector.core.events.base import Actor
from inspector.core.fold import fold
from inspector.core.session import SessionState

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


def predicted(after: str, *tools: str) -> NextPredicted:
    guesses = tuple(Guess(tool, 0.5) for tool in tools)
    return NextPredicted(after, guesses, 0.3, most_used=("c:z", "b:y"), same_server=("a:w",))


def test_a_first_use_is_scored_for_the_graph_and_for_the_plainer_rules() -> None:
    hits = state(*call("a:x"), predicted("a:x", "b:y", "c:z"), *call("b:y")).inertia.hits
    assert (hits.first_uses, hits.order_1, hits.most_used, hits.same_server) == (1, (1, 1), (0, 1), (0, 0))


def test_a_tool_that_was_called_before_is_not_scored() -> None:
    hits = state(*call("b:y"), *call("a:x"), predicted("a:x", "b:y"), *call("b:y")).inertia.hits
    assert hits.first_uses == 0


def test_only_the_next_call_is_scored_by_a_prediction() -> None:
    told = predicted("a:x", "c:z")
    hits = state(*call("a:x"), told, *call("b:y"), *call("c:z")).inertia.hits
    assert (hits.first_uses, hits.order_1) == (1, (0, 0))


def test_another_message_is_another_task() -> None:
    inertia = state(*call("a:x"), predicted("a:x", "b:y"), UserSaid("next"), *call("b:y")).inertia
    assert inertia.hits.first_uses == 0
    assert inertia.called == "b:y"


def test_a_persons_call_is_nothing_that_a_model_did() -> None:
    inertia = state(*call("a:x"), predicted("a:x", "b:y"), *call("b:y", by="user")).inertia
    assert (inertia.called, inertia.hits.first_uses) == ("a:x", 0)


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


def test_a_load_of_an_older_record_has_no_cause() -> None:
    loaded = state(ToolLoaded("b:y", 10, "“y”", 1)).tools["b:y"]
    assert (loaded.cause, loaded.is_ahead) == ("", False)
