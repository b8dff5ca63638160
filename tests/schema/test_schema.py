from typing import Any

from hypothesis import given, strategies as st

from inspector.schema.schema import fields

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["$ref", "type", "properties", "enum", "anyOf", "required", "default", "items", "x"]
            )
            | st.text(max_size=4),
            inner,
            max_size=5,
        )
    ),
    max_leaves=30,
)


def only_field(schema: dict[str, Any], **root: Any) -> Any:
    return fields({"type": "object", "properties": {"field": schema}, **root})[0]


def test_fields_come_in_declaration_order_with_what_is_required() -> None:
    schema = {
        "type": "object",
        "properties": {"b": {"type": "string", "description": "B."}, "a": {"type": "integer", "default": 3}},
        "required": ["b"],
    }
    b, a = fields(schema)
    assert (b.name, b.type, b.required, b.description) == ("b", "string", True, "B.")
    assert (a.name, a.type, a.required, a.default) == ("a", "integer", False, 3)


def test_a_reference_is_followed_to_its_definition() -> None:
    field = only_field({"$ref": "#/$defs/Color"}, **{"$defs": {"Color": {"enum": ["red", "green"]}}})
    assert (field.type, field.choices) == ("enum", ("red", "green"))


def test_an_optional_field_of_pydantic_is_its_type_and_nullable() -> None:
    field = only_field({"anyOf": [{"type": "string"}, {"type": "null"}], "default": None})
    assert (field.type, field.nullable) == ("string", True)


def test_a_list_of_types_without_null_reads_as_alternatives() -> None:
    assert only_field({"type": ["string", "integer"]}).type == "string or integer"
    assert only_field({"type": ["string", "null"]}).type == "string"


def test_a_reference_to_itself_is_left_as_it_stands() -> None:
    field = only_field({"$ref": "#/$defs/A"}, **{"$defs": {"A": {"$ref": "#/$defs/A"}}})
    assert field.name == "field"


@given(st.dictionaries(st.sampled_from(["type", "properties", "required", "$ref", "$defs"]), json_values))
def test_no_schema_is_too_strange_to_read(schema: dict[str, Any]) -> None:
    assert all(isinstance(field.type, str) for field in fields(schema))


def test_an_index_of_any_number_of_digits_is_no_error() -> None:
    for digits in (3, 500, 5_000):
        schema = {"anyOf": [{}], "properties": {"a": {"$ref": "#/anyOf/" + "9" * digits}}}
        assert fields(schema)[0].type == "any"
