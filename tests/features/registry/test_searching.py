"""Vectors and the nearest tools in every registry, and that nobody finds what they may not see."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from inspector.core.access import EVERYTHING, Sight
from inspector.core.error import StoreError
from inspector.core.tool import Tool
from inspector.features.registry.acceptance import embedded_text
from inspector.features.registry.tool_registry import ToolRegistry
from inspector.search.index.embedded_text import key_of
from tests.features.registry.conftest import OPENERS
from tests.support.registry import MODEL, ODD, keep_vector, sight_of, sights, tool, tools, unit

A, B, C = tool("s", "a", "One."), tool("s", "b", "Two."), tool("t", "c", "Three.")
QUERY = unit(1, 0, 0)


def found(registry: ToolRegistry, count: int = 10, sight: Sight = EVERYTHING, **how: float) -> list[str]:
    return [one.found.tool.id for one in registry.nearest(MODEL, QUERY, count, sight, **how)]


@pytest.fixture
def filled(registry: ToolRegistry) -> ToolRegistry:
    """Three tools, the nearest first: s:b, t:c, s:a."""
    registry.sync("o", [A, B, C], at=1.0)
    for one, values in ((A, (0, 1, 0)), (B, (1, 0.1, 0)), (C, (1, 1, 0))):
        keep_vector(registry, one, *values)
    return registry


def test_the_nearest_tools_come_first_with_their_cosine(filled: ToolRegistry) -> None:
    near = filled.nearest(MODEL, QUERY, 2)
    assert [(one.found.tool, one.found.origin) for one in near] == [(B, "o"), (C, "o")]
    assert [one.similarity for one in near] == pytest.approx([0.99503719, 0.70710678], abs=1e-6)
    assert found(filled) == ["s:b", "t:c", "s:a"]


def test_tools_that_are_equally_near_come_in_order_of_their_ids(registry: ToolRegistry) -> None:
    same = [tool("s", name, "Same.") for name in ("z", "b", "é", "a")]
    registry.sync("o", same, at=1.0)
    for one in same:
        keep_vector(registry, one, 1, 1, 0)
    assert found(registry, 3) == ["s:a", "s:b", "s:z"]


def test_what_has_no_vector_of_the_model_is_not_found(filled: ToolRegistry) -> None:
    assert filled.nearest("other", QUERY, 3) == ()
    filled.sync("p", [tool("s", "new", "New.")], at=2.0)
    assert "s:new" not in found(filled)
    assert (filled.count(), filled.embedded(MODEL), filled.embedded("other")) == (4, 3, 0)


def test_a_changed_description_needs_a_new_vector(filled: ToolRegistry) -> None:
    filled.sync("o", [A, replace(B, description="Other."), C], at=2.0)
    assert found(filled) == ["t:c", "s:a"]


def test_a_change_of_parameters_alone_keeps_the_vector(filled: ToolRegistry) -> None:
    filled.sync("o", [A, replace(B, input_schema={"type": "object", "required": []}), C], at=2.0)
    assert found(filled, 1) == ["s:b"]
    assert filled.nearest(MODEL, QUERY, 1)[0].found.version == 2


def test_equal_texts_are_embedded_once(registry: ToolRegistry) -> None:
    one, other = tool("s", "same", "Text."), tool("t", "same", "Text.")
    registry.sync("o", [one, other, A], at=1.0)
    texts = {embedded_text(one), embedded_text(A)}
    assert registry.unembedded(MODEL, 10) == {key_of(text): text for text in texts}
    assert len(registry.unembedded(MODEL, 1)) == 1
    keep_vector(registry, one, 1, 0, 0)
    assert set(registry.unembedded(MODEL, 10).values()) == {embedded_text(A)}
    assert found(registry) == ["s:same", "t:same"]


@pytest.mark.parametrize(
    "vector",
    [b"", b"\0\0\0", b"12345", b"\0\0\xc0\x7f", b"\0\0\x80\x7f", bytes(4 * 16_001)],
    ids=["empty", "cut", "odd", "not a number", "infinite", "too long"],
)
def test_a_vector_that_cannot_be_compared_is_refused(registry: ToolRegistry, vector: bytes) -> None:
    registry.sync("o", [A], at=1.0)
    with pytest.raises(StoreError) as told:
        registry.keep_vectors(MODEL, {key_of(embedded_text(A)): vector})
    assert told.value.hint
    assert registry.embedded(MODEL) == 0
    assert len(registry.unembedded(MODEL, 9)) == 1


def test_vectors_of_different_lengths_are_refused_together(registry: ToolRegistry) -> None:
    registry.sync("o", [A, B], at=1.0)
    keys = [key_of(embedded_text(one)) for one in (A, B)]
    with pytest.raises(StoreError):
        registry.keep_vectors(MODEL, {keys[0]: bytes(8), keys[1]: bytes(12)})
    registry.keep_vectors(MODEL, {})
    assert registry.embedded(MODEL) == 0


@pytest.mark.parametrize("query", [[], [math.nan, 0.0], [math.inf], [1e39], [0.0] * 16_001])
def test_a_query_that_nothing_can_be_near_to_is_refused(filled: ToolRegistry, query: list[float]) -> None:
    with pytest.raises(StoreError):
        filled.nearest(MODEL, query, 3)


def test_a_vector_of_another_length_takes_the_place_of_all_of_its_model(filled: ToolRegistry) -> None:
    keep_vector(filled, A, 0, 1, 0, model="other")
    keep_vector(filled, B, 1, 0)
    assert (filled.embedded(MODEL), filled.embedded("other")) == (1, 1)
    assert set(filled.unembedded(MODEL, 9).values()) == {embedded_text(A), embedded_text(C)}
    assert [one.found.tool for one in filled.nearest(MODEL, unit(1, 0), 9)] == [B]
    assert found(filled) == []


def test_a_tool_that_is_not_permitted_is_never_found(filled: ToolRegistry) -> None:
    own = sight_of("s:*")
    assert found(filled, 2, own) == ["s:b", "s:a"]
    assert [one.tool for one in filled.tools(own)] == [A, B]
    assert (filled.count(own), filled.embedded(MODEL, own)) == (2, 2)
    assert filled.versions(C.id, own) == ()
    assert {one.tool.id for one in filled.history(own)} == {A.id, B.id}
    assert (filled.servers(own), filled.origins(own)) == ({"s": 2}, {"o": 2})
    assert filled.origins(sight_of("x:*")) == {}
    assert found(filled, 2, sight_of()) == []


def test_a_character_of_a_pattern_matches_itself_alone(registry: ToolRegistry) -> None:
    """But for `*` and `?`, which match any."""
    given_tools = [tool("s", f"x{one}y") for one in ODD]
    registry.sync("o", given_tools, at=1.0)
    for odd in ODD:
        expected = {one.id for one in given_tools if odd in "*?" or one.name == f"x{odd}y"}
        for pattern in (f"s:x{odd}*", f"?:x{odd}y", f"*{odd}y"):
            assert {one.tool.id for one in registry.tools(sight_of(pattern))} == expected, pattern


def test_more_patterns_than_an_expression_may_be_deep_are_fine(filled: ToolRegistry) -> None:
    many = sight_of(*(f"x{number}:*" for number in range(3000)), "s:b*", *(f"y:{n}" for n in range(3000)))
    assert found(filled, 3, many) == ["s:b"]
    assert filled.count(many) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", OPENERS)
@given(given_tools=st.lists(tools, max_size=12), sight=sights())
def test_a_filtered_registry_answers_as_one_of_permitted_tools_alone(
    name: str, given_tools: list[Tool], sight: Sight
) -> None:
    """Every answer equals that of the whole registry, with the forbidden tools taken out by `permits`."""
    with OPENERS[name]() as registry:
        registry.sync("o", given_tools, at=1.0)
        by_text = sorted({embedded_text(one) for one in given_tools})
        for place, text in enumerate(by_text):
            vector = np.array(unit(place % 3, 1, place % 2), "<f4").tobytes()
            registry.keep_vectors(MODEL, {key_of(text): vector})
        seen = [one for one in registry.tools() if sight.permits(one.tool.id)]
        assert list(registry.tools(sight)) == seen
        assert registry.count(sight) == registry.embedded(MODEL, sight) == len(seen)
        near = [one for one in registry.nearest(MODEL, QUERY, 99) if sight.permits(one.found.tool.id)]
        assert registry.nearest(MODEL, QUERY, 3, sight) == tuple(near[:3])
