"""Structured results beside their schemas: what is told is wrong by jsonschema, too."""

from typing import Any

import pytest
from hypothesis import given, strategies as st
from jsonschema import Draft202012Validator

from inspector.schema.check import result_flaw
from tests.core.test_schema_change import JSON, SCHEMAS
from tests.support.examples import examples

COUNT = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}
DEFINITIONS = {"A": {"type": "string"}, "B": {"type": "number"}}


@pytest.mark.parametrize(
    ("value", "flaw"),
    [
        ({"count": 3}, ""),
        ({"count": 3.0}, ""),
        ({"count": "many"}, 'count is "many", not integer'),
        ({}, "count is missing"),
        ([], "it is [], not object"),
    ],
)
def test_the_first_flaw_is_told_by_its_place(value: Any, flaw: str) -> None:
    assert result_flaw(COUNT, value) == flaw


def test_a_flaw_deep_in_a_list_is_told() -> None:
    schema = {"type": "object", "properties": {"rows": {"type": "array", "items": COUNT}}}
    assert (
        result_flaw(schema, {"rows": [{"count": 1}, {"count": None}]}) == "rows[1].count is null, not integer"
    )


def test_a_tool_without_a_schema_has_no_flaw() -> None:
    assert result_flaw(None, {"count": "many"}) == ""


@given(SCHEMAS, st.dictionaries(st.sampled_from(["a", "b", "c"]), JSON, max_size=3) | JSON)
@examples(share=10)
def test_what_is_called_a_flaw_is_one(schema: dict[str, Any], value: Any) -> None:
    whole = {**schema, "$defs": DEFINITIONS}
    if result_flaw(whole, value):
        assert not Draft202012Validator(whole).is_valid(value)
