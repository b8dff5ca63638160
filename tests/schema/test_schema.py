"""Schemas read as fields, and in the form and with the features that providers take."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from inspector.loop.model.litellm import LitellmModel
from inspector.schema.schema import PLAIN, ModelFeatures, fields, schema_for
from tests.support.any_json import SCHEMA_KEYS, any_json


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


def test_an_optional_field_of_pydantic_is_its_type() -> None:
    field = only_field({"anyOf": [{"type": "string"}, {"type": "null"}], "default": None})
    assert field.type == "string"


@given(
    st.dictionaries(
        st.sampled_from(["type", "properties", "required", "$ref", "$defs"]),
        any_json(*SCHEMA_KEYS, leaves=30),
    )
)
def test_no_schema_is_too_strange_to_read(schema: dict[str, Any]) -> None:
    assert all(isinstance(field.type, str) for field in fields(schema))


def test_an_index_of_any_number_of_digits_is_no_error() -> None:
    for digits in (3, 500, 5_000):
        schema = {"anyOf": [{}], "properties": {"a": {"$ref": "#/anyOf/" + "9" * digits}}}
        assert fields(schema)[0].type == "any"


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


_KEYS = st.sampled_from(["type", "properties", "$defs", "definitions", "components", "$ref", "title"])


@given(st.dictionaries(_KEYS, any_json(), max_size=5))
def test_a_schema_that_was_brought_into_form_is_in_form(schema: dict[str, Any]) -> None:
    once = schema_for("anthropic", schema)
    assert schema_for("anthropic", once) == once
    assert list(schema_for("anthropic", once)) == list(once)


CLAUDE = ModelFeatures(True, "tool_reference", "anthropic")


@pytest.mark.parametrize(
    ("name", "features"),
    [
        ("anthropic/claude-sonnet-4-5", CLAUDE),
        ("claude-haiku-4-5", CLAUDE),
        ("anthropic/claude-opus-4-5-20251101", CLAUDE),
        ("anthropic/claude-opus-4-1", ModelFeatures(True, "", "anthropic")),
        ("anthropic/claude-of-tomorrow", ModelFeatures(True, "", "anthropic")),
        ("openai/gpt-5.4", ModelFeatures(deferral="tool_search")),
        ("gpt-5.4-mini", ModelFeatures(deferral="tool_search")),
        ("openai/gpt-5.2", PLAIN),
        ("openai/gpt-5", PLAIN),
        ("openrouter/anthropic/claude-sonnet-4.5", PLAIN),
        ("azure/gpt-5.4", PLAIN),
        ("ollama/claude-sonnet-4-5", PLAIN),
        ("ollama/llama3", PLAIN),
    ],
)
def test_marks_and_deferral_are_for_models_that_take_them(name: str, features: ModelFeatures) -> None:
    assert LitellmModel(name).features == features
