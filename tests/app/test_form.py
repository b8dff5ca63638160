"""Parameters as fields of a form: every kind, and schemas that contradict themselves."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from fixtures.hostile import hostile_tools
from inspector.app.pages.tools.call_panel import form_fields
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
        ({"type": "array", "items": {"type": "string"}}, "json"),
        ({"type": "object"}, "json"),
        ({"type": ["string", "integer"]}, "json"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "integer"),
        ({}, "json"),
        (True, "json"),
    ],
)
def test_a_field_takes_what_the_schema_takes(schema: dict[str, Any], kind: str) -> None:
    assert _only(schema).kind == kind


def test_a_field_keeps_its_name_description_and_choices() -> None:
    field = _only({"enum": ["a", "b"], "description": "Which.", "default": "b"}, required=True)
    assert field == Field("a", "enum", True, "Which.", "b", ("a", "b"))


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
    assert len(form_fields({**outer, "$ref": 1, "properties": {"a": inner}})) == 1


def test_hostile_schemas_make_forms() -> None:
    for tool in hostile_tools():
        assert "choice" in {field.name for field in form_fields(tool["inputSchema"])}
