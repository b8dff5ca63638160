"""The views of a tool, driven by keys, and what is said of it."""

import asyncio
import re
import shlex
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import TextArea

from inspector.app.dialogs.export import ExportDialog
from inspector.app.draw.definition import definition_lines, title_line
from inspector.app.draw.table import fact_lines
from inspector.core.error import CallTimeout
from inspector.core.events import CallFinished, CallStarted, Event, Record as EventRecord
from inspector.core.message import Attachment, ToolResult
from inspector.core.session import Binding, ToolState
from inspector.core.tool import Annotations, Tool
from inspector.features.tools import call_answer
from inspector.features.tools.facts import claims, tool_facts
from inspector.features.tools.page import ToolsScreen
from inspector.schema.json_value import JsonObject
from inspector.store.saved_call import SAVED_CALLS, saved_call
from tests.support.app import seen, toasts, until
from tests.support.hostile import with_hostile_text
from tests.support.memory_servers import MemoryServer, echo
from tests.support.tools_page import FORECAST, choose, rows, says, tools_page
from tests.support.workbench import CITY, READS, Rig, shop_and_weather
from tests.widgets.hostile import dangerous
from widgets import Confirm, JsonTree, PlainInput, Record, TextView

_SOURCE = ("--config", "my servers.json")


def _opened(
    tool_id: str, server: MemoryServer | None = None, view: str = "", **options: Any
) -> AbstractAsyncContextManager[tuple[Pilot[None], Rig]]:
    servers = shop_and_weather() | ({"weather": server} if server else {})
    return tools_page(tool_id, view, servers=servers, **options)


def _forecast(answer: object = None, annotations: Annotations = READS) -> MemoryServer:
    tool = Tool("weather", "get_forecast", "Forecast for a city.", CITY, annotations)
    return MemoryServer([tool], answer=answer or echo)  # type: ignore[arg-type]


async def _typed_in(pilot: Pilot[None]) -> None:
    await choose(pilot, "call")
    await until(pilot, lambda: type(pilot.app.focused).__name__ == "PlainInput")
    await pilot.press(*"Oslo", "enter")


async def test_a_call_shows_text_and_structure() -> None:
    async with _opened(FORECAST) as (pilot, rig):
        await _typed_in(pilot)
        await says(pilot, "✓ ok")
        assert pilot.app.screen.query_one("#result-text", TextView).text == '{"city":"Oslo"}'
        assert pilot.app.screen.query_one("#result-tree", JsonTree).value == {"city": "Oslo"}
        assert "used 1x" in seen(pilot)
        assert re.search(r"✓ ok   .* ms   \d+ tokens", seen(pilot))
        (started,) = rig.store.read("s", kinds=("call",))
        assert getattr(started.event, "by", "") == "user"
        rows(pilot).focus()
        await pilot.press("r")
        await until(pilot, lambda: rig.servers["weather"].calls == [("get_forecast", {"city": "Oslo"})] * 2)


async def test_what_is_typed_survives_a_new_catalog_and_nothing_is_called_before_it_is_complete() -> None:
    async with _opened(FORECAST) as (pilot, rig):
        await choose(pilot, "call")
        await pilot.press("ctrl+r")
        await says(pilot, "✕ required")
        assert rig.servers["weather"].calls == []
        await until(pilot, lambda: type(pilot.app.focused).__name__ == "PlainInput")
        await pilot.press(*"Oslo")
        rig.bench.switch_toolset("")
        await pilot.press(*" S", "enter")
        await says(pilot, "✓ ok")
        assert rig.servers["weather"].calls == [("get_forecast", {"city": "Oslo S"})]


async def test_a_call_that_a_person_fills_in_is_made_unasked_unless_it_destroys() -> None:
    async with _opened(FORECAST, _forecast(annotations=Annotations())) as (pilot, rig):
        rig.bench.trust("weather", trusted=False)
        await pilot.press("c", *"Oslo", "enter")
        await says(pilot, "✓ ok")
        assert rig.servers["weather"].calls == [("get_forecast", {"city": "Oslo"})]


async def test_arguments_can_be_edited_as_json_in_the_same_place() -> None:
    async with _opened(FORECAST) as (pilot, rig):
        await pilot.press("c", *"Oslo", "ctrl+t")
        await says(pilot, '"city": "Oslo"')
        area = pilot.app.screen.query_one("#form TextArea", TextArea)
        area.text = '["Oslo"]'
        await pilot.press("ctrl+r")
        await says(pilot, "✕ not a JSON object")
        area.text = '{"city": "Rome"}'
        await pilot.press("ctrl+t", "enter")
        await until(pilot, lambda: rig.servers["weather"].calls == [("get_forecast", {"city": "Rome"})])


