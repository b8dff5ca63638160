"""What a change of a definition means for a caller; jsonschema is the judge of what is still taken."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, strategies as st

from inspector.core.definition import MOST_REASONS, schema_change
from inspector.core.tool import Annotations, Tool
from inspector.schema.json_value import JsonObject
from inspector.schema.narrowing import Narrowing, narrowings
from tests.support.any_json import SCHEMA_KEYS, any_json
from tests.support.examples import examples

TEXT, WHOLE, NUMBER, NULL = ({"type": name} for name in ("string", "integer", "number", "null"))


def tool(schema: JsonObject | None = None, result: JsonObject | None = None, **claims: Any) -> Tool:
    return Tool("s", "t", "It does it.", schema or parameters(), Annotations(**claims), result)


def parameters(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def enum(*values: str) -> JsonObject:
    return {"enum": [*values]}


def pair(
    form: Callable[[Any], JsonObject], before: Any = TEXT, after: Any = WHOLE
) -> tuple[JsonObject, JsonObject]:
    """The same parameter with one thing in it, and with another."""
    return parameters(a=form(before)), parameters(a=form(after))


CLOSED = {"additionalProperties": False}
BREAKING = {
    "a parameter is new and required": (parameters(a=TEXT), parameters("b", a=TEXT, b=WHOLE), "b is new and"),
    "a parameter becomes required": (parameters(a=TEXT), parameters("a", a=TEXT), "a is now required"),
    "a parameter is gone": (parameters(a=TEXT, b=TEXT), parameters(a=TEXT), "b is gone"),
    "a type is narrowed": (parameters(a=NUMBER), parameters(a=WHOLE), "another type (number → integer)"),
    "a value is gone": (parameters(a=enum("x", "y")), parameters(a=enum("x")), 'takes every value ("y")'),
    "any text becomes a choice": (parameters(a=TEXT), parameters(a={**TEXT, "enum": ["x"]}), "every value"),
    "other names are refused": (parameters(a=TEXT), {**parameters(a=TEXT), **CLOSED}, "no other names"),
    "null is refused": (parameters(a={"anyOf": [TEXT, NULL]}), parameters(a=TEXT), "null → string"),
    "a limit is tightened": (*pair(lambda most: {**WHOLE, "maximum": most}, 5, 4), "maximum 5 → 4"),
    "items have another type": (*pair(lambda one: {"type": "array", "items": one}), "a[] has another type"),
    "something deep changes": (
        *pair(lambda one: parameters(b=parameters(c=one))),
        "a.b.c has another type",
    ),
    "what a reference leads to changes": (
        {**parameters(a={"$ref": "#/$defs/A"}), "$defs": {"A": TEXT}},
        {**parameters(a={"$ref": "#/$defs/A"}), "$defs": {"A": WHOLE}},
        "a has another type",
    ),
    "what cannot be compared changes": (*pair(dict, TEXT, {"not": TEXT}), "cannot be compared"),
}
COMPATIBLE = {
    "a parameter is new and optional": (parameters(a=TEXT), parameters(a=TEXT, b=WHOLE), "b is new and opt"),
    "a parameter becomes optional": (parameters("a", a=TEXT), parameters(a=TEXT), "no longer required"),
    "a type is widened": (parameters(a=WHOLE), parameters(a=NUMBER), "takes more"),
    "null is taken too": (parameters(a=TEXT), parameters(a={"anyOf": [TEXT, NULL]}), "takes more"),
    "a value is new": (parameters(a=enum("x")), parameters(a=enum("x", "y")), "takes more"),
    "a default is another one": (*pair(lambda one: {**WHOLE, "default": one}, 1, 2), "another default"),
    "an alternative that did not change stays beside a new parameter": (
        {**parameters(a=TEXT), "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {**parameters(a=TEXT, c=TEXT), "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
        "c is new",
    ),
}


@pytest.mark.parametrize("case", BREAKING.values(), ids=BREAKING)
def test_what_a_caller_may_no_longer_send_is_breaking(case: tuple[JsonObject, JsonObject, str]) -> None:
    before, after, said = case
    change = schema_change(tool(before), tool(after))
    assert change.verdict == "breaking"
    assert said in change.reasons[0]


@pytest.mark.parametrize("case", COMPATIBLE.values(), ids=COMPATIBLE)
def test_what_a_caller_may_send_besides_is_compatible(case: tuple[JsonObject, JsonObject, str]) -> None:
    before, after, said = case
    change = schema_change(tool(before), tool(after))
    assert change.verdict == "compatible"
    assert said in change.reasons[0]


@pytest.mark.parametrize(
    ("before", "after", "verdict", "said"),
    [
        (parameters(a=TEXT), parameters(a=TEXT, b=TEXT), "compatible", "result field b is returned too"),
        (parameters(a=TEXT, b=TEXT), parameters(a=TEXT), "breaking", "result field b is no longer returned"),
        (parameters(a=WHOLE), parameters(a=NUMBER), "breaking", "result field a comes in another type"),
        (parameters("a", a=TEXT), parameters(a=TEXT), "breaking", "result field a is not always returned"),
        (parameters(a=TEXT), parameters("a", a=TEXT), "compatible", "result field a is always returned"),
        (parameters(a=TEXT), None, "breaking", "the result is no longer described"),
        (None, parameters(a=TEXT), "compatible", "the result is described now"),
    ],
)
def test_a_reader_of_results_is_hurt_by_less_and_not_by_more(
    before: JsonObject | None, after: JsonObject | None, verdict: str, said: str
) -> None:
    change = schema_change(tool(result=before), tool(result=after))
    assert change.verdict == verdict
    assert said in change.reasons[0]


def test_a_promise_that_is_taken_back_is_breaking() -> None:
    change = schema_change(tool(read_only=True), tool())
    assert change.verdict == "breaking"
    assert "it no longer says that it only reads" in change.reasons
    assert schema_change(tool(destructive=False), tool(destructive=True)).verdict == "breaking"
    assert schema_change(tool(idempotent=True), tool()).verdict == "breaking"
    assert schema_change(tool(), tool(read_only=True)).verdict == "compatible"


def test_other_words_alone_are_told_as_such() -> None:
    before = tool(parameters(a={**TEXT, "description": "The text."}))
    after = tool(parameters(a={**TEXT, "description": "What to say."}))
    assert schema_change(before, after).verdict == "words"
    other = Tool("s", "t", "It does something else.", before.input_schema)
    assert schema_change(before, other).reasons == ("its description",)


def test_many_reasons_are_counted() -> None:
    before = parameters(**{f"p{number}": TEXT for number in range(MOST_REASONS + 5)})
    reasons = schema_change(tool(before), tool()).reasons
    assert len(reasons) == MOST_REASONS + 1
    assert reasons[-1] == "and 5 more"


def choices(mark: str, many: int) -> dict[str, Any]:
    options = [{**TEXT, "enum": [f"{mark}{number}-{value}" for value in range(5)]} for number in range(many)]
    return parameters(p={"anyOf": options})


def deep(levels: int, inner: JsonObject) -> JsonObject:
    return inner if not levels else parameters(a=deep(levels - 1, inner))


# What makes a comparison read the same over and over: none of these ended within seconds.
HOSTILE = {
    "many options beside many": (choices("a", 199), choices("b", 199)),
    "much below many levels": tuple(deep(39, {"enum": [*range(50_000), last]}) for last in ("x", "y")),
    "many parts": tuple(
        parameters(a={"allOf": [{f"x{part}": last} for part in range(5_000)]}) for last in (1, 2)
    ),
    "many references to much": tuple(
        {
            **parameters(**{f"p{number}": {"$ref": "#/$defs/A", "maxLength": last} for number in range(900)}),
            "$defs": {"A": {f"x{key}": key for key in range(9_000)}},
        }
        for last in (1, 2)
    ),
}


@pytest.mark.parametrize("case", HOSTILE.values(), ids=HOSTILE)
def test_a_comparison_that_takes_too_many_steps_ends_as_unknown(case: tuple[JsonObject, JsonObject]) -> None:
    before, after = case
    assert narrowings(before, after)[-1] == Narrowing("", "unknown", "it is too large to be compared")
    assert schema_change(tool(before), tool(after)).verdict == "breaking"


def test_of_many_lost_values_the_first_are_named_and_the_others_counted() -> None:
    (lost,) = narrowings(parameters(a={"enum": [*range(25)]}), parameters(a={"enum": [0]}))
    assert lost.detail.startswith("1, 2, 3, ")
    assert lost.detail.endswith("10 and 14 more")


_KEYS = st.sampled_from(SCHEMA_KEYS)
JSON = any_json(*SCHEMA_KEYS)


@given(st.dictionaries(_KEYS, JSON), st.dictionaries(_KEYS, JSON))
@examples(share=4)
def test_no_shape_of_a_schema_is_an_error(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert schema_change(tool(before, before), tool(after, after)).verdict
    assert schema_change(tool(before), tool(before)).verdict == "same"
