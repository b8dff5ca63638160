"""Definitions as TypeScript: what each part of a schema becomes, and that nothing hostile breaks out."""

import re
from typing import Any

import pytest
from hypothesis import given, strategies as st

from inspector.core.tool import Tool
from inspector.tokens.declaration import declaration

NODE = {
    "$defs": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}},
    "properties": {"first": {"$ref": "#/$defs/Node"}},
}
PROPERTIES = [
    ({"type": "string"}, "string"),
    ({"type": "integer"}, "number"),
    ({"type": ["string", "null"]}, "string | null"),
    ({"type": "string", "nullable": True}, "string | null"),
    ({"enum": ["a", 2, None]}, '"a" | 2 | null'),
    ({"const": "x"}, '"x"'),
    ({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "number"}}]}, "string | number[]"),
    ({"oneOf": [{"type": "boolean"}, {"type": "null"}]}, "boolean | null"),
    ({"allOf": [{"properties": {"a": {}}}, {"anyOf": [{"const": 1}, {"const": 2}]}]}, None),
    ({"type": "array", "items": {"enum": ["a", "b"]}}, 'Array<"a" | "b">'),
    ({"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}]}, "[string, number]"),
    ({"type": "object", "additionalProperties": {"type": "number"}}, "Record<string, number>"),
    ({"type": "object"}, "Record<string, unknown>"),
    ({"type": "object", "additionalProperties": False}, "{}"),
    ({"$ref": "#/nowhere"}, "unknown"),
    ({"type": "made up"}, "unknown"),
    (True, "unknown"),
    (False, "never"),
]


def declared(schema: Any, output: Any = None, description: str = "", name: str = "do") -> str:
    return declaration(Tool("s", name, description, {"type": "object", **schema}, output_schema=output))


@pytest.mark.parametrize(("schema", "expected"), PROPERTIES)
def test_a_schema_becomes_its_type(schema: Any, expected: str | None) -> None:
    text = declared({"properties": {"a": schema}, "required": ["a"]})
    expected = expected or "{ a?: unknown } & (1 | 2)"
    assert text == f"declare function s__do(input: {{ a: {expected} }}): Promise<unknown>;"


def test_a_tool_is_declared_with_its_words_its_options_and_what_it_returns() -> None:
    schema = {
        "properties": {"to": {"type": "string", "description": "Who\ngets it"}, "a-b": {"type": "number"}},
        "required": ["to"],
    }
    output = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
    assert declared(schema, output, "Sends mail.", "send-it") == (
        "/** Sends mail. */ declare function s__send_it"
        '(input: { /** Who gets it */ to: string; "a-b"?: number }): Promise<{ id: string }>;'
    )
    assert "(input: {})" in declared({})


def test_a_recursive_type_is_named_once_and_belongs_to_its_tool() -> None:
    assert declared(NODE, NODE).splitlines() == [
        "type s__do_Node = { next?: s__do_Node };",
        "type s__do_result_Node = { next?: s__do_result_Node };",
        "declare function s__do(input: { first?: s__do_Node }): Promise<{ first?: s__do_result_Node }>;",
    ]


def test_a_description_cannot_end_its_comment() -> None:
    hostile = "*/ declare const stolen: string; /*"
    text = declared({"properties": {"a": {"description": hostile}}}, None, hostile)
    assert text.count("*/") == 2
    assert "stolen" not in _without_comments(text)


KEYS = st.sampled_from(["$ref", "type", "properties", "items", "anyOf", "allOf", "enum", "const", "required"])
MORE = st.sampled_from(
    ["additionalProperties", "prefixItems", "$defs", "nullable", "description", "a", "}*/{"]
)
LEAVES = st.one_of(
    st.none(), st.booleans(), st.floats(), st.integers(), st.text(max_size=8),
    st.sampled_from(["object", "array", "string", "#", "#/$defs/a", "#/properties/a", "*/{"]),
)  # fmt: skip
SCHEMAS = st.dictionaries(
    KEYS | MORE,
    st.recursive(
        LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | MORE, inner, max_size=4)
    ),
    max_size=5,
)


@given(SCHEMAS, SCHEMAS, st.text())
def test_any_schema_gives_a_text_with_balanced_brackets(schema: Any, output: Any, said: str) -> None:
    bare = _without_comments(declared(schema, output, said))
    for opening, closing in ("{}", "()", "[]"):
        assert bare.count(opening) == bare.count(closing)


def test_a_chain_of_references_is_followed_to_its_end() -> None:
    chain = {f"n{at}": {"properties": {"next": {"$ref": f"#/$defs/n{at + 1}"}}} for at in range(3000)}
    text = declared({"$defs": {**chain, "n3000": {}}, "properties": {"a": {"$ref": "#/$defs/n0"}}})
    assert len(text.splitlines()) == 3002


def _without_comments(text: str) -> str:
    """The text without comments and strings, whichever begins first."""
    return re.sub(r'/\*.*?\*/|"(?:[^"\\]|\\.)*"', "", text, flags=re.DOTALL)
