"""What is wrong with a schema: by the meta-schema, and what no meta-schema sees."""

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st
from jsonschema import Draft7Validator, Draft202012Validator

from inspector.schema.validity import MOST_FAULTS, faults

Json = dict[str, Any]
OLD = "http://json-schema.org/draft-07/schema#"


def told(schema: object, era: str = "legacy", *, is_output: bool = False) -> dict[str, str]:
    """The kind of each fault by its place, with a ? after that of a hint."""
    found = faults(schema, era, is_output=is_output)
    return {one.place: f"{one.kind}{'?' * one.is_hint}" for one in found}


def of(**properties: Any) -> Json:
    return {"type": "object", "properties": properties}


def says(schema: object) -> list[str]:
    return [one.says for one in faults(schema, "legacy")]


CASES: dict[str, tuple[Json, list[str]]] = {
    "null required": ({"type": "object", "required": None}, ["required is null, not an array"]),
    "flag required": (
        of(p={"type": "string", "required": True}),
        ["properties.p.required is true, not an array"],
    ),
    "text as schema": (of(type="object"), ['properties.type is "object", not a schema']),
    "unknown type": (
        of(p={"type": "int"}),
        ['properties.p.type is "int", not one of "array", "boolean", "integer",'],
    ),
    "bad name": ({**of(a={}), "required": ["a", 5]}, ["required[1] is 5, not a string"]),
    "odd key": (of(**{"a.b": 7}), ['properties."a.b" is 7, not a schema']),
    "draft-07 list": (of(p={"items": [{}]}), ["properties.p.items is an array, not a schema"]),
    "no branch": (of(p={"anyOf": []}), ["properties.p.anyOf is an array, not a list of schemas"]),
    "dangling": (of(p={"$ref": "#/$defs/X"}), ['properties.p.$ref: "#/$defs/X" does not exist']),
    "foreign": (of(p={"$ref": "x.json#/a"}), ['properties.p.$ref: "x.json#/a" is in another document,']),
    "circle": (
        {**of(p={"$ref": "#/properties/p"})},
        ['properties.p.$ref: "#/properties/p" leads back to itself'],
    ),
    "beyond": (
        {**of(p={"$ref": "#/components/A"}), "components": {"A": {"type": 5}}},
        ["components.A.type is 5, not a string or an array"],
    ),
    "unknown name": (
        {**of(a={}), "required": ["a", "b"]},
        ['required[1] is "b", a property that does not exist'],
    ),
    "shut out": (
        {**of(a={}), "required": ["b"], "additionalProperties": False},
        ['required[0] is "b", a property that does not exist and may not be added'],
    ),
    "shut out of a part": (
        of(p={"allOf": [{**of(a={}), "required": ["b"], "additionalProperties": False}]}),
        ['properties.p.allOf[0].required[0] is "b", a property that does not exist and may not be added'],
    ),
    "no type to fit": (of(p={"type": "int", "default": 5}), ["properties.p.type is "]),
    "default": (
        of(p={"type": "integer", "default": "ten"}),
        ['properties.p.default is "ten", not an integer'],
    ),
    "inner default": (
        of(p={"type": "array", "items": {"type": "string"}, "default": ["a", 5]}),
        ["properties.p.default[1] is 5, not a string"],
    ),
    "far default": (of(p={"default": 9, "maximum": 5}), ["properties.p.default is 9, not 5 or less"]),
    "dead value": (of(p={"type": "string", "enum": ["a", 1]}), ["properties.p.enum[1] is 1, not a string"]),
    "dead values": (of(p={"type": "string", "enum": [1]}), ["properties.p.enum: nothing can be given, as"]),
    "no value": (of(p={"enum": []}), ["properties.p.enum: nothing can be given, as it is empty"]),
    "const": (of(p={"type": "string", "const": 1}), ["properties.p.const is 1, not a string"]),
    "example": (of(p={"type": "string", "examples": [1]}), ["properties.p.examples[0] is 1, not a string"]),
    "untyped root": ({"properties": {}}, ['type is missing, which has to be "object"']),
}


@pytest.mark.parametrize("case", CASES)
def test_a_fault_is_told_with_its_exact_place(case: str) -> None:
    schema, expected = CASES[case]
    found = says(schema)
    assert len(found) == len(expected)
    assert all(one.startswith(words) for one, words in zip(found, expected, strict=True)), found


BROKEN = ("(?<y>[", "a)", "(a", "*a", "a**", "a{3,1}", "[z-a]", "(?P<y>a)", "(?i)a", "(?<=a)*", "^*", "a\\")
WITHOUT_U = ("\\_", "\\A.\\Z", "a{", "[\\w-.]", "(?=a)*", "]", "\\p{", "[\\B]")
RIGHT = (
    "^[\\w.-]+$",
    "[]|[^]",
    "(?<y>a)\\k<y>",
    "\\u{1F600}\\p{L}",
    "a{2,}?(?:b|c)*(?!d)",
    "[a\\]\\-b]",
    "\\/\\b",
)


