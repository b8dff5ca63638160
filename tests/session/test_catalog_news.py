"""What was said of the catalog stays as it was sent; what changed since is said at the end."""

import asyncio
import re

from hypothesis import given, settings, strategies as st

from inspector.core.message import ModelRequest, NoteMessage
from inspector.core.tool import Tool
from tests.support.fakes import says
from tests.support.workbench import CITY, READS, Rig, connected, happens

FORECAST = Tool("weather", "get_forecast", "Forecast for a city.", CITY, READS)
MOON = Tool("weather", "get_moon", "Phase of the moon.", annotations=READS)
_TIDES = Tool("weather", "get_tides", "When the water is high.", annotations=READS)


def _notes(request: ModelRequest) -> list[str]:
    return [message.text for message in request.messages if isinstance(message, NoteMessage)]


async def change(rig: Rig, *tools: Tool) -> None:
    """The weather server lists other tools; returns once the catalog is built of them."""
    rig.clock.advance(60)
    rig.servers["weather"].change(tools)
    await happens(rig.bench, "catalog")


async def _say(rig: Rig, text: str = "Go on.") -> ModelRequest:
    rig.model.steps.append(says("done"))
    await rig.bench.chat(text)
    return rig.model.requests[-1]


async def test_rewrite_promises_nothing_and_writes_the_manifest_anew() -> None:
    async with connected(says("done"), profile="prd", values={"binding.delivery": "rewrite"}) as rig:
        await rig.bench.chat("Hello.")
        await change(rig, FORECAST, MOON)
        request = await _say(rig)
        assert "get_moon" in request.tools[0]["function"]["description"]
        assert _notes(request) == []


async def test_a_change_before_the_first_request_is_in_the_manifest() -> None:
    async with connected(profile="prd") as rig:
        await change(rig, FORECAST, MOON)
        request = await _say(rig)
        assert "get_moon" in request.tools[0]["function"]["description"]
        assert _notes(request) == []


async def test_what_changed_and_changed_back_between_two_requests_is_not_told() -> None:
    async with connected(says("done"), profile="prd") as rig:
        await rig.bench.chat("Hello.")
        await change(rig)
        await change(rig, FORECAST)
        assert _notes(await _say(rig)) == []
        assert rig.events("catalog_told") == []


async def test_a_note_that_made_room_is_told_again() -> None:
    async with connected(says("done"), profile="prd") as rig:
        await rig.bench.chat("Hello.")
        await change(rig, FORECAST, MOON)
        await _say(rig)
        loop = rig.bench._parts.chat.loop
        loop.messages = tuple(one for one in loop.messages if not isinstance(one, NoteMessage))
        assert ["get_moon" in note for note in _notes(await _say(rig))] == [True]


async def test_other_settings_write_the_manifest_anew() -> None:
    async with connected(says("done"), profile="prd") as rig:
        await rig.bench.chat("Hello.")
        await change(rig, FORECAST, MOON)
        await _say(rig)
        rig.bench.switch_toolset("sums")
        rig.bench.switch_toolset("")
        assert "get_moon" in rig.bench.next_request().tools[0]["function"]["description"]


_LINE = re.compile(r"^- (\w+) \(\d+ tools?\): (.*)$", re.MULTILINE)
_GONE = re.compile(r"any more:\] (.*)")


def _read(known: dict[str, str], text: str) -> dict[str, str]:
    """What a reader of a manifest or a note knows then of every server's tools."""
    gone = _GONE.search(text)
    away = gone[1].split(", ") if gone else []
    left = {server: tools for server, tools in known.items() if server not in away}
    return left | dict(_LINE.findall(text))


@settings(max_examples=20, deadline=None)
@given(st.lists(st.sets(st.sampled_from((FORECAST, MOON, _TIDES)).map(lambda tool: tool.name)), max_size=5))
def test_manifest_and_notes_together_name_what_can_be_found(lists: list[set[str]]) -> None:
    async def session() -> None:
        async with connected(says("done"), profile="prd") as rig:
            await rig.bench.chat("Hello.")
            for listed in lists:
                server = rig.servers["weather"]
                if listed != {tool.name for tool in server.tools}:
                    await change(rig, *(tool for tool in (FORECAST, MOON, _TIDES) if tool.name in listed))
                request = await _say(rig)
                texts = (request.tools[0]["function"]["description"], *_notes(request))
                found = [tool.name for tool in rig.bench.catalog.deferred if tool.server == "weather"]
                known: dict[str, str] = {}
                for text in texts:
                    known = _read(known, text)
                assert known.get("weather", "") == ", ".join(found)

    asyncio.run(session())
