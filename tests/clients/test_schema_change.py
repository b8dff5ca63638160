"""What clients make of schemas: twenty that were not measured, by what each client's rule says of them."""

from typing import Any, get_args, get_type_hints

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from inspector.clients.client import Kind, all_clients, find_client
from inspector.clients.rule import SchemaChange, SchemaRule
from inspector.clients.schema_change import SCHEMA_CHANGES, sent_schema
from inspector.clients.seen import see
from inspector.core.tool import Tool
from tests.support.any_json import SCHEMA_KEYS, any_json

S, N = {"type": "string"}, {"type": "number"}


def obj(properties: Any = None, **more: Any) -> dict[str, Any]:
    return {"type": "object", **({} if properties is None else {"properties": properties}), **more}


@pytest.mark.parametrize(
    ("client", "declared", "sent"),
    [
        # Properties of branches are merged, the first of equal ones counts, and references are followed.
        ("claude-code", obj({"a": S}, anyOf=[{"properties": {"a": N, "b": N}}]),
         obj({"a": S, "b": N}, required=[], additionalProperties=True)),
        ("claude-code", obj(oneOf=[{"$ref": "#/$defs/B"}], **{"$defs": {"B": {"properties": {"b": N}}}}),
         obj({"b": N}, required=[], additionalProperties=True, **{"$defs": {"B": {"properties": {"b": N}}}})),
        ("claude-code",
         obj(allOf=[{"properties": {"a": S}, "required": ["a", "x"]}], additionalProperties=False),
         obj({"a": S}, required=["a"], additionalProperties=False)),
        ("codex", obj({"a": {"const": 1}, "b": {"minimum": 2}}),
         obj({"a": {"type": "string", "enum": [1]}, "b": {"type": "number"}})),
        ("codex", obj({"b": {"title": "x", "description": "y"}, "a": {"anyOf": [{"format": "uri"}]}}),
         obj({"a": {"anyOf": [{"type": "string"}]}, "b": {}})),
        ("codex", obj({"pattern": S | {"pattern": "x", "minLength": 1}}), obj({"pattern": S})),
        ("gemini-cli", obj({"a": {"type": ["null", "integer"]}, "b": {"type": ["string", "number", "null"]}}),
         obj({"a": {"type": "integer", "nullable": True}, "b": {"type": ["string", "number", "null"]}})),
        ("gemini-cli", obj({"a": obj({"b": {"type": ["string", "null"]}})}),
         obj({"a": obj({"b": {"type": "string", "nullable": True}})})),
        ("qwen-code", obj({"a": S | {"maxLength": 5000}}, additionalProperties=False),
         obj({"a": S | {"maxLength": 5000}}, additionalProperties=False)),
        ("codex", {"properties": {"a": True, "b": {"type": "array"}}},
         obj({"a": S, "b": {"type": "array", "items": S}})),
        ("droid", obj({"a": {"enum": [1]}, "b": {"const": 1, "default": 1}, "c": {"$ref": "#/$defs/C"}},
                      **{"$defs": {"C": S}}),
         obj({"a": {"enum": [1], "type": "string"}, "b": {"const": 1}, "c": {}})),
        ("gptme", {"properties": {"a": obj({"b": S}), "c": N | {"enum": ["x"]}, "d": True}, "oneOf": []},
         obj({"a": obj(description=""), "c": N | {"description": ""}, "d": S | {"description": ""}},
             required=[], additionalProperties=False)),
        ("openhands",
         obj({"a": {"type": ["null", "number"]}, "b": {"type": ["string", "integer"]}, "c": {"enum": ["x"]},
              "d": {"type": "array", "items": obj({"e": S})}}, required=["b"]),
         obj({"a": N, "b": {}, "c": {}, "d": {"type": "array", "items": obj()}},
             required=["b", "security_risk"])),
        ("opencode", obj({"a": obj({"b": S})}), obj({"a": obj({"b": S})}, additionalProperties=False)),
        ("opencode", {"type": "object", "$defs": {}}, obj({}, additionalProperties=False, **{"$defs": {}})),
        ("copilot-cli", obj({"a": S | {"maxLength": 2, "description": "x"}}),
         obj({"a": S | {"description": "x\n\n{maxLength: 2}"}})),
        ("copilot-cli", obj({"a": {"type": "array"}, "pattern": S}),
         obj({"a": {"type": "array", "items": {}}, "pattern": S})),
        ("copilot-cli", obj({"c": S}, oneOf=[{"properties": {"a": S, "c": N}}]),
         obj({"a": {}, "c": S},
             description='{oneOf: [{"properties":{"a":{"type":"string"},"c":{"type":"number"}}}]}')),
        ("cline-cli", obj({"a": {"$schema": "x"}}, **{"$schema": "y"}), obj({"a": {"$schema": "x"}})),
        ("continue-cli", obj({"a": {"$ref": "#/$defs/A"}}, **{"$defs": {"A": S}, "description": "x"}),
         obj({"a": {"$ref": "#/$defs/A"}})),
        ("kimi-code", obj({"a": {}}, anyOf=[], title="x"), obj({"a": {}}, anyOf=[], title="x")),
        ("vscode", obj({"a": {"not": S}}, **{"not": S}), obj({"a": {"not": S}})),
        # Frameworks.
        ("pydantic-ai", obj({"a": {"type": "array", "items": {"type": "object", "title": "x"}}}),
         obj({"a": {"type": "array", "items": obj({}, additionalProperties=False)}},
             additionalProperties=False)),
        ("langchain", obj({"a": {"$ref": "#/$defs/A", "title": "x"}}, **{"$defs": {"A": obj({"b": N})}}),
         obj({"a": obj({"b": N})})),
        ("langchain", obj({"a": {"title": "x", "anyOf": [{"title": "y"}]}}),
         obj({"a": {"anyOf": [{"title": "y"}]}})),
        ("langchain-js",
         obj({"a": {"anyOf": [obj({"b": N}, required=["b"]), obj({"c": S}, required=["b"])]}}),
         obj({"a": obj({"b": N, "c": S}, required=["b"])})),
        ("google-adk", obj({"description": S | {"description": "x"}}),
         obj({"description": S | {"description": "<<<BEGIN_UNTRUSTED_TOOL_DESCRIPTION>>>\nx\n"
                                  "<<<END_UNTRUSTED_TOOL_DESCRIPTION>>>"}})),
        ("strands", obj({"a": obj({"b": {}})}, required=["a"]),
         obj({"a": obj({"b": S | {"description": "Property b"}}, required=[], description="Property a")},
             required=["a"])),
        ("smolagents", obj({"a": N, "b": {"anyOf": [S, {"type": "null"}]}}, additionalProperties=False),
         obj({"a": N | {"description": "see tool description"},
              "b": S | {"nullable": True, "description": "see tool description"}}, required=["a", "b"])),
        ("llama-index", obj({"a_b": N | {"minimum": 1}, "c": S | {"default": "x"}}, required=["c"]),
         obj({"a_b": {"anyOf": [N, {"type": "null"}], "default": None, "description": "", "title": "A B"},
              "c": S | {"default": "x", "description": "", "title": "C"}},
             required=["c"], additionalProperties=False)),
        ("mcp-use", obj({"a": {"enum": ["x"]}, "b-c": S}, required=["a", "b-c"]),
         obj({"a": S}, required=["a"])),
        ("crewai", obj({"a": {"type": "object"}}),
         obj({"a": {"anyOf": [obj({}, additionalProperties=False, required=[]), {"type": "null"}]}},
             required=["a"], additionalProperties=False)),
        ("mastra", obj({"a": S, "b": N | {"minimum": 2, "description": "x"}}, required=["b"]),
         obj({"a": {"anyOf": [S, {"type": "null"}]},
              "b": N | {"description": "x\nconstraints: greater than or equal to 2"}},
             required=["b", "a"], additionalProperties=False,
             **{"$schema": "http://json-schema.org/draft-07/schema#", "x-optional": ["a"]})),
    ],
)  # fmt: skip
def test_a_schema_becomes_what_the_clients_rule_says(
    client: str, declared: dict[str, Any], sent: dict[str, Any]
) -> None:
    found = sent_schema(find_client(client).schemas, declared).schema
    for name in {"wait_for_previous", "security_risk", "summary"} & found["properties"].keys():
        assert found["properties"].pop(name)["type"] in ("boolean", "string")
    assert found == sent


