"""Counting: the parts are the whole, and the whole is what tiktoken makes of the serialized request."""

import json
from typing import Any
from unittest.mock import Mock

import pytest
import tiktoken
from hypothesis import given, strategies as st

from inspector.core.message import (
    AssistantMessage,
    Message,
    ModelRequest,
    NoteMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from inspector.core.tool import Tool, definition
from inspector.schema.json_value import compact
from inspector.tokens.counter import TiktokenCounter
from inspector.tokens.manifest import search_tools_definition, wire_message, wire_system
from inspector.tokens.measure import BudgetMeter, attribute
from tests.support.any_json import any_json
from tests.support.fakes import character_meter

MODELS = {"openai/gpt-5": "o200k_base", "openai/gpt-4": "cl100k_base"}
METERS = {name: BudgetMeter(TiktokenCounter(name), lambda: 128_000) for name in MODELS}
FORECAST = Tool("weather", "get_forecast", "Forecast for a city.", {"type": "object", "properties": {}})

ODD = ('"', "}},{", "'s it", "  \n\n ", "a\u2028b", "…}", "\\", "12345", "\u0301", "日本", "/\r\n", "\ud800")
anything = st.text(max_size=60) | st.sampled_from(ODD)
names = st.from_regex(r"[A-Za-z0-9_-]{1,12}", fullmatch=True)
json_values = any_json(texts=anything)
schemas = st.dictionaries(anything, json_values, max_size=4)
tools = st.lists(st.builds(Tool, names, names, anything, schemas), max_size=4, unique_by=lambda tool: tool.id)
calls = st.builds(ToolCall, names, names, st.dictionaries(anything, json_values, max_size=2))
messages: st.SearchStrategy[Message] = st.one_of(
    st.builds(UserMessage, anything),
    st.builds(AssistantMessage, anything, st.lists(calls, max_size=2).map(tuple)),
    st.builds(ToolMessage, names, names | st.just("search_tools"), anything),
    st.builds(NoteMessage, anything),
    st.builds(NoteMessage, st.lists(anything).map("\n- ".join), st.just(3)),
)
requests = st.builds(
    lambda system, said, bound, searches, manifest: ModelRequest(
        system,
        tuple(said),
        (*([search_tools_definition(manifest)] if searches else []), *map(definition, bound)),
        100,
    ),
    anything,
    st.lists(messages, max_size=5),
    tools,
    st.booleans(),
    anything,
)


def serialized(request: ModelRequest) -> str:
    """The body as it goes out, by the standard library alone."""
    system = [wire_system(request.system)] if request.system else []
    body: dict[str, Any] = {"messages": [*system, *map(wire_message, request.messages)]}
    body |= {"tools": list(request.tools)} if request.tools else {}
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace").decode("utf-8")


@pytest.mark.parametrize("model", MODELS)
@given(request_=requests)
def test_the_parts_add_up_to_what_tiktoken_counts_of_the_serialized_request(
    model: str, request_: ModelRequest
) -> None:
    METERS[model].text("warm")  # which tells tiktoken where its files are
    expected = len(tiktoken.get_encoding(MODELS[model]).encode_ordinary(serialized(request_)))
    assert METERS[model].measure(request_, 0).parts.input == expected


@given(request_=requests)
def test_the_blocks_of_the_cache_are_the_same_tokens(request_: ModelRequest) -> None:
    meter = METERS["openai/gpt-5"]
    blocks = meter.blocks(request_)
    if blocks:
        assert sum(block.tokens for block in blocks) == meter.measure(request_, 0).parts.input


def test_name_description_and_schema_are_told_apart() -> None:
    cost = character_meter().cost(FORECAST)
    assert (cost.name, cost.description) == (len("weather__get_forecast"), len("Forecast for a city."))
    assert cost.schema == len(compact(FORECAST.input_schema))
    assert cost.chars == cost.name + cost.description + cost.schema
    assert cost.estimate == round(cost.chars / 4)


def test_manifest_pool_and_instructions_are_parts_of_their_own() -> None:
    meter, manifest, pool, told = character_meter(), 'notes "and" more', "- a: b\n- c: d", 'Say "so".\nEnd.'
    request = ModelRequest(f"Be brief.\n\n{told}\n\n{pool}", (), (search_tools_definition(manifest),), 10)
    whole = meter.measure(request, 0).parts
    split = meter.measure(request, 0, pool=pool, manifest=manifest, instructions=told).parts
    assert split.manifest == len(json.dumps(manifest)) - 2
    assert split.pool == len(json.dumps(pool)) - 2
    assert split.instructions == len(json.dumps(told)) - 2
    assert split.input == whole.input
    assert split.meta == whole.meta - split.manifest
    assert split.system == whole.system - split.pool - split.instructions


@given(
    lengths=st.lists(st.integers(1, 5), max_size=30),
    cuts=st.lists(st.integers(0, 60), min_size=6, max_size=6, unique=True).map(sorted),
)
def test_every_token_belongs_to_one_part(lengths: list[int], cuts: list[int]) -> None:
    spans = [(cuts[0], cuts[1]), (cuts[2], cuts[3]), (cuts[4], cuts[5])]
    counts = attribute(lengths, spans)
    assert sum(counts) == len(lengths)
    begins = [sum(lengths[:place]) for place in range(len(lengths))]
    assert counts[:3] == [sum(start <= at < end for at in begins) for start, end in spans]


def test_definitions_that_stay_are_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up, entry, meter = Mock(), BudgetMeter.entry, character_meter()
    monkeypatch.setattr(BudgetMeter, "entry", lambda self, one: (looked_up(), entry(self, one))[1])
    entries = tuple(definition(FORECAST) for _ in range(50))
    measured = [
        meter.measure(ModelRequest("", (UserMessage("go"),) * turn, entries, 0), 0).parts.tools
        for turn in range(1, 5)
    ]
    assert (len(set(measured)), looked_up.call_count) == (1, len(entries))
    meter.measure(ModelRequest("", (), entries[1:], 0), 0)
    assert looked_up.call_count == 2 * len(entries) - 1
