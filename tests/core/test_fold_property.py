"""A session is a fold: any stream, cut anywhere, stored and read back, gives the same state.

The streams hold every kind of event, with ids from a small pool, so that each transition meets each state,
and with ids that nothing has heard of. Whatever an engine would never emit is among them.
"""

from collections.abc import Mapping
from itertools import count
from pathlib import Path

from hypothesis import HealthCheck, example, given, settings, strategies as st
from msgspec.structs import replace

from inspector.core.events import EVENT_TYPES, CatalogBuilt, CatalogEntry, Event, GateApplied
from inspector.core.fold import apply, fold
from inspector.core.session import Binding, SessionState
from inspector.store.store import SqliteStore
from tests.core.test_event import events_by_kind, records, texts
from tests.support.examples import examples

SERVERS = ("a", "b")
TOOLS = ("a:one", "a:two", "a:three", "b:one", "b:two")
UNKNOWN = ("a:gone", "c:none", "search_tools", "")
CALLS = ("c1", "c2", "c3")
_SESSIONS = count()

tools = st.sampled_from((*TOOLS, *UNKNOWN)) | texts
tool_lists = st.lists(tools, max_size=4).map(tuple)
entries = st.lists(
    st.builds(CatalogEntry, st.sampled_from(TOOLS), st.integers(0, 9999), st.booleans()), max_size=6
).map(tuple)
# A field that holds an id takes it from the pool; the rest of the event is anything.
_POOL: Mapping[str, st.SearchStrategy[object]] = {
    "tool": tools,
    "call_id": st.sampled_from(CALLS),
    "server": st.sampled_from((*SERVERS, "c", "")),
    "active": tool_lists,
    "bound": tool_lists,
    "changed": tool_lists,
    "held": tool_lists,
    "entries": entries,
    "by": st.sampled_from(("model", "user")),
}


@st.composite
def pooled(draw: st.DrawFn, kind: str) -> Event:
    """An event of the kind whose ids are from the pool."""
    event = draw(events_by_kind[kind])
    names = [name for name in _POOL if name in type(event).__struct_fields__]
    return replace(event, **{name: draw(_POOL[name]) for name in names})


every_kind = st.sampled_from(sorted(EVENT_TYPES)).flatmap(pooled)
moves = st.sampled_from(("catalog", "load", "evict", "gate", "refresh", "request", "result")).flatmap(pooled)
# Half of the events move tools, or random streams would hardly ever bind one.
streams: st.SearchStrategy[list[Event]] = st.lists(moves | every_kind, max_size=20)


def catalog(*, deferred: bool) -> CatalogBuilt:
    return CatalogBuilt("", (CatalogEntry("a:one", 1, deferred),), "", 0, 0)


def gate(*active: str) -> GateApplied:
    return GateApplied("q", active, (), 0.3, 0, 1, 1.0)


@given(streams)
@example([catalog(deferred=False), catalog(deferred=True)])
def test_the_pinned_tools_are_those_whose_binding_says_so(stream: list[Event]) -> None:
    state = fold(records(stream))
    assert state.pinned == tuple(tool.id for tool in state.with_binding(Binding.PINNED))


@settings(examples(share=0.5), suppress_health_check=list(HealthCheck))
@given(streams)
def test_a_stream_that_was_stored_and_read_folds_into_the_same_state(
    tmp_path: Path, stream: list[Event]
) -> None:
    session = f"s{next(_SESSIONS)}"
    written = records(stream, session)
    with SqliteStore(tmp_path / "t.db") as store:
        for record in written:
            store.append(record)
        read_back = store.read(session)
    assert read_back == written
    assert fold(read_back) == fold(written)


@given(streams)
@example([catalog(deferred=True), gate("a:one", "a:one")])
def test_load_order_holds_exactly_the_permitted_tools_that_are_loaded(stream: list[Event]) -> None:
    state = SessionState()
    for record in records(stream):
        state = apply(state, record)
        assert len(set(state.load_order)) == len(state.load_order)
        assert set(state.load_order) == {tool.id for tool in state.with_binding(Binding.LOADED)}
        assert set(state.load_order) <= set(state.tools)


@given(streams)
@example([catalog(deferred=False), gate("a:one")])
def test_a_pinned_tool_stays_pinned_until_the_catalog_is_built_again(stream: list[Event]) -> None:
    state = SessionState()
    for record in records(stream):
        pinned = {tool.id for tool in state.with_binding(Binding.PINNED)}
        state = apply(state, record)
        if not isinstance(record.event, CatalogBuilt):
            assert {tool.id for tool in state.with_binding(Binding.PINNED)} == pinned


@given(streams)
@example([catalog(deferred=True), gate("a:one")])
def test_tools_that_come_back_with_their_server_are_as_if_it_had_never_been_away(stream: list[Event]) -> None:
    before = fold(records(stream))
    entries = tuple(
        CatalogEntry(tool.id, tool.tokens, tool.binding is not Binding.PINNED)
        for tool in before.tools.values()
    )
    here = tuple(entry for entry in entries if not entry.id.startswith("a:"))
    away = tuple(entry.id for entry in entries if entry.id.startswith("a:"))
    there, gone = CatalogBuilt("", entries, "", 0, 0), CatalogBuilt("", here, "", 0, 0, held=away)
    stayed, returned = fold(records([*stream, there])), fold(records([*stream, gone, there]))
    assert returned.tools == stayed.tools
    assert returned.bound_ids == stayed.bound_ids
    held = fold(records([*stream, gone]))
    assert set(held.held) == set(away)
    assert not set(held.bound_ids) & set(away)