async def test_what_is_no_value_yet_is_not_lost_on_the_way_to_json() -> None:
    schema = {"type": "object", "properties": {"days": {"type": "integer"}}, "required": ["days"]}
    tool = Tool("weather", "get_forecast", "Forecast.", schema, READS)
    async with _opened(FORECAST, MemoryServer([tool], answer=echo)) as (pilot, _):
        await pilot.press("c", *"soon", "ctrl+t")
        await says(pilot, "not a whole number")
        assert pilot.app.screen.query_one("#form PlainInput", PlainInput).value == "soon"


IMAGE = ToolResult(
    "[image]",
    structured={"city": 3},
    kinds=("image",),
    attachments=(Attachment("image", "image/png", "", "AAAA"),),
)


async def test_a_result_says_whether_it_fits_its_schema_and_what_a_client_would_lose(tmp_path: Path) -> None:
    async def paints(_tool: str, _arguments: JsonObject) -> ToolResult:
        return IMAGE

    tool = Tool("weather", "get_forecast", "Forecast.", CITY, READS, output_schema=CITY)
    async with _opened(FORECAST, MemoryServer([tool], answer=paints)) as (pilot, _):
        await _typed_in(pilot)
        await says(pilot, "✕ does not fit the output schema")
        await says(pilot, "$.city: 3 is not of type 'string'")
        await says(pilot, "✂ an error in place of it: Gemini CLI")
        await pilot.press("escape", "x", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ExportDialog))
        pilot.app.screen.query_one(PlainInput).value = str(tmp_path / "a.png")
        await pilot.press("enter")
        await until(pilot, lambda: (tmp_path / "a.png").exists())
        assert (tmp_path / "a.png").read_bytes() == bytes(3)


async def test_a_call_is_saved_with_a_name_chosen_again_and_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with _opened(FORECAST, beside={"source": _SOURCE}) as (pilot, rig):
        await pilot.press("c", "escape", "h")
        assert "No earlier call" in toasts(pilot)
        await pilot.press("x")
        assert "before the first call" in toasts(pilot)
        await rig.bench.call(FORECAST, {"city": "Rome"})
        await pilot.press("tab", "shift+tab", "ctrl+up")
        await says(pilot, "UTC by you  ok")
        await pilot.press("enter")
        await says(pilot, "│Rome")
        assert pilot.app.screen.query_one("#result-text", TextView).text == '{"city":"Rome"}'
        await pilot.press("escape", "x")
        await says(pilot, "Save the call")
        await pilot.press("ctrl+u", *"rome", "enter")
        await until(pilot, lambda: saved_call(tmp_path / SAVED_CALLS, "rome").arguments == {"city": "Rome"})
        assert f"toolsight call --saved rome {shlex.join(_SOURCE)}" in toasts(pilot)
        await pilot.press("h")
        await says(pilot, "saved as rome")
        await pilot.press("enter", "enter")
        await says(pilot, "same as before")
        assert rig.servers["weather"].calls == [("get_forecast", {"city": "Rome"})] * 2


async def test_a_models_calls_are_in_the_history_and_two_with_one_id_are_two() -> None:
    def record(number: int, event: Event) -> EventRecord:
        return EventRecord("s", number, 0.0, event)

    records = [
        record(1, CallStarted("1", FORECAST, {"city": "Oslo"})),
        record(2, CallFinished("1", FORECAST, True, "rain", 3.0)),
        record(3, CallStarted("1", "weather:other", {})),
        record(4, CallFinished("1", "weather:other", True, "")),
        record(5, CallStarted("1", FORECAST, {"city": "Rome"})),
        record(6, CallFinished("1", FORECAST, False, "no", 4.0)),
        record(7, CallStarted("2", FORECAST, {"city": "Bonn"})),
    ]
    past = call_answer.past_calls(records, FORECAST)
    texts = [one.result.text if one.result else None for one in past]
    assert list(zip([one.arguments["city"] for one in past], texts, strict=True)) == [
        ("Oslo", "rain"), ("Rome", "no"), ("Bonn", None),
    ]  # fmt: skip
    assert past[0].row.detail == "00:00:00 UTC by model  ok"


def test_a_result_is_compared_with_the_one_before_for_the_same_arguments() -> None:
    def past(city: str, text: str) -> call_answer.PastCall:
        row = Record("1", ("✓", city, ""))
        return call_answer.PastCall({"city": city}, row, "user", result=ToolResult(text))

    oslo, arguments = past("Oslo", "rain"), {"city": "Oslo"}
    sun = ToolResult("sun")
    assert call_answer.changes_since(None, [oslo], arguments, sun) is None
    later = [oslo, past("Rome", "snow"), past("Oslo", "sun")]
    assert call_answer.changes_since(None, later, arguments, sun) == ("-rain", "+sun")
    assert call_answer.changes_since(past("Oslo", "sun"), later, arguments, sun) == ()
    assert call_answer.changes_since(past("Rome", "snow"), later, arguments, sun) == ("-rain", "+sun")


