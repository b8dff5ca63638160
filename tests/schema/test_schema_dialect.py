"""Schemas in the form in which Anthropic gets them."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from inspector.schema.dialect import schema_for

TEXT = {"type": "string"}


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        ({}, {"type": "object", "properties": {}}),
        ({"type": "object"}, {"type": "object", "properties": {}}),
        (
            {"$schema": "x", "title": "T", "type": "object", "properties": {"a": TEXT}, "required": ["a"]},
            {"type": "object", "properties": {"a": TEXT}, "required": ["a"]},
        ),
        (
            {"type": "object", "properties": {"a": {"$ref": "#/definitions/A"}}, "definitions": {"A": TEXT}},
            {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": TEXT}},
        ),
        (
            {
                "type": "object",
                "properties": {"a": {"$ref": "#/components/schemas/A"}},
                "components": {"schemas": {"A": TEXT}},
            },
            {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": TEXT}},
        ),
        ({"type": "object", "properties": {}, "definitions": 3}, {"type": "object", "properties": {}}),
    ],
)
def test_anthropic_gets_few_keys_and_references_that_it_finds(schema: Any, sent: Any) -> None:
    assert schema_for("anthropic", schema) == sent
    assert schema_for("", schema) == schema


def test_a_text_that_looks_like_a_reference_stays() -> None:
    told = {"description": 'say "$ref":"#/definitions/A"'}
    schema = {"type": "object", "properties": {"a": told}, "definitions": {"A": TEXT}}
    assert schema_for("anthropic", schema)["properties"] == {"a": told}


_VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
_KEYS = st.sampled_from(["type", "properties", "$defs", "definitions", "components", "$ref", "title"])


@given(st.dictionaries(_KEYS, _VALUES, max_size=5))
def test_a_schema_that_was_brought_into_form_is_in_form(schema: dict[str, Any]) -> None:
    once = schema_for("anthropic", schema)
    assert schema_for("anthropic", once) == once
    assert list(schema_for("anthropic", once)) == list(once)