ANYTHING = any_json(*SCHEMA_KEYS, leaves=25)
WHAT = {
    "keys": ("type", "pattern", "a", "$ref"),
    "value": {
        "undescribe": 9,
        "tell": ["anyOf", "oneOf"],
        "merge_branches": {"anyOf": "x"},
        "inline": {},
        "fill_objects": {"properties": {}},
        "fill_parameters": {"type": "string", "description": "{name}"},
        "describe": "<{text}>",
        "require_all": "x-optional",
        "retype": {"untyped": {}, "object": {"type": "object"}, "inner": True},
        "optional": {"outside": ["description"], "unless": "default"},
        "lose_parameters": "[a-z]+",
        "word": {"pattern": "like {}", "minimum": "at least {}"},
    },
}


@given(
    st.sampled_from(sorted(SCHEMA_CHANGES)),
    st.dictionaries(st.sampled_from(SCHEMA_KEYS), ANYTHING),
)
def test_no_schema_is_too_odd_to_be_changed_and_the_servers_own_stays_as_it_is(
    name: Any, schema: dict[str, Any]
) -> None:
    before = repr(schema)
    what = SchemaChange(name, WHAT["keys"], WHAT["value"].get(name, False))  # type: ignore[attr-defined,arg-type]
    sent_schema(SchemaRule((what,)), schema)
    assert repr(schema) == before


