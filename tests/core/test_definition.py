"""A definition's hash, and what differs between two definitions, as a person reads it."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import example, given, strategies as st
from msgspec.structs import replace

from inspector.core.definition import DefinitionChange, definition_changes, definition_hash
from inspector.core.tool import SEARCH_HINT, Annotations, Tool
from tests.core.test_event import instances, json_objects, texts

TOOL = Tool(
    "shop",
    "refund",
    "Refund an order. Ask the customer first.",
    {"type": "object", "properties": {"amount": {"type": "number", "maximum": 50}}},
    Annotations(read_only=False),
)
CHANGED = {
    "description": replace(TOOL, description="Refund an order. Do not ask."),
    "parameters": replace(TOOL, input_schema={"type": "object"}),
    "result": replace(TOOL, output_schema={}),
    "annotations": replace(TOOL, annotations=Annotations(read_only=True)),
    "title": replace(TOOL, title="Refund"),
    "_meta": replace(TOOL, meta={SEARCH_HINT: "money back"}),
}
definitions = st.builds(
    replace,
    st.just(TOOL),
    title=texts,
    description=texts,
    input_schema=json_objects,
    output_schema=st.none() | json_objects,
    annotations=instances(Annotations),
    meta=json_objects,
)


def _reordered(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _reordered(item) for key, item in reversed(list(value.items()))}
    return [_reordered(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("part", CHANGED)
def test_each_part_of_a_definition_is_in_its_hash_and_named_when_it_changes(part: str) -> None:
    assert definition_hash(CHANGED[part]) != definition_hash(TOOL)
    assert [change.part for change in definition_changes(TOOL, CHANGED[part])] == [part]


@given(definitions, definitions)
@example(replace(TOOL, input_schema={"a.b": 1}), replace(TOOL, input_schema={"a": {"b": 1}}))
@example(replace(TOOL, input_schema={"a": 1}), replace(TOOL, input_schema={"a": True}))
@example(replace(TOOL, input_schema={}), replace(TOOL, input_schema={"(all)": {}}))
@example(replace(TOOL, description="a. b"), replace(TOOL, description="a.\nb"))
def test_whatever_changes_the_hash_is_shown(before: Tool, after: Tool) -> None:
    differs = definition_hash(before) != definition_hash(after)
    assert bool(definition_changes(before, after)) == differs


def test_a_tool_that_tells_clients_nothing_keeps_the_hash_it_had() -> None:
    assert definition_hash(TOOL).startswith("45ee2860991a")


def test_a_schema_is_compared_by_the_path_of_each_value() -> None:
    after = replace(
        TOOL, input_schema={"type": "object", "properties": {"amount": {"type": "number", "maximum": 500}}}
    )
    (change,) = definition_changes(TOOL, after)
    assert change == DefinitionChange(
        "parameters", (("properties.amount.maximum: 50", "properties.amount.maximum: 500"),)
    )


def test_a_difference_at_the_end_of_a_long_text_is_seen() -> None:
    long = "word " * 2000
    before, after = replace(TOOL, description=f"{long}safe"), replace(TOOL, description=f"{long}evil")
    ((gone, new),) = definition_changes(before, after)[0].lines
    assert gone.endswith("safe")
    assert new.endswith("evil")
    assert len(new) < 400


def test_what_is_cut_from_a_long_new_line_is_counted() -> None:
    ((_, new),) = definition_changes(TOOL, replace(TOOL, title="x" * 1000))[0].lines
    assert new.endswith("… (+660 characters)")


def test_a_text_of_very_many_sentences_is_still_compared() -> None:
    before = replace(TOOL, description="\n".join(f"line {n}" for n in range(5000)))
    after = replace(TOOL, description="\n".join(f"row {n}" for n in range(5000)))
    (change,) = definition_changes(before, after)
    assert change.lines[0] == ("line 0", "row 0")
    assert len(change.lines) == 5000
