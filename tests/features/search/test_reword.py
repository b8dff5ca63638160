"""A request as the chosen model words it: in the terminal and in Find, said in a line and never silently."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from textual.pilot import Pilot

from inspector.app.dialogs.export import ExportDialog
from inspector.cli import composition
from inspector.cli.run import Exit
from inspector.core.error import ModelError
from inspector.core.message import ModelChunk, ModelReply, ModelRequest, UserMessage
from inspector.core.ranking import SearchOffer, SearchRequest
from inspector.features.search import command
from inspector.features.search.page import SearchScreen
from inspector.features.search.rankers_pane import RankersPane
from inspector.search.answer.rewording import Rewording, reword
from tests.support.app import app_rig, goes, said, seen, toasts, until
from tests.support.commands import Toolsight
from tests.support.fakes import ToldModel, says
from tests.support.weather_configuration import write_weather_configuration
from tests.support.workbench import Rig
from widgets import PlainInput, RecordRows

TYPED, BETTER = "will it be wet", "get the forecast of a city"
SECRET = "sk-abc123def456ghi789jkl012"
FAILED = ModelError("openai is overloaded (503)", hint="Wait.")
CUT = ModelReply("get the forecast of", finish_reason="length")
FAILURES = (
    (says(""), "the model answered nothing"),
    (says(" \n"), "the model answered nothing"),
    (says('""'), "the model answered nothing"),
    (says("-"), "the model finds that nothing is asked"),
    (says("a" * 301), "the model answered more than 300 characters"),
    (says("get the forecast\nfind a city"), "the model answered several lines"),
    (CUT, "the model's answer was cut off"),
    (FAILED, "the model failed: openai is overloaded (503)"),
)


@pytest.mark.parametrize(("step", "why"), FAILURES)
async def test_an_answer_that_is_no_query_leaves_the_request_as_typed_and_says_why(
    step: ModelReply | ModelError, why: str
) -> None:
    found = await reword(ToldModel(step), TYPED, SearchOffer())
    assert found == Rewording("", why)
    request = SearchRequest(TYPED, "weather")
    assert found.of(request) == request
    assert found.line == f"asked as typed: {why}"


@pytest.mark.parametrize(
    ("answer", "query"),
    [
        (f"  {BETTER}\n", BETTER),
        (f'"{BETTER}"', BETTER),
        (f"`{BETTER}`", BETTER),
        ("“find a page”", "find a page"),
        ('find pages with "budget"', 'find pages with "budget"'),
        ("b" * 300, "b" * 300),
    ],
)
async def test_the_answer_is_the_query_and_the_rest_of_the_request_stays(answer: str, query: str) -> None:
    found = await reword(ToldModel(says(answer)), TYPED, SearchOffer())
    assert found == Rewording(query)
    assert found.of(SearchRequest(TYPED, "weather", tags=("t",))) == SearchRequest(
        query, "weather", tags=("t",)
    )


@pytest.mark.parametrize("matching", ["both", "words", "pattern"])
async def test_the_model_is_asked_once_in_the_words_of_search_tools_without_a_tool(matching: str) -> None:
    model, offer = ToldModel(says(BETTER)), SearchOffer(matching)  # type: ignore[arg-type]
    await reword(model, "w" * 5_000, offer)
    (sent,) = model.requests
    assert offer.parameters()["properties"]["query"]["description"] in sent.system
    assert "the query alone; '-' if nothing is asked" in sent.system
    assert sent.messages == (UserMessage("w" * 2_000),)
    assert (sent.tools, sent.max_output) == ((), 600)


@pytest.fixture(scope="module")
def configured(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    path = write_weather_configuration(tmp_path_factory.mktemp("reworded"))
    settings = json.loads(path.read_text())
    settings["tool_discovery"] = {"defer_all": True, "embedding_model": "none"}
    path.write_text(json.dumps(settings))
    return ("--config", str(path), "--approve", "--model", "told")


def told(monkeypatch: pytest.MonkeyPatch, *steps: ModelReply | ModelError) -> ToldModel:
    """A model in place of any that is chosen."""
    model = ToldModel(*steps)
    for module in (composition, command):
        monkeypatch.setattr(module, "chosen_model", lambda *_: model)
    return model


def test_a_reworded_search_says_in_its_first_line_what_was_searched_for(
    toolsight: Toolsight, configured: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = told(monkeypatch, says(BETTER), says(BETTER))
    done = toolsight("search", TYPED, "--reword", *configured)
    assert done.exit_code == Exit.DONE, done.stderr
    assert done.stdout.splitlines()[0] == f"asked as: {BETTER}"
    found = json.loads(toolsight("search", TYPED, "--reword", "--json", *configured).stdout)
    assert (found["asked_as"], found["not_reworded"]) == (BETTER, "")
    assert found["request"]["query"] == BETTER
    assert found["hits"][0]["score"]["tool_id"] == "weather:get_forecast"
    assert [request.messages for request in model.requests] == [(UserMessage(TYPED),)] * 2
    # Without an embedding model the session's own search_tools says so.
    assert all("Uses keyword matching." in request.system for request in model.requests)


@pytest.mark.parametrize(("step", "why"), [FAILURES[0], FAILURES[-1]])
def test_a_model_that_gives_no_query_leaves_the_search_as_typed(
    toolsight: Toolsight,
    configured: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    step: ModelReply | ModelError,
    why: str,
) -> None:
    told(monkeypatch, step, step)
    done = toolsight("search", TYPED, "--reword", *configured)
    assert done.exit_code == Exit.DONE, done.stderr
    assert done.stdout.splitlines()[0] == f"asked as typed: {why}"
    found = json.loads(toolsight("search", TYPED, "--reword", "--json", *configured).stdout)
    assert (found["asked_as"], found["not_reworded"], found["request"]["query"]) == ("", why, TYPED)


def test_no_model_is_asked_and_nothing_is_added_without_reword(
    toolsight: Toolsight, configured: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = told(monkeypatch)
    assert "asked as" not in toolsight("search", TYPED, *configured).stdout
    assert "asked_as" not in json.loads(toolsight("search", TYPED, "--json", *configured).stdout)
    assert model.requests == []


def test_a_secret_that_a_model_writes_is_printed_nowhere(
    toolsight: Toolsight, configured: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = says(f"find a page with {SECRET}")
    told(monkeypatch, answer, answer)
    for more in ((), ("--json",)):
        done = toolsight("search", TYPED, "--reword", *more, *configured)
        assert "find a page with [redacted" in done.stdout
        assert SECRET not in done.stdout + done.stderr


def test_without_a_chosen_model_it_is_an_error_with_a_hint_before_anything_is_started(
    toolsight: Toolsight,
) -> None:
    done = toolsight("search", TYPED, "--reword", "--", "no-such-program")
    assert done.exit_code == Exit.FAILED
    assert "error: demo/planner follows rules and cannot write" in done.stderr
    assert "hint:  Choose a language model: --model" in done.stderr
    assert "no-such-program" not in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("--server", "weather"),
        (TYPED, "--why", "get_alerts"),
        (TYPED, "--compare"),
        (TYPED, "--steps"),
        (TYPED, "--client", "codex", "--client", "vscode"),
    ],
)
def test_only_a_plain_search_with_a_query_is_reworded(
    toolsight: Toolsight, configured: tuple[str, ...], words: tuple[str, ...]
) -> None:
    done = toolsight("search", *words, "--reword", *configured)
    assert done.exit_code == 2
    assert "--reword needs QUERY" in done.stderr


# The page.


async def _typed(pilot: Pilot[None], text: str) -> None:
    """Search for a text as a person."""
    await goes(pilot, "search")
    await until(pilot, lambda: isinstance(pilot.app.focused, PlainInput))
    pilot.app.screen.query_one("#query", PlainInput).value = text
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(pilot.app.focused, RecordRows))


def _page(pilot: Pilot[None]) -> SearchScreen:
    assert isinstance(pilot.app.screen, SearchScreen)
    return pilot.app.screen


def _queries(rig: Rig) -> list[str]:
    return [event.report.request.query for event in rig.events("search")]


def _first_fact(pilot: Pilot[None]) -> str:
    return said(pilot, "#facts").splitlines()[0]


class _Slow:
    """Lets a rig's model answer only when told to."""

    def __init__(self, rig: Rig) -> None:
        self.answers, self.asked, self.left = asyncio.Event(), 0, 0
        rig.model.stream = self._stream  # type: ignore[method-assign,assignment]

    async def _stream(self, _: ModelRequest) -> AsyncIterator[ModelChunk]:
        self.asked += 1
        try:
            await self.answers.wait()
        finally:
            self.left += 1
        yield says("refund an order")


