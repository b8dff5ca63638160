"""A schema is rewritten until no chosen client refuses it, and what that changes is said and true."""

from typing import Any

import pytest
from hypothesis import given, strategies as st
from jsonschema import Draft202012Validator

from inspector.clients.client import find_client
from inspector.clients.refusal import Condition, refusals
from inspector.clients.repair import Repair, repair
from inspector.schema.json_value import JsonObject
from inspector.schema.validity import faults
from tests.support.examples import examples

TEXT, WHOLE = {"type": "string"}, {"type": "integer"}
NUMBER, EMPTY = {"type": "number"}, TEXT | {"maxLength": 0}
USUAL = ("openai-api", "vscode", "claude-code")
APIS = (*USUAL, "openai-strict", "gemini-api", "gemini-json-schema")


def conditions(*clients: str) -> tuple[Condition, ...]:
    found = (one for client in clients for one in find_client(client).schemas.conditions)
    return tuple(dict.fromkeys(found))


def of(**parameters: Any) -> dict[str, Any]:
    return {"type": "object", "properties": parameters}


def mended(schema: JsonObject, *clients: str) -> Repair:
    found = repair(schema, conditions(*clients))
    assert found is not None
    assert not found.left, found.left
    return found


SAME = "same"
KINDS = of(kind={"const": "post"}, address=TEXT) | {"required": ["kind", "address"]}
CALLS = of(kind={"const": "call"}, number=WHOLE) | {"required": ["kind", "number"]}
CASES: list[tuple[str, JsonObject, str, JsonObject]] = [
    ("openai-api", of(a={"type": "array"}), SAME, of(a={"type": "array", "items": {}})),
    ("claude-code", of(a=TEXT) | {"required": None}, SAME, of(a=TEXT)),
    ("claude-code", of(a=TEXT | {"required": True}), SAME, of(a=TEXT) | {"required": ["a"]}),
    ("claude-code", of(a=TEXT | {"required": False}), SAME, of(a=TEXT)),
    ("claude-code", of(a=TEXT, type="object"), SAME, of(a=TEXT)),
    ("claude-code", of(a="string"), SAME, of(a=TEXT)),
    ("claude-code", of(a={"type": "str"}), SAME, of(a=TEXT)),
    (
        "vscode",
        of(n=WHOLE | {"minimum": 0, "exclusiveMinimum": True}),
        SAME,
        of(n=WHOLE | {"exclusiveMinimum": 0}),
    ),
    ("anthropic-api", {"properties": {"a": TEXT}}, SAME, of(a=TEXT)),
    (
        "anthropic-api",
        of(a=TEXT, b=TEXT) | {"allOf": [{"required": ["b"]}, {"maxProperties": 2}]},
        SAME,
        of(a=TEXT, b=TEXT) | {"required": ["b"], "maxProperties": 2},
    ),
    (
        "anthropic-api",
        {"type": "object", "oneOf": [KINDS, CALLS]},
        "more",
        of(kind={"enum": ["post", "call"]}, address=TEXT, number=WHOLE) | {"required": ["kind"]},
    ),
    ("gemini-api", of(n=WHOLE | {"exclusiveMinimum": 0}), SAME, of(n=WHOLE | {"minimum": 1})),
    ("gemini-api", of(n=NUMBER | {"exclusiveMinimum": 0}), "more", of(n=NUMBER | {"minimum": 0})),
    ("gemini-api", of(a=TEXT) | {"additionalProperties": False, "$schema": "x"}, "more", of(a=TEXT)),
    ("gemini-api", of(a={"const": "x"}), SAME, of(a=TEXT | {"enum": ["x"]})),
    ("gemini-api", of(a=WHOLE | {"enum": [1, 2, 3]}), SAME, of(a=WHOLE | {"minimum": 1, "maximum": 3})),
    ("gemini-api", of(a={"type": ["string", "null"]}), SAME, of(a={"anyOf": [TEXT, {"type": "null"}]})),
    ("gemini-api", of(a={"$ref": "#/$defs/A"}) | {"$defs": {"A": TEXT}}, SAME, of(a=TEXT)),
    ("gemini-api", of(a={"enum": ["x", ""]}), "other", of(a={"anyOf": [TEXT | {"enum": ["x"]}, EMPTY]})),
    (
        "openai-strict",
        of(a=TEXT) | {"required": ["a"]},
        "fewer",
        of(a=TEXT) | {"required": ["a"], "additionalProperties": False},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("client", "schema", "accepts", "new"), CASES)
def test_what_a_client_refuses_is_rewritten_by_the_smallest_step(
    client: str, schema: JsonObject, accepts: str, new: JsonObject
) -> None:
    found = mended(schema, client)
    assert found.schema == new
    assert (found.accepts, bool(found.lines)) == (accepts, accepts != "same")
    assert found.steps


def test_a_schema_that_nobody_refuses_is_left_alone() -> None:
    assert repair(of(a=TEXT), conditions(*USUAL)) is None


def test_an_optional_parameter_of_a_strict_function_is_required_and_may_be_null() -> None:
    found = mended(of(a=TEXT), "openai-strict")
    assert found.accepts == "other"
    assert found.schema["properties"]["a"] == {"type": ["string", "null"]}
    assert found.lines == (
        "a may no longer be left out",
        "the arguments may no longer have other names",
        "a may now be of the type null",
    )


def test_a_reference_without_an_end_is_followed_once() -> None:
    tree = of(name=TEXT, inner={"type": "array", "items": {"$ref": "#/$defs/Tree"}})
    found = mended(of(top={"$ref": "#/$defs/Tree"}) | {"$defs": {"Tree": tree}}, "gemini-api")
    assert found.schema["properties"]["top"]["properties"]["inner"]["items"] == {"type": "object"}
    assert found.lines == tuple(f"top.inner[].{one} may no longer be given" for one in ("name", "inner"))


@pytest.mark.parametrize(
    ("client", "schema"),
    [("claude-code", of(**{"filter[id]": TEXT})), ("openai-api", of(a={"$ref": "#/$defs/No"}))],
)
def test_what_only_the_author_can_mend_is_named(client: str, schema: JsonObject) -> None:
    found = repair(schema, conditions(client))
    assert found is not None
    assert found.left
    assert found.schema == schema


VALUES = st.none() | st.booleans() | st.integers(-2, 5) | st.sampled_from(["a", "b", ""])
PLAIN = st.one_of(
    st.sampled_from([TEXT, WHOLE, {}, {"type": "number"}, {"type": "boolean"}, {"type": ["string", "null"]}]),
    st.builds(lambda one, of_: {"type": "integer", one: of_}, st.sampled_from(
        ["minimum", "exclusiveMinimum", "exclusiveMaximum"]), st.integers(-1, 4)),
    st.lists(VALUES, min_size=1, max_size=3, unique_by=repr).map(lambda one: {"enum": one}),
    VALUES.map(lambda one: {"const": one}),
    st.just({"$ref": "#/$defs/A", "description": "x"}),
)  # fmt: skip
INNER = st.recursive(
    PLAIN,
    lambda one: (
        st.lists(one, min_size=1, max_size=3).map(lambda some: {"anyOf": some})
        | st.lists(one, min_size=1, max_size=2).map(lambda some: {"oneOf": some})
        | one.map(lambda each: {"type": "array", "items": each})
        | st.just({"type": "array", "prefixItems": [TEXT, WHOLE]})
        | st.dictionaries(st.sampled_from("ab"), one, max_size=2).map(lambda some: of(**some))
    ),
    max_leaves=4,
)
SCHEMAS = st.builds(
    lambda given, required, closed, union: {
        **of(**given),
        **({"required": required} if required else {}),
        **({"additionalProperties": False} if closed else {}),
        **({union: [of(a=TEXT), of(b=WHOLE) | {"required": ["b"]}]} if union else {}),
        "$defs": {"A": TEXT | {"minLength": 1}},
    },
    st.dictionaries(st.sampled_from("abc"), INNER, min_size=1, max_size=3),
    st.lists(st.sampled_from("abc"), max_size=2, unique=True),
    st.booleans(),
    st.sampled_from(["", "", "anyOf", "oneOf", "allOf"]),
)
ARGUMENTS = st.dictionaries(
    st.sampled_from("abc"),
    VALUES | st.lists(VALUES, max_size=3) | st.dictionaries(st.sampled_from("ab"), VALUES, max_size=2),
    max_size=3,
)


def _written_by(schema: JsonObject, arguments: JsonObject) -> bool:
    """Whether a caller may write these: the schema, or each alternative that takes them, declares them."""
    options = schema.get("anyOf") or schema.get("oneOf") or [{"properties": {}}]
    takes = (one for one in options if Draft202012Validator(one).is_valid(arguments))
    return all(set(arguments) <= {*schema["properties"], *one["properties"]} for one in takes)


@examples(share=5)
@given(SCHEMAS, st.lists(st.sampled_from(APIS), min_size=1, max_size=2), st.lists(ARGUMENTS, max_size=15))
def test_what_is_said_of_a_repair_holds_for_all_arguments(
    schema: JsonObject, clients: list[str], some: list[JsonObject]
) -> None:
    wanted = conditions(*clients)
    found = repair(schema, wanted)
    if found is None:
        assert not refusals(wanted, schema)
        return
    assert bool(found.left) is bool(refusals(wanted, found.schema) or [
        one for one in faults(found.schema, "") if not one.is_hint
    ])  # fmt: skip
    old, new = (Draft202012Validator(one) for one in (schema, found.schema))
    declared = set(found.schema["properties"])
    for arguments in (one for one in some if set(one) <= declared and _written_by(schema, one)):
        before, after = old.is_valid(arguments), new.is_valid(arguments)
        if before and not after:
            assert found.accepts in ("fewer", "other"), (found, arguments)
        if after and not before:
            assert found.accepts in ("more", "other"), (found, arguments)
