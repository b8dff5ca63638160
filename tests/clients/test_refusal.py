"""What an API refuses of a schema: where, how, and by whose word."""

from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given

from inspector.clients.client import all_clients, find_client
from inspector.clients.refusal import Condition, refusals
from inspector.schema.json_value import JsonObject
from tests.support.any_json import SCHEMA_KEYS, any_json

TEXT = {"type": "string"}


def told(client: str, schema: object) -> list[str]:
    return [one.says for one in refusals(find_client(client).schemas.conditions, schema)]


def of(**parameters: Any) -> dict[str, Any]:
    return {"type": "object", "properties": parameters}


@pytest.mark.parametrize(
    ("client", "schema", "says"),
    [
        ("openai-api", of(targets={"type": "array"}), "properties.targets is an array without items"),
        ("vscode", of(a=of(b={"type": "array"})), "properties.a.properties.b is an array without items"),
        (
            "openai-api",
            of(a={"anyOf": [{"type": "array", "prefixItems": [TEXT]}]}),
            "properties.a.anyOf[0] is an array",
        ),
        ("anthropic-api", {"properties": {}}, "its schema has no type"),
        ("anthropic-api", {"type": "object", "anyOf": [{}]}, "its schema has anyOf at the top level"),
        ("openai-api", {"type": "object", "const": {}}, "its schema has const at the top level"),
        (
            "claude-code",
            of() | {"required": None},
            "required is null, not an array",
        ),
        ("anthropic-api", of(**{"filter[id]": TEXT}), 'its schema has the parameter "filter[id]"'),
        (
            "gemini-api",
            of(n={"type": "integer", "exclusiveMinimum": 0}),
            'properties.n has "exclusiveMinimum", which',
        ),
        (
            "gemini-api",
            of() | {"$schema": "x", "additionalProperties": False},
            'its schema has "$schema", "addit',
        ),
        ("gemini-api", of(n={"type": ["string", "null"]}), "properties.n has a list of types"),
        ("gemini-api", of(n={"type": "integer", "enum": [1]}), "properties.n has the value 1 in its enum"),
        (
            "gemini-api",
            of(n={"type": "string", "enum": ["a", ""]}),
            'properties.n has the value "" in its enum',
        ),
        (
            "gemini-api",
            of() | {"required": ["body"]},
            'its schema requires "body", which it does not declare',
        ),
        ("gemini-api", of(n=True), "properties.n is true, not an object"),
        ("gemini-api", of(n={"description": "x"}), "properties.n has no type"),
        (
            "gemini-json-schema",
            of(n={"$ref": "#/$defs/A", "title": "x"}) | {"$defs": {"A": TEXT}},
            'properties.n has "title" beside $ref',
        ),
        ("openai-strict", of(), "its schema is an object without additionalProperties: false"),
        (
            "openai-strict",
            of(n=TEXT) | {"additionalProperties": False},
            'its schema has "n" without requiring it',
        ),
        ("openai-strict", of(u=TEXT | {"format": "uri"}), 'properties.u has the format "uri"'),
        ("openai-strict", of(u={"allOf": [TEXT]}), "properties.u has allOf"),
        (
            "openai-strict",
            of(u=TEXT | {"enum": ["x" * 121_000]}),
            "its schema has 121,001 characters in names",
        ),
        (
            "openai-strict",
            of(u=TEXT | {"enum": list(map(str, range(1_001)))}),
            "its schema has 1,001 values, of",
        ),
    ],
)
def test_what_an_api_refuses_is_told_with_its_place(client: str, schema: JsonObject, says: str) -> None:
    assert any(one.startswith(says) for one in told(client, schema)), told(client, schema)


def test_ten_levels_are_taken_by_strict_functions_and_eleven_are_refused() -> None:
    def nested(levels: int) -> JsonObject:
        inner = of(a=nested(levels - 1)) if levels else of()
        return {**inner, "additionalProperties": False, "required": list(inner["properties"])}

    assert told("openai-strict", nested(10)) == []
    assert told("openai-strict", nested(11)) == ["its schema has 11 levels, of which 10 are allowed"]


@pytest.mark.parametrize("client", [one.name for one in all_clients()])
def test_a_plain_schema_is_refused_by_no_client(client: str) -> None:
    plain = of(city=TEXT, days={"type": "array", "items": {"type": "integer"}}) | {
        "required": ["city", "days"]
    }
    closed = {**plain, "additionalProperties": False}
    assert told(client, closed if client == "openai-strict" else plain) == []


@pytest.mark.parametrize("client", all_clients(), ids=lambda one: one.name)
def test_every_condition_was_measured_or_has_a_public_source_and_a_date(client: Any) -> None:
    for one in client.schemas.conditions:
        assert urlsplit(one.source).scheme == "https" or (not one.source and client.fidelity)
        assert one.date.startswith("20")


def test_refusals_come_before_what_is_only_ignored() -> None:
    mild = Condition("without", "https://a.example", "2026-01-01", ("title",), effect="ignored")
    hard = Condition("items", "https://a.example", "2026-01-01")
    found = refusals((mild, hard), {"title": "x", "type": "array"})
    assert [one.effect for one in found] == ["refused", "ignored"]


ALL_CONDITIONS = {one.schemas.conditions for one in all_clients()}


@given(any_json(*SCHEMA_KEYS))
def test_no_schema_causes_an_error(schema: object) -> None:
    for conditions in ALL_CONDITIONS:
        refusals(conditions, schema)


def test_a_schema_too_large_or_too_deep_is_looked_at_as_far_as_it_goes() -> None:
    deep: JsonObject = TEXT
    for _ in range(5_000):
        deep = {"type": "object", "properties": {"a": deep}}
    wide = of(**{f"p{number}": {"type": "array"} for number in range(60_000)})
    for schema in (deep, wide):
        for conditions in ALL_CONDITIONS:
            assert len(refusals(conditions, schema)) <= 50
