"""Events: one kind a type. Also the strategies that other tests make streams of events with."""

import json
import types
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from hypothesis import given, strategies as st
from msgspec import Struct

from inspector.core.events import EVENT_TYPES, Event, Record, SearchPerformed
from inspector.core.events.base import record_json
from inspector.core.ranking import SearchReport, SearchRequest
from inspector.schema.json_value import JsonObject

# Whatever servers, models and people may send: NUL and lone surrogates too.
texts = st.text(st.characters(exclude_categories=()), max_size=12)
floats = st.floats(allow_nan=False)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | floats | texts,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(texts | st.just("$number"), inner, max_size=3)
    ),
    max_leaves=6,
)
json_objects = st.dictionaries(texts, json_values, max_size=3)
_SCALARS: dict[Any, st.SearchStrategy[Any]] = {
    str: texts,
    int: st.integers(-(2**63), 2**63 - 1),
    float: floats,
    bool: st.booleans(),
    type(None): st.none(),
    JsonObject: json_objects,
}


def instances(cls: type[Struct]) -> st.SearchStrategy[Any]:
    """Any value of a Struct, made from its annotations; a new kind of annotation fails loudly."""
    hints = get_type_hints(cls)
    return st.builds(cls, **{name: _values(hints[name]) for name in cls.__struct_fields__})


def _values(hint: Any) -> st.SearchStrategy[Any]:
    if hint in _SCALARS:
        return _SCALARS[hint]
    origin, args = get_origin(hint), get_args(hint)
    if origin is Literal:
        return st.sampled_from(args)
    if origin is tuple:
        return st.lists(_values(args[0]), max_size=2).map(tuple)
    if origin in (Union, types.UnionType):
        return st.one_of([_values(arg) for arg in args])
    if origin is Mapping:
        return st.dictionaries(_values(args[0]), _values(args[1]), max_size=2)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return st.sampled_from(hint)
    if isinstance(hint, type) and issubclass(hint, Struct):
        return instances(hint)
    raise NotImplementedError(f"no strategy for {hint}")


events_by_kind: dict[str, st.SearchStrategy[Event]] = {
    kind: instances(cls) for kind, cls in EVENT_TYPES.items()
}
events: st.SearchStrategy[Event] = st.one_of(list(events_by_kind.values()))


def records(stream: list[Event], session: str = "s") -> list[Record]:
    """The events as a session's stream, one second apart."""
    return [Record(session, seq, float(seq), event) for seq, event in enumerate(stream, start=1)]


def json_lines(recorded: Iterable[Record]) -> str:
    """The records as `toolsight sessions show --as events --json` has them, a line each."""
    return "".join(f"{json.dumps(record_json(record), default=str)}\n" for record in recorded)


def test_every_event_type_can_be_stored_under_a_kind_of_its_own() -> None:
    subclasses = {cls for cls in Event.__subclasses__() if "__slots__" in vars(cls)}
    assert set(EVENT_TYPES.values()) == subclasses
    assert all(kind and cls.kind == kind for kind, cls in EVENT_TYPES.items())


def test_every_event_type_has_words_of_its_own() -> None:
    assert [cls for cls in EVENT_TYPES.values() if cls.summary is Event.summary] == []


@given(events)
def test_any_event_is_told_in_text(event: Event) -> None:
    assert isinstance(event.summary(), str)


def test_a_search_without_arguments_is_told_with_what_it_lacks() -> None:
    report = SearchReport(SearchRequest(), "hybrid", error="Provide a query.")
    assert SearchPerformed(report, "").summary() == "(no arguments) -> Provide a query."
