"""A call is read from words and written as a line and as JSON-RPC, and stays the same call."""

import json
import shlex
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, strategies as st

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
    assert json.loads(json_rpc(replace(_tool(), task_support="required"), {}))["params"]["task"] == {}
