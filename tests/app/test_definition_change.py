"""What a person reads of a definition that changed, and of a tool whose server is away, on every page."""

from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from inspector.app.dialogs.approver import question_body
from inspector.app.draw.line import change_lines
from inspector.app.replay import Replay
from inspector.cli.consent import TerminalApprover
from inspector.core.definition import DefinitionChange, definition_changes
from inspector.core.ports import ApprovalRequest, Decision
from inspector.core.tool import Annotations, Tool
from inspector.features.clients.request_page import ManifestScreen
from inspector.features.tools.facts import server_facts
from inspector.mcp.question import approval_question
from tests.support.app import app_rig, said, seen, until
from tests.support.fakes import says, searches
from tests.support.hostile import LONG_KINDS
from tests.support.tools_page import opened
from tests.support.workbench import CITY, READS, connected, shop_and_weather
from tests.widgets.hostile import dangerous

FORECAST = Tool("weather", "get_forecast", "Forecast for a city.", CITY, READS)
ANEW = replace(FORECAST, description="Forecast for a city. Ten days.")
REFUND = Tool("shop", "refund_order", "Refund an order.", annotations=Annotations(read_only=False))
LOUD = replace(REFUND, description="Refund an order. Mail everybody.")


def _request() -> ApprovalRequest:
    return ApprovalRequest(LOUD, {"id": 7}, "it changed", definition_changes(REFUND, LOUD))


def test_a_question_shows_what_changed_after_the_arguments() -> None:
    text = str(question_body(approval_question(_request())))
    assert text.index("  id       7") < text.index("description\n+ Mail everybody.")


@pytest.mark.parametrize(("typed", "decision"), [("once", Decision.ONCE), ("", Decision.NO)])
async def test_the_terminal_shows_what_changed_and_takes_a_word(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, typed: str, decision: Decision
) -> None:
    monkeypatch.setattr(
        "inspector.cli.consent.sys", SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: True))
    )
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _text: typed)
    assert await TerminalApprover(yes=False).ask(_request()) is decision
    assert "  description\n    + Mail everybody." in capsys.readouterr().err


@pytest.mark.parametrize("name", LONG_KINDS)
def test_hostile_text_in_a_change_does_no_harm(name: str) -> None:
    text = LONG_KINDS[name]
    for line in change_lines(definition_changes(REFUND, replace(REFUND, description=text, title=text))):
        assert not dangerous(line.plain)
    change = DefinitionChange("parameters", tuple((f"a{n}: 1", f"a{n}: 2") for n in range(100)))
    assert [line.plain for line in change_lines([change])][-1] == "… and 40 more differences"


async def test_the_page_of_a_tool_shows_what_its_server_changed() -> None:
    async with app_rig() as (pilot, rig):
        await opened(pilot, FORECAST.id)
        await until(pilot, lambda: "Forecast for a city." in seen(pilot))
        assert "changed" not in said(pilot, "#tool-definition")
        rig.servers["weather"].change([ANEW])
        await until(pilot, lambda: "+ Ten days." in seen(pilot))
        hash_ = rig.bench.state.tools[FORECAST.id].definition[:12]
        assert f"description; now {hash_}, 2 definitions in this session" in said(pilot, "#tool-definition")
        assert "wording only" in said(pilot, "#tool-definition")
        assert "its description" in said(pilot, "#tool-definition")
        schema = {**FORECAST.input_schema, "required": ["city", "days"]}
        rig.servers["weather"].change([replace(ANEW, input_schema=schema)])
        await until(pilot, lambda: "parameter days is now required" in seen(pilot))
        assert "breaking" in said(pilot, "#tool-definition")
        state = rig.bench.state
        facts = server_facts(state.servers["weather"], tuple(state.changes.values()))
        assert "1 definition breaking" in [fact.text for fact in facts]


async def test_a_replay_shows_the_definitions_of_then_without_their_server() -> None:
    steps = (searches(tool_names=["get_forecast"]), says("Sunny."))
    async with connected(*steps) as earlier:
        await earlier.bench.chat("Forecast?")
        stream = earlier.bench.records()
    servers = {"calc": shop_and_weather()["calc"]}
    async with app_rig(servers=servers) as (pilot, rig):
        for record in stream:
            rig.store.append(replace(record, session="earlier"))
        replay: Replay = pilot.app.replay  # type: ignore[attr-defined]
        recorded = replay.read("earlier")
        replay.show(recorded, 2, replay.moment(recorded, 2))
        sent = {entry["function"]["name"]: entry for entry in replay.session.next_request().tools}
        assert sent["weather__get_forecast"]["function"]["description"] == FORECAST.description
        assert replay.session.catalog.get(FORECAST.id) == FORECAST
        pilot.app.push_screen(ManifestScreen())
        await until(pilot, lambda: isinstance(pilot.app.screen, ManifestScreen))
        assert "weather__get_forecast" in seen(pilot)
        await opened(pilot, FORECAST.id)
        await until(pilot, lambda: "Forecast for a city." in seen(pilot))