@pytest.mark.parametrize("text", [*BROKEN, *WITHOUT_U, *RIGHT])
def test_a_pattern_that_no_engine_compiles_is_a_fault_and_one_that_needs_no_flag_u_is_a_hint(
    text: str,
) -> None:
    expected = {} if text in RIGHT else {"properties.p.pattern": "pattern" if text in BROKEN else "pattern?"}
    assert told(of(p={"type": "string", "pattern": text})) == expected
    named = told({"type": "object", "patternProperties": {text: {}}})
    assert list(named.values()) == list(expected.values())


def deep(levels: int) -> Json:
    schema: Json = {"type": "object"}
    for _ in range(levels):
        schema = of(p=schema)
    return schema


HOSTILE: dict[str, Json] = {
    "deep": deep(5_000),
    "wide": of(**{f"p{number}": {"default": 1} for number in range(60_000)}),
    "wide required": {"type": "object", "required": [f"p{number}" for number in range(60_000)]},
    "wide enum": of(p={"type": "integer", "enum": [{"a": "x" * 99}] * 60_000}),
    "long default": of(p={"type": "array", "items": {"type": "integer"}, "default": list(range(60_000))}),
    "long pattern": of(p={"pattern": "(" * 4_000_000}),
    "doubling": {
        **of(p={"$ref": "#/$defs/d", "default": json.loads("[" * 30 + "5" + "]" * 30)}),
        "$defs": {"d": {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/d"}] * 2}}},
    },
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_schema_is_read_in_bounded_work(case: str) -> None:
    found = faults(HOSTILE[case], "legacy")
    assert len(found) <= MOST_FAULTS
    assert case in ("wide enum", "wide required") or found[-1].kind == "size"


def test_references_that_go_round_are_told_once_each_and_end() -> None:
    loop = {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}
    assert set(told({**of(p={"$ref": "#/$defs/a"}), "$defs": loop}).values()) == {"reference"}


FINE: list[Json] = [
    {**of(p={"$ref": "#/$defs/P"}), "$defs": {"P": of(inner={"$ref": "#/$defs/P"})}},
    {**of(p={"$ref": "#here"}), "$defs": {"P": {"$anchor": "here"}}},
    {**of(a={}, b={}), "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
    {"type": "object", "required": ["a"], "allOf": [of(a={})]},
    {"type": "object", "required": ["x_a"], "patternProperties": {"^x_": {}}},
    {"type": "object", "required": ["a"], "additionalProperties": {"type": "string"}},
    {"type": "object", "required": ["a"], "additionalProperties": False, "patternProperties": {"^a": {}}},
    of(p={"patternProperties": {"^a": {}}, "additionalProperties": False, "default": {"a": 1}}),
    {**of(p={"items": [{}], "additionalItems": False}), "$schema": OLD},
    {**of(p={"exclusiveMinimum": True, "minimum": 0}), "$schema": "http://json-schema.org/draft-04/schema#"},
    of(p={"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}),
    of(p={"type": "string", "nullable": True, "enum": ["a", None], "default": None}),
    {**of(p={"allOf": [{"$ref": "#/$defs/M"}], **of(a={})}), "$defs": {"M": {"required": ["a"]}}},
    of(p={"enum": [1, 2], "default": 1.0}, q={"enum": [[1], {"a": 1}], "default": {"a": 1}}),
    of(p={"type": "number", "default": 1}, q={"type": "integer", "default": 2.0}),
    of(p={"properties": {"type": {"type": "string"}, "required": {"type": "boolean"}, "$ref": {}}}),
]


@pytest.mark.parametrize("number", range(len(FINE)))
def test_what_is_right_has_no_fault(number: int) -> None:
    assert faults(FINE[number], "legacy") == ()


def test_only_what_can_still_be_called_is_a_hint() -> None:
    schema = {
        **of(a={"type": "string", "default": None, "enum": ["x", 1], "examples": [2]}),
        "required": ["b"],
    }
    assert all(one.is_hint for one in faults(schema, "legacy"))
    assert not any(one.is_hint for one in faults({**schema, "additionalProperties": False}, "legacy")[:1])


@pytest.mark.parametrize(
    ("schema", "legacy", "modern"),
    [
        ({"type": "array"}, {"type": "root"}, {}),
        ({}, {"type": "root"}, {}),
        (True, {"": "root"}, {"": "root"}),
    ],
)
def test_a_result_may_be_of_any_type_from_2026_07_28_on(schema: object, legacy: Json, modern: Json) -> None:
    assert told(schema, "legacy", is_output=True) == legacy
    assert told(schema, "2026-07-28", is_output=True) == modern
    assert told(schema, "2026-07-28") == told(schema, "2025-11-25", is_output=True) == legacy


LEAVES = st.none() | st.booleans() | st.integers(-2, 9) | st.sampled_from([0.5, 2.0, "string", "a", "#", ""])
ANYTHING = st.recursive(
    LEAVES,
    lambda one: st.lists(one, max_size=3) | st.dictionaries(st.sampled_from("ab"), one, max_size=2),
    max_leaves=4,
)
TYPES = st.sampled_from(["string", "integer", "object", "array", "null", "number", "boolean"])
TEXTS, NAMES = st.text(max_size=5), st.lists(st.text(max_size=3), max_size=3, unique=True)
VALID: dict[str, st.SearchStrategy[Any]] = {
    "type": TYPES | st.lists(TYPES, min_size=1, unique=True),
    "enum": st.lists(ANYTHING, max_size=3),
    "const": ANYTHING,
    "multipleOf": st.sampled_from([1, 0.5]),
    **dict.fromkeys(("minimum", "exclusiveMaximum"), st.integers() | st.floats()),
    **dict.fromkeys(("minLength", "maxItems", "minContains", "maxProperties"), st.sampled_from([0, 3, 2.0])),
    **dict.fromkeys(("uniqueItems", "deprecated", "readOnly"), st.booleans()),
    "required": NAMES,
    "dependentRequired": st.dictionaries(TEXTS, NAMES, max_size=2),
    **dict.fromkeys(("title", "format", "$comment", "contentEncoding"), TEXTS),
    "examples": st.lists(ANYTHING, max_size=2),
}
INNER = ("items", "contains", "additionalProperties", "not", "if", "propertyNames", "contentSchema", "then")
NAMED, LISTED = ("properties", "$defs", "dependentSchemas", "definitions"), ("allOf", "anyOf", "prefixItems")


def schemas(values: dict[str, st.SearchStrategy[Any]], least: int = 1) -> st.SearchStrategy[Any]:
    """Schemas of some depth whose plain keywords have such values; lists of them have at least so many."""

    def around(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        parts = {**values, **dict.fromkeys(INNER, inner)}
        parts |= dict.fromkeys(NAMED, st.dictionaries(st.sampled_from(["a", "type"]), inner, max_size=2))
        parts |= dict.fromkeys(LISTED, st.lists(inner, min_size=least, max_size=2))
        keys = st.lists(st.sampled_from(sorted(parts)), max_size=4, unique=True)
        return keys.flatmap(lambda some: st.fixed_dictionaries({key: parts[key] for key in some}))

    wrong = st.nothing() if values is VALID else ANYTHING
    return around(st.recursive(st.booleans() | wrong, around, max_leaves=8))


def keyword_faults(schema: object) -> list[str]:
    return [one.place for one in faults(schema, "legacy") if one.kind == "keyword"]


@pytest.mark.parametrize("draft", ["", OLD])
@given(data=st.data())
def test_a_schema_has_a_fault_of_its_keywords_if_and_only_if_the_meta_schema_says_so(
    draft: str, data: st.DataObject
) -> None:
    mixed = {key: value | ANYTHING if key < "e" else value for key, value in VALID.items()}
    schema = data.draw(schemas(mixed, least=0) | schemas(dict.fromkeys(VALID, ANYTHING)))
    schema = {**schema, "type": "object", **({"$schema": draft} if draft else {})}
    validator = Draft7Validator if draft else Draft202012Validator
    is_valid = not any(validator(validator.META_SCHEMA).iter_errors(schema))
    assert (not keyword_faults(schema)) == is_valid


WRONG: dict[str, list[Any]] = {
    "type": [None, "int", [], ["string", "string"], {"type": "string"}],
    "required": [None, True, "a", ["a", "a"], [1]],
    "properties": [None, [], "a"],
    "items": [[], [{}], "string"],
    "anyOf": [[], {}],
    "minLength": [-1, 0.5],
}
BREAKS: tuple[tuple[str, Any], ...] = (
    *((key, value) for key, values in WRONG.items() for value in values),
    *((key, None) for key in sorted({*VALID, *INNER, *NAMED, *LISTED} - {"const"})),
    ("multipleOf", 0),
    ("minimum", True),
    ("title", 5),
    ("uniqueItems", "false"),
    ("additionalProperties", "false"),
    ("dependentRequired", {"a": "b"}),
)


@given(schemas(VALID), st.sampled_from(BREAKS), st.lists(st.sampled_from(INNER + LISTED + NAMED), max_size=4))
def test_a_valid_schema_has_no_fault_and_each_single_break_of_it_is_found_at_its_place(
    schema: Json, broken: tuple[str, Any], way: list[str]
) -> None:
    assert keyword_faults(schema) == []
    key, value = broken
    whole, place = {**schema, key: value}, key
    for keyword in reversed(way):
        inner = [True, whole] if keyword in LISTED else {"a": whole} if keyword in NAMED else whole
        step = "[1]" if keyword in LISTED else ".a" if keyword in NAMED else ""
        whole, place = {keyword: inner}, f"{keyword}{step}.{place}"
    assert any(found.startswith(place) for found in keyword_faults(whole))


@given(schemas(dict.fromkeys(VALID, ANYTHING)), st.sampled_from(["legacy", "2026-07-28"]))
def test_any_shape_is_judged_and_each_fault_has_its_place(schema: Json, era: str) -> None:
    for one in faults(schema, era):
        assert one.place in one.says or not one.place
        assert json.dumps(one.says)
