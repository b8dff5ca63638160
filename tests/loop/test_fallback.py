"""Fallback: a tool that is not available is answered by one that is like it, and the model is told."""

from collections.abc import Mapping
from typing import Any

import pytest

from inspector.config.configuration import Configuration
from inspector.core.access import ServerRule, Toolset
from inspector.core.error import CallTimeout, ConnectError, ToolsightError
from inspector.core.events import Decision
from inspector.core.message import ToolResult
from inspector.core.server import ServerSpec
from inspector.core.tool import Annotations, Tool
from inspector.loop import breaker
from inspector.schema.json_value import JsonObject
from tests.loop.test_session_breakers import Moody
from tests.support.fakes import FixedApprover, calls
from tests.support.memory_servers import MemoryServer
from tests.support.workbench import CITY, READS, Rig, connected, opened

ON: Mapping[str, Any] = {"fallback.enabled": True, "fallback.min_similarity": 0.5}
WORDS = "Forecast of temperature, wind and rain for a city."
PLACE = {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]}
SLOW = CallTimeout("forecast did not return within 60 s")
OSLO = calls(("one__forecast", {"city": "Oslo"}))
WRITES = Annotations(read_only=False)


def two(
    failure: ToolsightError | ToolResult = SLOW,
    *,
    claims: Annotations = READS,
    others: Annotations = READS,
    schema: JsonObject = PLACE,
    name: str = "forecast",
) -> dict[str, MemoryServer]:
    """Two servers with like tools, of which the first fails."""
    return {
        "one": MemoryServer([Tool("one", "forecast", WORDS, CITY, claims)], answer=Moody(failure)),
        "two": MemoryServer([Tool("two", name, WORDS, schema, others)], answer=Moody(ToolResult("sunny"))),
    }


def setup(*servers: str, trusted: bool = True) -> Configuration:
    """Both servers, always bound."""
    names = servers or ("one", "two")
    specs = tuple(ServerSpec(name, name, trust_annotations=trusted) for name in names)
    return Configuration("test.json", specs, {"one": Toolset("one", "", {"one": ServerRule()})})


def substitutes(rig: Rig) -> list[str]:
    return [event.tool for event in rig.events("substitute")]


async def test_a_call_whose_attempts_failed_is_answered_by_a_similar_tool_and_the_model_reads_by_which() -> (
    None
):
    async with connected(OSLO, servers=two(), configuration=setup(), values=ON) as rig:
        await rig.bench.chat("go")
        note = "[one:forecast is not available: timed out; it may have run. "
        note += "two:forecast answered instead, with city as place.]"
        assert rig.results == [f"{note}\n\nsunny"]
        (event,) = rig.events("substitute")
        assert (event.instead_of, event.tool, event.mapping) == (
            "one:forecast",
            "two:forecast",
            {"city": "place"},
        )
        assert event.similarity >= 0.5
        assert rig.servers["two"].calls == [("forecast", {"place": "Oslo"})]
        assert [result.tool for result in rig.events("result")] == ["one:forecast", "two:forecast"]


@pytest.mark.parametrize(
    ("claims", "others"),
    [
        (READS, WRITES),
        (READS, Annotations(read_only=True, destructive=True)),
        (WRITES, READS),
        (Annotations(destructive=True, idempotent=True), READS),
    ],
)
async def test_nothing_that_may_change_something_stands_in_or_is_stood_in_for(
    claims: Annotations, others: Annotations
) -> None:
    servers = two(claims=claims, others=others)
    async with connected(OSLO, servers=servers, configuration=setup(), values=ON) as rig:
        await rig.bench.chat("go")
        assert substitutes(rig) == []
        assert rig.servers["two"].calls == []


async def test_a_claim_to_read_counts_only_of_a_trusted_server() -> None:
    async with connected(OSLO, servers=two(), configuration=setup(trusted=False), values=ON) as rig:
        await rig.bench.chat("go")
        assert substitutes(rig) == []


MORE = {**CITY, "required": ["city", "country"], "properties": {"city": {}, "country": {}}}
CHOICE = {"type": "object", "properties": {"city": {"enum": ["Bergen"]}}, "required": ["city"]}


@pytest.mark.parametrize("schema", [MORE, CHOICE])
async def test_a_schema_that_does_not_take_the_arguments_is_no_substitute(schema: JsonObject) -> None:
    async with connected(OSLO, servers=two(schema=schema), configuration=setup(), values=ON) as rig:
        await rig.bench.chat("go")
        assert substitutes(rig) == []


async def test_a_tool_whose_precondition_does_not_hold_is_no_substitute() -> None:
    values = {**ON, "access.preconditions": {"two:*": ("milestone_reached('paid')",)}}
    async with connected(OSLO, servers=two(), configuration=setup(), values=values) as rig:
        await rig.bench.chat("go")
        assert substitutes(rig) == []


async def test_an_answer_that_says_no_is_an_answer() -> None:
    servers = two(ToolResult("no such city", is_error=True))
    async with connected(OSLO, servers=servers, configuration=setup(), values=ON) as rig:
        await rig.bench.chat("go")
        assert substitutes(rig) == []


async def test_a_substitute_that_fails_gives_way_to_the_next_and_then_to_the_error() -> None:
    servers = two()
    servers["two"].answer = Moody(ConnectError("gone"))
    async with connected(OSLO, servers=servers, configuration=setup(), values=ON) as rig:
        await rig.bench.chat("go")
        assert substitutes(rig) == ["two:forecast"]
        assert "did not return within 60 s" in rig.results[0]


async def test_no_more_than_two_substitutes_are_tried() -> None:
    tools = [Tool("two", name, WORDS, PLACE, READS) for name in ("forecast", "outlook", "preview")]
    servers = {**two(), "two": MemoryServer(tools, answer=Moody(ConnectError("gone")))}
    values = {**ON, "fallback.min_similarity": 0.1}
    async with connected(OSLO, servers=servers, configuration=setup(), values=values) as rig:
        await rig.bench.chat("go")
        assert len(substitutes(rig)) == 2


async def test_a_substitute_that_was_refused_before_is_asked_about_again() -> None:
    approver = FixedApprover(Decision.NO)
    steps = calls(("two__forecast", {"place": "Oslo"})), OSLO
    async with opened(*steps, servers=two(), configuration=setup(), approver=approver, values=ON) as rig:
        rig.bench.connect()
        await rig.bench.wait_connected()
        rig.bench.trust("two", trusted=False)
        rig.model.steps = [steps[0]]
        await rig.bench.chat("go")
        rig.bench.trust("two", trusted=True)
        rig.model.steps = [steps[1]]
        await rig.bench.chat("go on")
        assert [request.tool.id for request in approver.asked] == ["two:forecast"] * 2
        assert substitutes(rig) == []


async def test_switched_off_a_refusal_names_the_similar_tools_that_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(breaker, "MIN_CALLS", 1)
    values = {"breaker.enabled": True, "fallback.min_similarity": 0.5}
    async with connected(OSLO, OSLO, servers=two(), configuration=setup(), values=values) as rig:
        await rig.bench.chat("go")
        (rejected,) = rig.events("reject")
        assert rejected.closest == ("one:forecast", "two:forecast")
        assert "Similar tools that work: two:forecast." in rig.results[-1]