async def test_m_searches_as_the_model_words_it_and_says_so_above_the_results() -> None:
    async with app_rig(says("refund an order")) as (pilot, rig):
        await _typed(pilot, "money back")
        await pilot.press("m")
        await until(pilot, lambda: _first_fact(pilot) == "asked as: refund an order")
        assert rig.model.requests[0].messages == (UserMessage("money back"),)
        assert _queries(rig) == ["money back", "refund an order"]
        assert _page(pilot).query_one("#query", PlainInput).value == "money back"
        assert _page(pilot)._results.found.shown[0].key == "shop:refund_order"
        assert rig.bench.state.load_order == ()
        # A search with other words says nothing of the model any more.
        await pilot.press("i", "enter")
        await until(pilot, lambda: len(_queries(rig)) == 3)
        assert "asked as" not in said(pilot, "#facts")


@pytest.mark.parametrize(("step", "why"), [FAILURES[3], FAILURES[-1]])
async def test_a_failure_is_said_there_too_and_what_was_typed_is_searched_for(
    step: ModelReply | ModelError, why: str
) -> None:
    async with app_rig(step) as (pilot, rig):
        await _typed(pilot, "money back")
        await pilot.press("m")
        await until(pilot, lambda: _first_fact(pilot) == f"asked as typed: {why}")
        assert _queries(rig) == ["money back", "money back"]