def test_every_change_that_a_file_may_name_can_be_done() -> None:
    for client in all_clients():
        assert {change.does for change in client.schemas.changes} <= set(SCHEMA_CHANGES)
    assert set(SCHEMA_CHANGES) == set(get_args(get_type_hints(SchemaChange)["does"]))


def test_references_that_double_are_not_followed_without_end_and_one_within_itself_is_emptied() -> None:
    many = {f"D{n}": obj({side: {"$ref": f"#/$defs/D{n + 1}"} for side in "ab"}) for n in range(30)}
    sent = sent_schema(
        find_client("langchain").schemas, obj({"a": {"$ref": "#/$defs/D0"}}, **{"$defs": many})
    )
    assert len(str(sent.schema)) < 500_000
    own = obj({"a": {"$ref": "#/$defs/A"}}, **{"$defs": {"A": obj({"b": {"$ref": "#/$defs/A"}})}})
    found = sent_schema(find_client("langchain").schemas, own)
    assert found.schema == obj({"a": obj({"b": {}})})
    assert found.changes[0].kind is Kind.SCHEMA


@pytest.mark.parametrize(
    ("client", "schema", "kind"),
    [
        ("gemini-cli", obj({"a": S}), Kind.SPARE),
        ("opencode", obj({"a": S}), Kind.SPARE),
        ("opencode", obj({"a": S}, additionalProperties=True), Kind.SCHEMA),
        ("copilot-cli", obj({"a": S | {"maxLength": 2}}), Kind.SPARE),
        ("continue-cli", obj({"a": S}, **{"$defs": {}}), Kind.SCHEMA),
        ("codex", obj({"a": {"description": "x"}}), Kind.SCHEMA),
        ("droid", obj({"a": {"default": 1}}), Kind.SCHEMA),
        ("vercel-ai", obj({"a": S}), Kind.SPARE),
        ("smolagents", obj({"a": S | {"description": "x"}}), Kind.SCHEMA),
    ],
)
def test_a_change_counts_as_a_loss_only_where_a_call_may_need_what_is_gone(
    client: str, schema: dict[str, Any], kind: Kind
) -> None:
    assert {one.kind for one in sent_schema(find_client(client).schemas, schema).changes} == {kind}


def test_a_text_of_the_clients_own_comes_before_a_description_and_takes_its_room() -> None:
    tool = Tool("s", "a", "x" * 20_000, obj(allOf=[{"properties": {"a": S}}]))
    shown = see(find_client("claude-code"), tool).description.shown
    assert shown.startswith("Input constraint: all listed parameters")
    assert len(shown) == 16_384 + len("… [truncated]")
    assert (
        see(find_client("cline-cli"), Tool("s", "a", " ")).description.shown
        == 'Execute MCP tool "a" from server "s".'
    )


def test_of_a_tool_without_a_description_a_framework_says_its_title_or_what_it_likes() -> None:
    tool = Tool("s", "pay_bill", title="Pay a bill")
    told = {
        one: see(find_client(one), tool).description.shown for one in ("openai-agents", "strands", "dspy")
    }
    assert told == {"openai-agents": "Pay a bill", "strands": "Tool which performs pay_bill", "dspy": ""}
    adk = see(find_client("google-adk"), replace(tool, description="Pays.")).description.shown
    assert adk.split("\n")[1:-1] == ["Pays."]


def test_a_client_that_reads_one_page_gets_no_tool_of_the_second() -> None:
    tool = Tool("s", "a", page=2)
    assert see(find_client("kimi-code"), tool).refused
    assert not see(find_client("codex"), tool).refused