@pytest.mark.parametrize(("keys", "called"), [("left enter", True), ("enter", False)])
async def test_a_tool_that_destroys_something_asks_first(keys: str, called: bool) -> None:
    async with _opened(FORECAST, _forecast(annotations=Annotations(destructive=True))) as (pilot, rig):
        await _typed_in(pilot)
        await until(pilot, lambda: isinstance(pilot.app.screen, Confirm))
        assert "marks it as destructive" in seen(pilot)
        assert "Oslo" in seen(pilot)
        await pilot.press("c", "n")
        assert isinstance(pilot.app.screen, Confirm)
        await pilot.press(*keys.split())
        await says(pilot, "✓ ok" if called else "Not called")
        assert len(rig.servers["weather"].calls) == called


async def test_an_error_of_the_tool_is_a_result_and_one_of_the_connection_comes_with_its_hint() -> None:
    answers = [CallTimeout("weather did not answer", hint="Raise call_timeout."), None]

    async def fails(_tool: str, _arguments: JsonObject) -> ToolResult:
        if error := answers.pop():
            raise error
        return ToolResult("no such city", is_error=True)

    async with _opened(FORECAST, _forecast(fails)) as (pilot, _):
        await _typed_in(pilot)
        await says(pilot, "✕ the tool failed")
        await says(pilot, "no such city")
        await pilot.press("enter")
        await says(pilot, "✕ weather did not answer")
        await says(pilot, "Raise call_timeout.")


async def test_esc_cancels_the_call_and_then_goes_back() -> None:
    async def never(_tool: str, _arguments: JsonObject) -> ToolResult:
        await asyncio.Event().wait()
        raise AssertionError

    async with _opened(FORECAST, _forecast(never)) as (pilot, rig):
        await _typed_in(pilot)
        await says(pilot, "esc cancels")
        await pilot.press("enter")
        await until(pilot, lambda: "A call is running" in toasts(pilot))
        await pilot.press("escape")
        await says(pilot, "Canceled.")
        await until(pilot, lambda: bool(rig.store.read("s", kinds=("result",))))
        (finished,) = rig.store.read("s", kinds=("result",))
        assert isinstance(finished.event, CallFinished)
        assert finished.event.text == "cancelled"
        # Out of the field, out of the page.
        await pilot.press("escape", "escape")
        await until(pilot, lambda: not isinstance(pilot.app.screen, ToolsScreen))


CHANGES = "its server says it makes changes"
TOOL = Tool("shop", "refund_order", "Refund an order.", annotations=Annotations(read_only=False))


def test_the_title_has_the_state_in_words_the_tokens_and_the_uses() -> None:
    state = ToolState(TOOL.id, 4120, Binding.LOADED, uses=2)
    text = title_line(TOOL, state, 100).plain
    assert text == "shop:refund_order   ● loaded\n4.1k tokens   used 2x"
    assert title_line(TOOL, state, 20).plain == "shop:refund_order\n● loaded   4.1k tokens   used 2x"


def said(state: ToolState | None, why: str = CHANGES, **more: Any) -> dict[str, str]:
    return {fact.label: fact.text for fact in tool_facts(TOOL, state, why, **more)}


def test_the_facts_say_who_claims_what_and_when_it_asks() -> None:
    facts = said(ToolState(TOOL.id, 1, Binding.EVICTED, reason="loop guard"))
    assert facts["name for the model"] == "shop__refund_order"
    assert facts["its server claims"] == "makes changes"
    assert facts["on a model call"] == f"you are asked because {CHANGES}"
    assert facts["evicted"] == "loop guard"
    assert said(None, "")["on a model call"].startswith("runs without asking: its trusted server says")
    exempt = {"binding.always_include": "shop:*", "guard.exempt": "*:refund_*"}
    facts = said(None, exemptions=exempt)
    assert facts["always bound"] == "binding.always_include: shop:*"
    assert facts["may repeat calls"] == "guard.exempt: *:refund_*"
    claimed = Annotations(read_only=True, open_world=False)
    assert claims(claimed) == ("only reads", "does not reach external systems")


@with_hostile_text
def test_hostile_text_of_a_tool_does_no_harm(text: str) -> None:
    tool = Tool(text, text, text, {"type": "object"}, TOOL.annotations, title=text)
    state = ToolState(tool.id, 1, Binding.EVICTED, reason=text)
    shown = (
        title_line(tool, state, 80),
        *definition_lines(tool),
        fact_lines(tool_facts(tool, state, CHANGES), 21, 80),
        call_answer.result_line(ToolResult("", kinds=(text,)), 1),
    )
    for drawn in shown:
        assert not dangerous(drawn.plain.replace("\n", "").replace("\t", ""))
