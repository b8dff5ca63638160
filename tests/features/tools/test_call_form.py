"""Parameters as fields of a form: every kind, and schemas that contradict themselves."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from inspector.features.tools.call_form import CallForm, form_fields
from widgets import NOTHING, Field


def _only(schema: dict[str, Any], *, required: bool = False) -> Field:
    root = {"type": "object", "properties": {"a": schema}, "required": ["a"] if required else []}
    (field,) = form_fields(root)
    return field


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"type": "string"}, "string"),
        ({"type": "integer"}, "integer"),
        ({"type": "number"}, "number"),
        ({"type": "boolean"}, "boolean"),
        ({"enum": ["a", 1]}, "enum"),
        ({"enum": []}, "json"),
        ({"type": "array", "items": {"type": "string"}}, "lines"),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, "many"),
        ({"type": "array", "items": {"type": "object"}}, "json"),
        ({"type": "object"}, "json"),
        ({"type": ["string", "integer"]}, "json"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "integer"),
        ({}, "json"),
        (True, "json"),
    ],
)
def test_a_field_takes_what_the_schema_takes(schema: dict[str, Any], kind: str) -> None:
    assert _only(schema).kind == kind


@pytest.mark.parametrize(
    ("schema", "value", "problem"),
    [
        ({"type": "integer", "minimum": 1}, 0, "0 is less than the minimum of 1"),
        ({"type": "string", "maxLength": 2}, "ab", ""),
        (
            {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}},
            [{"name": 3}],
            "[0].name: 3 is not of type 'string'",
        ),
        ({"$ref": "#/$defs/of", "$defs": {"of": {"type": "string", "pattern": "(a+)+$"}}}, "aaaa", ""),
    ],
)
def test_a_field_says_what_its_schema_objects_to_and_runs_no_expression(
    schema: dict[str, Any], value: object, problem: str
) -> None:
    assert _only(schema).check(value) == problem


@pytest.mark.parametrize(
    ("format_", "example"),
    [("date-time", "a date and time such as 2026-07-28T09:30:00Z"), ("ipv9", ""), (["date"], "")],
)
def test_a_known_format_has_an_example(format_: object, example: str) -> None:
    assert _only({"type": "string", "format": format_}).example == example


@pytest.mark.parametrize(
    ("schema", "default"),
    [
        ({"type": "integer", "default": 3}, 3),
        ({"type": "integer", "default": "three"}, NOTHING),
        ({"type": "integer", "default": True}, NOTHING),
        ({"type": "number", "default": 2}, 2),
        ({"type": "boolean", "default": False}, False),
        ({"type": "string", "default": ["a"]}, NOTHING),
        ({"enum": ["a"], "default": "z"}, NOTHING),
        ({"type": "array", "default": []}, []),
        ({"type": "string", "default": None}, NOTHING),
    ],
)
def test_a_default_that_does_not_fit_is_left_out(schema: dict[str, Any], default: object) -> None:
    assert _only(schema).default == default


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)
schemas = st.dictionaries(
    st.sampled_from(["type", "properties", "required", "enum", "default", "$ref", "anyOf"]), json_values
)


@given(schemas, schemas)
def test_any_schema_makes_a_form(outer: dict[str, Any], inner: dict[str, Any]) -> None:
    form_fields(outer)
    assert form_fields({**outer, "$ref": 1, "properties": {"a": inner}})


NESTED: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "where": {
            "type": "object",
            "required": ["lat"],
            "properties": {
                "lat": {"type": "number"},
                "city": {"type": "string"},
                "at": {"$ref": "#/$defs/at"},
            },
        },
        "tags": {"type": "array", "items": {"type": "string"}},
        "open": {"type": "object", "properties": {"a": {}}, "additionalProperties": {"type": "string"}},
    },
    "required": ["where", "city"],
    "$defs": {"at": {"type": "object", "properties": {"day": {"enum": ["mon", "tue"]}}}},
}


def test_an_object_is_a_field_for_each_part_and_comes_back_whole() -> None:
    form = CallForm.of(NESTED)
    assert [(field.name, field.kind, field.required) for field in form.fields] == [
        ("city", "string", True),
        ("where › lat", "number", True),
        ("where › city", "string", False),
        ("where › at › day", "enum", False),
        ("tags", "lines", False),
        ("open", "json", False),
    ]
    values = {"city": "Oslo", "where › lat": 1.5, "where › at › day": "mon"}
    assert form.arguments(values) == {"city": "Oslo", "where": {"lat": 1.5, "at": {"day": "mon"}}}


@pytest.mark.parametrize(
    ("arguments", "fits"),
    [
        ({"city": "Oslo", "where": {"lat": 1, "at": {"day": "tue"}}, "tags": ["a", "b\nc"]}, True),
        ({"open": {"a": 1, "b": "c"}}, True),
        ({}, True),
        ({"city": 1}, False),
        ({"where": {"lat": 1, "unknown": 2}}, False),
        ({"where": {}}, False),
        ({"where": {"at": {"day": "wed"}}}, False),
    ],
)
def test_arguments_that_the_fields_cannot_hold_are_known(arguments: dict[str, Any], fits: bool) -> None:
    assert CallForm.of(NESTED, arguments).holds(arguments) is fits


def test_what_is_typed_as_json_is_shown_in_its_shape() -> None:
    entity = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "tags": {"type": "array", "items": {}},
            "kind": {"enum": ["a", 1]},
            "size": {"enum": ["x" * 99, *range(20)]},
        },
    }
    lists = {"type": "array", "items": {"$ref": "#/$defs/entity"}, "description": "What to add."}
    schema = {"type": "object", "properties": {"entities": lists, "any": {}}, "$defs": {"entity": entity}}
    shown = [field.description for field in form_fields(schema)]
    sizes = f'"{"x" * 39} | 0 | 1 | 2 | 3 | 4 | 5 | 6 | …'
    parts = f'{{"name": string, "tags": [any], "kind": "a" | 1, "size": {sizes}}}'
    assert shown == [f"What to add.   [{parts}]", 'Any JSON: true, 7, "text".']


def test_a_schema_of_very_many_parts_has_one_field_for_each_parameter() -> None:
    part = {"type": "object", "properties": {str(number): {} for number in range(60)}}
    wide = {"type": "object", "properties": {str(number): part for number in range(60)}}
    assert len(form_fields({"properties": {"a": wide, "b": {"type": "string"}}})) == 2