async def test_the_rules_of_the_demo_say_that_they_cannot_reword() -> None:
    async with app_rig() as (pilot, rig):
        rig.model.name = "demo/planner"
        await _typed(pilot, "money back")
        await pilot.press("m")
        await until(pilot, lambda: "follows rules and cannot write" in toasts(pilot))
        assert "Choose a language model" in toasts(pilot)
        assert rig.model.requests == []
        assert _queries(rig) == ["money back"]


async def test_without_a_query_no_model_is_asked() -> None:
    async with app_rig() as (pilot, rig):
        await _typed(pilot, "money back")
        _page(pilot).query_one("#query", PlainInput).value = " "
        await pilot.press("m")
        await until(pilot, lambda: "Search first" in toasts(pilot))
        assert rig.model.requests == []


async def test_while_the_model_answers_keys_work_and_it_is_asked_only_once() -> None:
    async with app_rig() as (pilot, rig):
        slow = _Slow(rig)
        await _typed(pilot, "refund")
        await pilot.press("m")
        await until(pilot, lambda: slow.asked == 1)
        before = _page(pilot).tool_id
        await pilot.press("j", "m")
        await until(pilot, lambda: "Rewording runs; esc stops it." in toasts(pilot))
        assert _page(pilot).tool_id != before
        assert slow.asked == 1
        slow.answers.set()
        await until(pilot, lambda: _first_fact(pilot) == "asked as: refund an order")


@pytest.mark.parametrize("keys", [(), ("u",)], ids=["in the list", "beside it"])
async def test_esc_stops_asking_and_the_search_stays(keys: tuple[str, ...]) -> None:
    async with app_rig() as (pilot, rig):
        slow = _Slow(rig)
        await _typed(pilot, "refund")
        await pilot.press(*keys)
        await until(pilot, lambda: not keys or _page(pilot).query_one(RankersPane).has_focus_within)
        await pilot.press("m")
        await until(pilot, lambda: slow.asked == 1)
        await pilot.press("escape")
        await until(pilot, lambda: slow.left == 1)
        assert _page(pilot).running is None
        slow.answers.set()
        await pilot.pause()
        assert _queries(rig) == ["refund"]


async def test_a_newer_search_wins_over_a_model_that_still_answers() -> None:
    async with app_rig() as (pilot, rig):
        slow = _Slow(rig)
        await _typed(pilot, "refund")
        await pilot.press("m")
        await until(pilot, lambda: slow.asked == 1)
        await pilot.press("i", "enter")
        await until(pilot, lambda: slow.left == 1)
        assert _queries(rig) == ["refund", "refund"]
        assert "asked as" not in said(pilot, "#facts")


async def test_what_is_typed_meanwhile_keeps_the_cursor() -> None:
    async with app_rig() as (pilot, rig):
        slow = _Slow(rig)
        await _typed(pilot, "refund")
        await pilot.press("m", "i")
        await until(pilot, lambda: slow.asked == 1)
        slow.answers.set()
        await until(pilot, lambda: _first_fact(pilot) == "asked as: refund an order")
        await pilot.press("end", "a", "b")
        assert _page(pilot).query_one("#query", PlainInput).value == "refundab"


async def test_another_ranker_and_the_export_still_say_what_was_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with app_rig(says("refund an order")) as (pilot, rig):
        await _typed(pilot, "money back")
        await pilot.press("m")
        await until(pilot, lambda: len(_queries(rig)) == 2)
        await pilot.press("u")
        await until(pilot, lambda: _page(pilot).query_one(RankersPane).has_focus_within)
        await pilot.press("down", "u")
        await until(pilot, lambda: len(_queries(rig)) == 3)
        assert _queries(rig)[-1] == "refund an order"
        assert _first_fact(pilot) == "asked as: refund an order"
        await pilot.press("x")
        await until(pilot, lambda: isinstance(pilot.app.screen, ExportDialog))
        await pilot.press("enter")
        await until(pilot, lambda: (tmp_path / "search.html").exists())
        assert "asked as: refund an order" in (tmp_path / "search.html").read_text()


async def test_a_replay_asks_no_model() -> None:
    async with app_rig(says("It is.")) as (pilot, rig):
        await rig.bench.chat("Is it?")
        await goes(pilot, "timeline")
        await until(pilot, lambda: "now, after" in seen(pilot))
        await pilot.press("home", "enter")
        await until(pilot, lambda: bool(pilot.app.replay.is_replay))  # type: ignore[attr-defined]
        await goes(pilot, "search")
        await until(pilot, lambda: isinstance(pilot.app.screen, SearchScreen))
        page = _page(pilot)
        page.query_one("#query", PlainInput).value = "money back"
        page.action_reword()
        await until(pilot, lambda: "read-only" in toasts(pilot))
        assert len(rig.model.requests) == 1
        assert page.running is None
