"""Values and arguments against a JSON Schema."""

import time
from typing import Any

import pytest
from hypothesis import given, strategies as st

from inspector.schema.narrowing import argument_mapping, mapped
from inspector.schema.schema import Checked, checked, checked_output, schema_problem
from tests.core.test_event import json_values, texts

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def deep(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(levels):
        schema = {"properties": {"a": schema}}
    return schema


def doubling(levels: int) -> dict[str, Any]:
    """A schema that is looked at twice on each level."""
    parts = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(levels)}
    return {"$ref": "#/$defs/d0", "$defs": {**parts, f"d{levels}": {}}}


def test_what_fits_has_no_problem_and_what_does_not_is_told_with_its_place() -> None:
    assert schema_problem(CITY, {"city": "Oslo"}) == ""
    assert schema_problem(CITY, {"city": 3}) == "$.city: 3 is not of type 'string'"
    assert "required" in schema_problem(CITY, {})


def test_references_within_the_schema_are_followed() -> None:
    schema = {"properties": {"n": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"maximum": 3}}}
    assert schema_problem(schema, {"n": 3}) == ""
    assert schema_problem(schema, {"n": 4})


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"$ref": "http://127.0.0.1:9/never-fetched"}}},
        {"properties": {"a": {"$ref": "file:///etc/passwd"}}},
        {"properties": {"a": {"$ref": "#/nowhere"}}},
        {"properties": {"a": {"pattern": "(a+)+$"}}},
        {"patternProperties": {"(a+)+$": {}}},
        {"type": "nonsense"},
        {"properties": 3},
        {"properties": {"a": {"$ref": "#/properties/a"}}},
        {"properties": {"a": {"multipleOf": 0}}},
        {"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}] * 8}}},
        {"properties": {"a": {"$ref": "#"}}},
        deep(3_000),
        doubling(40),
        {"allOf": [{"minLength": 1}] * 10_000},
    ],
)
def test_a_schema_that_cannot_be_checked_accepts_nothing_and_takes_no_time(schema: dict[str, Any]) -> None:
    began = time.process_time()
    assert schema_problem(schema, {"a": "a" * 40 + "!"})
    assert time.process_time() - began < 2


def test_a_parameter_may_be_called_pattern() -> None:
    schema = {"type": "object", "properties": {"pattern": {"type": "string"}}}
    assert schema_problem(schema, {"pattern": "*.md"}) == ""
    assert schema_problem({"properties": {"a": {"pattern": "x"}}}, {"a": "x"})


COUNT = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}


def test_structured_content_is_checked_with_its_errors_by_path() -> None:
    schema = {"type": "object", "properties": {"rows": {"type": "array", "items": COUNT}}}
    assert checked(schema, {"rows": [{"count": 1}]}) == Checked(True)
    wrong = checked(schema, {"rows": [{"count": "1"}, {}, {"count": 2}]})
    assert wrong.fits is False
    assert [reason.partition(":")[0] for reason in wrong.reasons] == ["$.rows[0].count", "$.rows[1]"]
    assert len(checked(schema, {"rows": [{}] * 9}).reasons) == 3


def test_a_tool_with_an_output_schema_has_to_return_structured_content() -> None:
    assert checked_output(None, None) is checked_output(None, {"a": 1}) is None
    missing = checked_output(COUNT, None)
    assert missing is not None
    assert missing.fits is False
    assert "no structured content" in missing.reasons[0]


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"properties": {"a": {"pattern": "(a+)+$"}}}, {"a": "a" * 40 + "!"}),
        ({}, {"a": "a" * 200_000}),
        ({"properties": {"a": {"uniqueItems": True}}}, {"a": [{"b": number} for number in range(2_000)]}),
    ],
)
def test_a_result_that_would_take_long_is_not_checked(schema: dict[str, Any], value: Any) -> None:
    began = time.process_time()
    unchecked = checked(schema, value)
    assert unchecked.fits is None
    assert unchecked.reasons
    assert time.process_time() - began < 2


def schema(*required: str, optional: tuple[str, ...] = (), kind: str = "string") -> dict[str, Any]:
    names = (*required, *optional)
    return {
        "type": "object",
        "properties": {name: {"type": kind} for name in names},
        "required": list(required),
    }


def test_equal_names_fit_and_others_by_case_and_separators_alone() -> None:
    fits = argument_mapping(
        {"city": "Oslo", "dayCount": 2}, schema("city", "dayCount"), schema("city", "day_count")
    )
    assert fits == {"city": "city", "dayCount": "day_count"}
    assert mapped({"city": "Oslo", "dayCount": 2}, fits) == {"city": "Oslo", "day_count": 2}


def test_the_only_required_parameter_takes_the_argument_that_is_left() -> None:
    assert argument_mapping({"q": "x"}, schema("q"), schema("query", optional=("limit",))) == {"q": "query"}


def test_what_is_left_or_required_besides_is_neither_guessed_nor_made_up() -> None:
    assert argument_mapping({"a": 1, "b": 2}, schema("a", "b"), schema("c")) is None
    assert argument_mapping({"a": 1}, schema("a"), schema("c", "d")) is None
    assert argument_mapping({"city": "Oslo"}, schema("city"), schema("city", "country")) is None


@given(st.dictionaries(texts, json_values, max_size=3), json_values, json_values)
def test_whatever_the_schemas_are_each_argument_has_one_place(
    arguments: Any, source: Any, target: Any
) -> None:
    fits = argument_mapping(arguments, source, target)
    if fits is not None:
        assert fits.keys() == arguments.keys()
        assert len(set(fits.values())) == len(fits)
