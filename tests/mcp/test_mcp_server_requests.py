"""What servers ask their client for over a real wire, in both eras."""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from inspector.core.error import CallTimeout
from inspector.core.server import Era
from inspector.core.settings import ClientCapabilities
from inspector.mcp.client import server_request
from inspector.mcp.client.connector import McpConnector
from inspector.mcp.client.server_request import CallQuestions, Patience
from inspector.mcp.elicitation import (
    DECLINED,
    QUESTIONS_A_CALL,
    Action,
    ElicitationAnswer,
    ElicitationRequest,
    FormRequest,
    LinkRequest,
)
from inspector.mcp.port import TOO_MANY, Elicitor, Opening, ServerLink, SessionClient
from inspector.mcp.question import Sampler
from tests.support.fakes import FixedElicitor, ToldModel
from tests.support.mcp_case import PATIENCE, SUPPORT, python

pytestmark = pytest.mark.slow

YES = ElicitationAnswer(Action.ACCEPT, {"city": "Paris"})
ALL = ClientCapabilities(sampling=True)


@asynccontextmanager
async def asked_by(
    folder: Path,
    elicitor: Elicitor | None = None,
    capabilities: ClientCapabilities | None = ALL,
    era: Era = Era.LEGACY,
    events: list[Any] | None = None,
) -> AsyncGenerator[ServerLink, None]:
    """A connection to the server that asks; without capabilities it has no client."""
    spec = python(
        SUPPORT / "mcp_asking_server.py",
        "asking",
        env={"ASKING": "modern" if era is Era.MODERN else ""},
        era=era,
    )
    told = [] if events is None else events
    client = None
    if capabilities is not None:
        client = SessionClient(
            "asking",
            capabilities,
            ("/work",),
            elicitor or FixedElicitor(YES),
            lambda: told.append,
            lambda: Sampler(ToldModel(), len, 100),
        )
    connector = McpConnector(folder)
    async with (
        asyncio.timeout(PATIENCE),
        connector.connect(spec, Opening(client=client)) as link,
    ):
        yield link


async def said(link: ServerLink, tool: str, timeout: float = 5.0) -> Any:
    """What a tool of the server that asks says that it was answered."""
    return json.loads((await link.call(tool, {}, timeout=timeout)).text)


@pytest.mark.parametrize("era", [Era.LEGACY, Era.MODERN])
async def test_every_question_is_answered_by_toolsights_own_side(tmp_path: Path, era: Era) -> None:
    elicitor, events = FixedElicitor(YES), list[Any]()
    async with asked_by(tmp_path, elicitor, era=era, events=events) as link:
        form, link_, folders = [await said(link, tool) for tool in ("form", "link", "folders")]
        if era is Era.MODERN:
            assert {form[1], link_[1], folders[1]} == {"s"}
            form, link_, folders = form[0], link_[0], folders[0]
    assert form == {"action": "accept", "content": {"city": "Paris"}}
    assert link_ == {"action": "accept"}
    assert folders["roots"][0]["uri"] == "file:///work"
    asked_form, asked_link = elicitor.asked
    assert isinstance(asked_form, FormRequest)
    assert asked_form.message == "Where?"
    assert isinstance(asked_link, LinkRequest)
    assert asked_link.url == "https://pay.example/1"
    assert [event.what for event in events if event.kind == "asked"] == ["form", "link", "roots"]


@pytest.mark.parametrize("era", [Era.LEGACY, Era.MODERN])
async def test_a_server_gets_a_persons_answer_in_place_of_a_models_or_the_reason_for_none(
    tmp_path: Path, era: Era
) -> None:
    elicitor = FixedElicitor(ElicitationAnswer(Action.ACCEPT, {"answer": "yes"}))
    async with asked_by(tmp_path, elicitor, era=era) as link:
        told = await said(link, "sample")
        assert (told[0] if era is Era.MODERN else told) == {
            "role": "assistant",
            "content": {"type": "text", "text": "yes"},
            "model": "a person",
            "stopReason": "endTurn",
        }
        elicitor.answer = DECLINED
        result = await link.call("sample", {}, timeout=5)
    assert "the person declined" in result.text
    assert result.is_error is (era is Era.MODERN)


@pytest.mark.parametrize("era", [Era.LEGACY, Era.MODERN])
@pytest.mark.parametrize(
    ("capabilities", "declared"),
    [
        (None, {}),
        (ClientCapabilities(tasks=False), {"roots": {}, "elicitation": {"form": {}, "url": {}}}),
        (
            ClientCapabilities(roots=False, links=False, sampling=True, tasks=False),
            {"elicitation": {"form": {}}, "sampling": {}},
        ),
    ],
)
async def test_a_server_is_told_exactly_what_is_declared(
    tmp_path: Path, era: Era, capabilities: ClientCapabilities | None, declared: Any
) -> None:
    async with asked_by(tmp_path, capabilities=capabilities, era=era) as link:
        told = await said(link, "declared")
        assert (told if era is Era.MODERN else told[0]) == declared


