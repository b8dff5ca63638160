"""What is found between two schemas, against a program that decides the same by sets (jsonsubschema)."""

from itertools import product
from typing import Any

from hypothesis import given, strategies as st
from jsonsubschema import isSubschema

from inspector.schema.narrowing import narrowings
from tests.support.examples import examples

NAMES = st.sampled_from(["a", "b", "c"])
TEXT, NUMBER = {"type": "string"}, {"type": "number"}
# Without unions: between those more is found than has to be.
VALUES: tuple[dict[str, Any], ...] = (
    *(TEXT, NUMBER, {"type": "integer"}, {"type": "boolean"}, {}),
    *({"type": "string", "minLength": least} for least in (1, 2)),
    *({"type": "string", "maxLength": most} for most in (1, 3)),
    *({"type": "integer", "minimum": least, "maximum": 3} for least in (0, 1, 3)),
    *({"type": "number", "maximum": most} for most in (0, 2)),
    *({"enum": values} for values in (["x"], ["x", "y"], ["x", 1])),
)


@st.composite
def objects(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> dict[str, Any]:
    properties = draw(st.dictionaries(NAMES, inner, max_size=3))
    required = [name for name in properties if draw(st.booleans())]
    return {"type": "object", "properties": properties} | ({"required": required} if required else {})


SCHEMAS = st.recursive(
    st.sampled_from(VALUES),
    lambda inner: objects(inner) | st.builds(lambda items: {"type": "array", "items": items}, inner),
    max_leaves=4,
)


def as_written(schema: dict[str, Any]) -> dict[str, Any]:
    """What a caller writes by a schema: it adds no names of its own."""
    if "items" in schema:
        return {**schema, "items": as_written(schema["items"])}
    if "properties" not in schema:
        return schema
    properties = {name: as_written(inner) for name, inner in schema["properties"].items()}
    return {**schema, "properties": properties, "additionalProperties": False}


def agree(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Whether both find less taken; what is found may be more where values are listed before."""
    # A name that is not declared any more is told, though it may still be written.
    is_narrower = any(one.kind != "removed" for one in narrowings(before, after))
    is_less = not isSubschema(as_written(before), after)
    return is_narrower == is_less or (is_narrower and "enum" in str(before))


def test_a_value_is_narrower_exactly_where_it_is_less() -> None:
    assert [pair for pair in product(VALUES, repeat=2) if not agree(*pair)] == []


@given(objects(SCHEMAS), st.data())
@examples(share=4)
def test_a_schema_is_narrower_exactly_where_it_does_not_take_all_that_was_written_by_the_other(
    before: dict[str, Any], data: st.DataObject
) -> None:
    changed = {**before["properties"], data.draw(NAMES): data.draw(SCHEMAS)}
    after = data.draw(st.one_of(st.just({**before, "properties": changed}), objects(SCHEMAS)))
    assert agree(before, after)
