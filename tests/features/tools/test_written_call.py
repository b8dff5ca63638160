"""A call is read from words and written as a line and as JSON-RPC, and stays the same call."""

import json
import shlex
from typing import Any

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from inspector.core.error import ConfigError
from inspector.core.tool import Tool
from inspector.features.tools.call import command_line, json_rpc, read_arguments

FILES = {"a.txt": "text of a", "b.json": '{"n": 2}', "-": '{"city": "Oslo"}'}
PARAMETERS: dict[str, Any] = {
    "city": {"type": "string"},
    "days": {"type": "integer"},
    "unit": {"enum": ["c", "f"]},
    "either": {"type": ["string", "integer"]},
    "tags": {"type": "array"},
}
NESTED: dict[str, Any] = {
    "place": {"$ref": "#/$defs/place"},
    "free": {"type": ["object", "null"]},
    "legs": {"type": "array", "items": {"properties": {"to": {}, "km": {"type": "integer"}, "via": {}}}},
    "x[]": {"type": "string"},
    "x": {"type": "array"},
}
_PLACE = {"properties": {"lat": {"type": "integer"}, "tag": {"type": "object"}, "unit.c": {"type": "string"}}}


def _tool(parameters: dict[str, Any] = PARAMETERS) -> Tool:
    schema = {"type": "object", "properties": parameters, "$defs": {"place": _PLACE}}
    return Tool("weather", "get", input_schema=schema)


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
        (
            ("place.lat=1", "place.tag.x=y", "place.unit.c=u"),
            {"place": {"lat": 1, "tag": {"x": "y"}, "unit.c": "u"}},
        ),
        (("free.a.b=1", "free.c[]=2", "free.c[]:=3"), {"free": {"a": {"b": "1"}, "c": ["2", 3]}}),
        (("legs[].to=A", "legs[].km=1", "legs[].to=B"), {"legs": [{"to": "A", "km": 1}, {"to": "B"}]}),
        (("legs[].via.a=1", "legs[].via.b=2"), {"legs": [{"via": {"a": "1", "b": "2"}}]}),
        (("x[]=1",), {"x[]": "1"}),
    ],
)
def test_words_are_read_as_arguments(words: tuple[str, ...], arguments: dict[str, Any]) -> None:
    assert read_arguments(_tool(PARAMETERS | NESTED), words, FILES.__getitem__) == arguments


def test_words_change_saved_arguments_where_they_lead() -> None:
    saved = {"place": {"lat": 1, "tag": {"x": 1}}, "tags": ["a"], "city": "Oslo"}
    kept = json.dumps(saved)
    words = ("place.lat=2", "tags[]=b", "city=Rome")
    changed = read_arguments(_tool(PARAMETERS | NESTED), words, FILES.__getitem__, saved)
    assert changed == {"place": {"lat": 2, "tag": {"x": 1}}, "tags": ["a", "b"], "city": "Rome"}
    assert json.dumps(saved) == kept


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
        (("city.x=1",), "city is string, not object Write city=VALUE"),
        (("place[]=1",), "place is object, not array"),
        (("place.lon=1",), "place has no parameter 'lon' Parameters: lat, tag, unit.c"),
        (("place.lat=x",), "place.lat must be integer, not 'x'"),
        (("legs[].km.x=1",), "legs[].km is integer, not object"),
        (("tags[0]=1",), "weather:get has no parameter 'tags[0]' Parameters: tags"),
        (("free..a=1",), "'free..a' leads to no value"),
        (("tags[]a=1",), "'tags[]a' leads to no value"),
        ((f"free{'.a' * 2000}=1",), "leads to no value"),
    ],
)
def test_words_that_are_no_arguments_are_refused(words: tuple[str, ...], said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read_arguments(_tool(PARAMETERS | NESTED), words, FILES.__getitem__)
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
    assert json.loads(json_rpc(replace(_tool(), task_support="required"), {}))["params"]["task"] == {}