async def test_without_a_client_everything_is_refused(tmp_path: Path) -> None:
    async with asked_by(tmp_path, capabilities=None) as link:
        codes = [(await said(link, tool))["code"] for tool in ("form", "link", "folders", "sample")]
    assert codes == [-32602, -32602, -32601, -32601]


async def test_an_error_that_demands_a_visit_asks_for_it_and_says_to_call_again(tmp_path: Path) -> None:
    elicitor = FixedElicitor(YES)
    async with asked_by(tmp_path, elicitor) as link:
        result = await link.call("demand", {}, timeout=5)
        assert await said(link, "done") == "done"
        assert result.is_error
        assert "call it again once" in result.text
        assert len(elicitor.asked) == 1
        elicitor.answer = DECLINED
        assert "was not visited" in (await link.call("demand", {}, timeout=5)).text


async def test_a_tool_that_never_has_enough_input_is_ended(tmp_path: Path) -> None:
    async with asked_by(tmp_path, era=Era.MODERN) as link:
        assert "asks for more after 10" in (await link.call("endless", {}, timeout=5)).text


@pytest.mark.parametrize("era", [Era.LEGACY, Era.MODERN])
async def test_a_call_that_asks_again_and_again_is_refused_after_a_few_questions(
    tmp_path: Path, era: Era
) -> None:
    yes = ElicitationAnswer(Action.ACCEPT, {"city": "Paris", "answer": "yes"})
    elicitor, events = FixedElicitor(yes), list[Any]()
    async with asked_by(tmp_path, elicitor, era=era, events=events) as link:
        for call in (1, 2):
            result = await link.call("nagging", {}, timeout=5)
            assert TOO_MANY in result.text
            assert len(elicitor.asked) == QUESTIONS_A_CALL * call
    assert TOO_MANY in [event.why for event in events if event.kind == "answered"]


def test_calls_that_run_at_once_have_their_questions_together_and_none_is_left_over() -> None:
    calls = CallQuestions()
    with calls.running():
        with calls.running():
            assert not any(calls.is_excess() for _ in range(QUESTIONS_A_CALL + 1))
        assert not any(calls.is_excess() for _ in range(QUESTIONS_A_CALL - 1))
        assert calls.is_excess()
    assert not calls.is_excess()
    with calls.running():
        assert [calls.is_excess() for _ in range(QUESTIONS_A_CALL + 1)] == [False] * QUESTIONS_A_CALL + [True]


async def test_a_question_that_the_server_withdraws_is_taken_back(tmp_path: Path) -> None:
    gone = asyncio.Event()

    class Waiting:
        async def ask(self, _request: ElicitationRequest) -> ElicitationAnswer:
            try:
                await asyncio.Event().wait()
            finally:
                gone.set()
            raise AssertionError

    async with asked_by(tmp_path, Waiting()) as link:
        assert await said(link, "cancel") == "taken back"
        await gone.wait()


async def test_a_person_who_is_asked_takes_no_time_of_a_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits: list[float | None] = []

    class Looking(Patience):
        @contextmanager
        def paused(self) -> Iterator[None]:
            with super().paused():
                limits.extend(limit.when() for limit in self._limits)
                yield

    monkeypatch.setattr(server_request, "Patience", Looking)
    yes = ElicitationAnswer(Action.ACCEPT, {"city": "Paris", "answer": "yes"})
    async with asked_by(tmp_path, FixedElicitor(yes)) as link:
        assert (await said(link, "form"))["action"] == "accept"
        assert (await said(link, "sample"))["role"] == "assistant"
    assert limits == [None, None]


async def test_after_the_answer_a_calls_time_goes_on() -> None:
    patience = Patience()
    async with patience.limit(50.0) as limit:
        before = limit.when()
        with patience.paused(), patience.paused():
            assert limit.when() is None
        after = limit.when()
    assert before is not None
    assert after is not None
    assert before <= after < before + 50


async def test_a_question_that_comes_as_a_limit_expires_is_asked_and_the_call_ends() -> None:
    patience, asked = Patience(), []

    async def call() -> None:
        async with patience.limit(0.0):
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                with patience.paused():
                    asked.append("Where?")
                raise

    with pytest.raises(TimeoutError):
        await call()
    assert asked == ["Where?"]


@pytest.mark.parametrize(("era", "method"), [(Era.LEGACY, "ping"), (Era.MODERN, "server/discover")])
async def test_a_sign_of_life_is_answered_in_both_eras(tmp_path: Path, era: Era, method: str) -> None:
    async with asked_by(tmp_path, era=era) as link:
        assert isinstance(await link.request(method, {}, timeout=5), dict)
        with pytest.raises(CallTimeout, match="did not answer resources/list within"):
            await link.request("resources/list", {}, timeout=0.05)
