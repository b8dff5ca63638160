"""Streamed replies put together, however a provider splits them."""

import json
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from inspector.core.message import ToolCall
from inspector.loop.model.responses import Assembly

Piece = tuple[int | None, str | None, str | None, str | None]


def assembled(*pieces: Piece) -> tuple[ToolCall, ...]:
    assembly = Assembly()
    for index, call_id, name, arguments in pieces:
        function = SimpleNamespace(name=name, arguments=arguments)
        part: Any = SimpleNamespace(id=call_id, function=function)
        if index is not None:
            part.index = index
        delta = SimpleNamespace(content=None, tool_calls=[part])
        assembly.add(SimpleNamespace(choices=[SimpleNamespace(delta=delta, finish_reason=None)]))
    return assembly.tool_calls()


def told(calls: tuple[ToolCall, ...]) -> list[tuple[str, Any]]:
    return [(call.name, dict(call.arguments)) for call in calls]


TWO = [("a", {"x": 1}), ("b", {})]


@pytest.mark.parametrize(
    "pieces",
    [
        [(0, "1", "a", '{"x":'), (1, "2", "b", "{}"), (0, None, None, "1}")],
        [(None, "1", "a", '{"x":'), (None, None, None, "1}"), (None, "2", "b", "{}")],
        [(None, None, "a", '{"x":'), (None, None, None, "1}"), (None, None, "b", "")],
        [(0, "1", "a", '{"x":1}'), (0, "2", "b", "{}")],
        [(0, "1", "a", ""), (0, "", "", '{"x":1}'), (0, "2", "b", None)],
        [(0, "1", "a", '{"x":'), (0, "1", "a", "1}"), (1, "2", "b", "{}")],
        [(0, "1", "a", '{"x":'), (0, "made-up", None, "1}"), (1, "2", "b", "{}")],
    ],
)
def test_two_calls_are_told_apart(pieces: list[Piece]) -> None:
    assert told(assembled(*pieces)) == TWO


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=4), _VALUES, max_size=3), st.lists(st.integers(0, 60), max_size=6))
def test_arguments_survive_being_split_anywhere(arguments: dict[str, Any], cuts: list[int]) -> None:
    text = json.dumps(arguments)
    ends = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces: list[Piece] = [(0, "1", "a", "")]
    pieces += [(0, None, None, text[start:end]) for start, end in pairwise(ends)]
    (call,) = assembled(*pieces)
    assert (call.arguments, call.error) == (arguments, "")
