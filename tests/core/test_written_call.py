"""A call is read from words and written as a line, JSON-RPC and curl, and stays the same call."""

import json
import shlex
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, strategies as st
from mcp.shared.inbound import encode_header_value

from inspector.core.error import ConfigError
from inspector.core.server import Expansion, OAuthClient, ServerSpec
from inspector.core.tool import Tool
from inspector.core.written_call import command_line, curl, json_rpc, read_arguments, written

FILES = {"a.txt": "text of a", "b.json": '{"n": 2}', "-": '{"city": "Oslo"}'}
PARAMETERS: dict[str, Any] = {
    "city": {"type": "string"},
    "days": {"type": "integer"},
    "unit": {"enum": ["c", "f"]},
    "either": {"type": ["string", "integer"]},
    "tags": {"type": "array"},
}


def _tool(parameters: dict[str, Any] = PARAMETERS) -> Tool:
    return Tool("weather", "get", input_schema={"type": "object", "properties": parameters})


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        (("city=7", "days=7", "unit=c"), {"city": "7", "days": 7, "unit": "c"}),
        (("city:=null", 'tags:=["a"]'), {"city": None, "tags": ["a"]}),
        (("city=@a.txt", "tags:=@b.json"), {"city": "text of a", "tags": {"n": 2}}),
        (("@b.json",), {"n": 2}),
        (("@-",), {"city": "Oslo"}),
        (('{"days": 1}',), {"days": 1}),
        ((), {}),
    ],
)
def test_words_are_read_as_arguments(words: tuple[str, ...], arguments: dict[str, Any]) -> None:
    assert read_arguments(_tool(), words, FILES.__getitem__) == arguments


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("[1]",), ""),
        (("city",), "Write city=VALUE"),
        (("ctiy=Oslo",), "Parameters: city"),
        (("days:={",), ""),
        (("{",), "not valid JSON"),
        (("@a.txt",), ""),
        (("@b.json", "city=a"), "a JSON object must hold all"),
    ],
)
def test_words_that_are_no_arguments_are_refused(words: tuple[str, ...], said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read_arguments(_tool(), words, FILES.__getitem__)
    assert said in f"{refused.value.message} {refused.value.hint}"


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"]), max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([*PARAMETERS]) | st.text(max_size=6), values, max_size=4))
def test_a_copied_line_reads_as_the_same_call(arguments: dict[str, Any]) -> None:
    for tool in (_tool(), _tool({}), _tool({name: {} for name in arguments})):
        program, command, tool_id, *words = shlex.split(command_line(tool, arguments))
        assert (program, command, tool_id) == ("toolsight", "call", "weather:get")
        assert read_arguments(tool, words, FILES.__getitem__) == arguments


def test_json_rpc_is_what_a_server_gets() -> None:
    sent = json.loads(json_rpc(_tool(), {"city": "Oslo"}))
    assert sent["method"] == "tools/call"
    assert sent["params"] == {"name": "get", "arguments": {"city": "Oslo"}}


def test_a_copied_call_of_a_tool_that_runs_only_as_a_task_asks_for_one() -> None:
    for form in ("json-rpc", "curl"):
        tool = replace(_tool(), task_support="required")
        text = written(form, tool, {}, ServerSpec("weather", url="https://h/mcp"), "2025-11-25", ())
        assert '"task":{}' in text


SPEC = ServerSpec("weather", url="https://h/mcp?a='b'", headers={"Authorization": "Bearer hidden-value"})


@pytest.mark.parametrize(("protocol", "commands"), [("2025-11-25", 3), ("2026-07-28", 1)])
def test_curl_names_the_address_and_leaves_header_values_to_variables(protocol: str, commands: int) -> None:
    text = curl(_tool(), {"city": "it's"}, SPEC, protocol)
    assert len(text.splitlines()) == commands
    assert "hidden-value" not in text
    last = shlex.split(text.splitlines()[-1])
    assert last[:3] == ["curl", "-sS", SPEC.url]
    assert "Authorization: $AUTHORIZATION" in last
    assert json.loads(last[-1])["params"]["arguments"] == {"city": "it's"}


def _written(schema: dict[str, Any], arguments: dict[str, Any], spec: ServerSpec = SPEC) -> list[str]:
    return shlex.split(curl(Tool("weather", "get", "", schema), arguments, spec, "2026-07-28"))


def test_curl_repeats_arguments_as_the_headers_that_the_schema_names() -> None:
    region = {"type": "string", "x-mcp-header": "Region"}
    part = {"type": "object", "properties": {"deep": {"type": "boolean", "x-mcp-header": "Deep"}}}
    schema = {"type": "object", "properties": {"region": region, "bad": {"x-mcp-header": "a b"}, "b": part}}
    sent = _written(schema, {"region": "eu", "bad": 1, "b": {"deep": True}})
    names = [word for word in sent if word.startswith("Mcp-Param-")]
    assert names == ["Mcp-Param-Region: eu", "Mcp-Param-Deep: true"]
    assert not any(word.startswith("Mcp-Param-") for word in _written(schema, {}))
    for odd in ("Å", " eu", "=?base64?ZXU=?="):
        assert f"Mcp-Param-Region: {encode_header_value(odd)}" in _written(schema, {"region": odd})


def test_curl_leaves_variables_of_the_address_and_a_token_to_the_shell() -> None:
    shown = Expansion("url", ("TEAM",), "https://h/${env:TEAM}/mcp?k=${KEY:-none}")
    spec = ServerSpec("a", url="https://h/t/mcp?k=v", expansions=(shown,), oauth=OAuthClient(client_id="me"))
    text = curl(_tool(), {}, spec, "2026-07-28")
    assert text.startswith("""curl -sS https://h/"${TEAM}"'/mcp?k='"${KEY}" """)
    assert "Authorization: Bearer $ACCESS_TOKEN" in text


def test_a_server_that_is_a_command_has_no_curl() -> None:
    with pytest.raises(ConfigError, match="no address"):
        curl(_tool(), {}, ServerSpec("weather", command="x"), "2025-11-25")
