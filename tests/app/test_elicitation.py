"""A server's question on screen: a form or an address, answered, refused, put off, or taken back."""

import asyncio
import webbrowser
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input

from inspector.app.app import ToolsightApp
from inspector.app.dialogs.approver import QuestionDialog, question_body
from inspector.app.dialogs.elicitor import AnswerDialog, FormDialog, shown_field
from inspector.config.configuration import Configuration
from inspector.core.server import ServerSpec
from inspector.mcp.client.connector import McpConnector
from inspector.mcp.elicitation import (
    CANCELLED,
    DECLINED,
    Action,
    ElicitationAnswer,
    ElicitationRequest,
    FormRequest,
    LinkRequest,
    form_fields,
)
from inspector.mcp.question import sampling_request, server_question
from inspector.mcp.sign_in.kept import SignIns
from inspector.mcp.sign_in.person import SignInWay
from tests.support.app import app_rig, is_up_to_date, seen, toasts, until
from tests.support.hostile import with_hostile_text
from tests.support.mcp_case import serving
from tests.support.oauth_server import OAuthServer
from tests.support.tools_page import opened
from tests.widgets.hostile import dangerous
from widgets import Guarded, Prompt

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "email": {"type": "string", "format": "email", "title": "Your e-mail"},
        "nights": {"type": "integer", "minimum": 1, "default": 2},
        "room": {
            "type": "string",
            "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}],
        },
        "extras": {"type": "array", "items": {"type": "string", "enum": ["tea", "towel"]}},
        "late": {"type": "boolean"},
    },
    "required": ["email"],
}
FORM = FormRequest("shop", "Where do we send the bill?", SCHEMA)
LINK = LinkRequest("shop", "Log in first.", "https://login.example/start?x=1")


PROMPT = sampling_request(
    "shop",
    {
        "systemPrompt": "You sell shoes.",
        "messages": [{"role": "user", "content": {"type": "text", "text": "Size 42?"}}],
        "maxTokens": 1_000,
    },
    is_excess=False,
)


@asynccontextmanager
async def asking(
    request: ElicitationRequest, size: tuple[int, int] = (100, 44), *, at_home: bool = False
) -> AsyncGenerator[tuple[Pilot[None], "asyncio.Task[ElicitationAnswer]"], None]:
    """The app while a server asks."""
    values = {"client.sampling": True}
    async with app_rig(size=size, at_home=at_home, values=values) as (pilot, rig):
        task = asyncio.create_task(rig.servers["shop"].client.elicit(request))
        await until(pilot, lambda: isinstance(pilot.app.screen, FormDialog | QuestionDialog))
        yield pilot, task
        task.cancel()


async def test_a_filled_in_form_reaches_the_server_with_its_types() -> None:
    async with asking(FORM) as (pilot, task):
        await pilot.press("tab", *"ada@example.com", "tab", "backspace", "3", "tab")
        await pilot.press("enter", "down", "down", "enter", "tab", "space", "tab", "enter", "down", "enter")
        await pilot.press("ctrl+r")
        assert (await task).content == {
            "email": "ada@example.com",
            "nights": 3,
            "room": "l",
            "extras": ["tea"],
            "late": True,
        }


def test_a_field_has_an_example_and_says_what_is_wrong_with_a_value() -> None:
    email, nights = map(shown_field, form_fields(SCHEMA)[:2])
    assert email.example.startswith("an e-mail address such as")
    assert (nights.check(0), nights.check(1)) == ("0 is less than the minimum of 1", "")


@pytest.mark.parametrize(
    ("request_", "keys", "answer"),
    [
        (FORM, ("escape",), CANCELLED),
        (FORM, ("shift+tab", "enter"), DECLINED),
        (LINK, ("enter",), CANCELLED),
        (LINK, ("left", "enter"), DECLINED),
        (PROMPT, ("escape",), DECLINED),
    ],
)
async def test_a_question_is_declined_or_put_off_without_values(
    request_: ElicitationRequest, keys: tuple[str, ...], answer: ElicitationAnswer
) -> None:
    async with asking(request_) as (pilot, task):
        await pilot.press(*keys)
        assert await task == answer


async def test_letters_are_for_the_form_only_once_a_field_was_chosen_and_no_key_is_in_the_first_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [0.0]
    monkeypatch.setattr(Guarded, "clock", lambda: now[0])
    async with asking(FORM, at_home=True) as (pilot, task):
        prompt = pilot.app.screen_stack[0].query_one(Prompt)
        await pilot.press(*"pay it")
        assert prompt.value == "pay it"
        await pilot.press("tab", "enter")
        assert not task.done()
        now[0] = 60.0
        await pilot.press(*" late")
        assert not any("late" in field.value for field in pilot.app.screen.query(Input))
        assert prompt.value == " late"
        now[0] = 120.0
        await pilot.press("tab", *"late")
        assert pilot.app.screen.query(Input).first().value == "late"


@pytest.mark.parametrize("request_", [FORM, LINK], ids=["form", "choice"])
async def test_the_answers_are_drawn_dim_until_they_open(
    request_: ElicitationRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(Guarded, "clock", lambda: now[0])
    async with asking(request_) as (pilot, _task):

        def drawn() -> Any:
            strips = pilot.app.screen._compositor.render_strips()
            return next(part.style for strip in strips for part in strip if "not now" in part.text)

        await until(pilot, lambda: "open in a moment" in seen(pilot))
        waiting = drawn()
        now[0] = 60.0
        await pilot.press("a")
        now[0] = 120.0
        await until(pilot, lambda: "open in a moment" not in seen(pilot))
        assert waiting.color != drawn().color


async def test_a_person_answers_in_place_of_a_model_in_as_many_lines_as_it_takes() -> None:
    async with asking(PROMPT, size=(80, 24)) as (pilot, task):
        for text in ("system: You sell shoes.", "user: Size 42?", "at most 1,000 back"):
            assert text in seen(pilot)
        await pilot.press("tab", *"In red.", "enter", *"In blue.", "ctrl+r")
        content = (await task).content
        assert content is not None
        assert (content["text"], content["by"]) == ("In red.\nIn blue.", "a person")


@pytest.mark.parametrize(("lefts", "way"), [(3, "open_url"), (2, "copy_to_clipboard")])
async def test_an_address_is_shown_whole_and_a_yes_does_with_it_what_it_says(
    monkeypatch: pytest.MonkeyPatch, lefts: int, way: str
) -> None:
    done: list[tuple[str, str]] = []
    for name in ("open_url", "copy_to_clipboard"):
        monkeypatch.setattr(ToolsightApp, name, lambda _self, url, name=name: done.append((name, url)))
    async with asking(LINK) as (pilot, task):
        assert f"│  {LINK.url}  " in seen(pilot)
        assert done == []
        await pilot.press(*["left"] * lefts, "enter")
        assert (await task).action is Action.ACCEPT
        assert done == [(way, LINK.url)]


async def test_one_question_is_asked_after_the_other() -> None:
    async with app_rig() as (pilot, rig):
        client = rig.servers["shop"].client
        first, second = (asyncio.create_task(client.elicit(request)) for request in (FORM, LINK))
        await until(pilot, lambda: isinstance(pilot.app.screen, FormDialog))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, QuestionDialog))
        await pilot.press("escape")
        assert [await first, await second] == [CANCELLED, CANCELLED]
        answered = [event.answer for event in rig.events("answered") if event.what != "roots"]
        assert answered == ["cancel", "cancel"]


def body(request: ElicitationRequest) -> str:
    return str(question_body(server_question(request)))


@with_hostile_text
def test_hostile_text_of_a_question_is_shown_and_not_obeyed(text: str) -> None:
    evil = text[:2000]
    request = FormRequest(evil, evil, {"properties": {evil: {"title": evil}}})
    form = body(request)
    link = body(LinkRequest(evil, evil, evil))
    assert not [letter for letter in dangerous(form + link) if letter not in "\n\t"]


def test_a_question_in_toolsight_s_name_is_marked_with_who_wrote_it() -> None:
    said = "T00lsight needs your API key."
    form = body(FormRequest("shop", said, SCHEMA))
    assert "! It seems to ask for a secret" in form
    for text in (form, body(LinkRequest("shop", said, LINK.url))):
        assert "! It mentions Toolsight, but the server shop wrote it." in text
    assert "!" not in body(FORM)


@asynccontextmanager
async def signing_in(
    folder: Path, *keys: str, fault: str = ""
) -> AsyncGenerator[tuple[Pilot[None], OAuthServer], None]:
    """The app with a server that needs a sign-in, after keys were pressed on it."""
    server = OAuthServer(fault)
    way = SignInWay(SignIns(folder / "sign-ins.json"))
    async with serving(server) as origin:
        configuration = Configuration("test.json", (ServerSpec("notes", url=f"{origin}/mcp"),))
        connector = McpConnector(folder / "logs", way=way)
        async with app_rig(configuration=configuration, mcp=connector, settled=False) as (pilot, rig):
            await until(pilot, lambda: any(one.needs_login for one in rig.bench.state.servers.values()))
            await until(pilot, lambda: is_up_to_date(pilot, rig))
            await opened(pilot, "notes")
            await until(pilot, lambda: "⚠ sign in" in seen(pilot))
            assert "needs sign-in" in seen(pilot)
            await pilot.press(*keys)
            yield pilot, server


def shows(pilot: Pilot[None], kind: type[Screen[Any]]) -> Callable[[], bool]:
    return lambda: isinstance(pilot.app.screen, kind)


async def paste_answer(pilot: Pilot[None]) -> None:
    """Do what a person does who visits the address elsewhere."""
    dialog = pilot.app.screen
    assert isinstance(dialog, AnswerDialog)
    answer = await asyncio.to_thread(httpx2.get, dialog.where, verify=False)
    dialog.query_one(Input).value = answer.headers["location"]
    await pilot.press("enter")


async def test_three_keys_sign_in_and_as_many_sign_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    visited: list[str] = []

    def browser(address: str) -> bool:
        visited.append(address)
        where = httpx2.get(address, verify=False).headers["location"]
        return httpx2.get(where, verify=False).is_success

    monkeypatch.setattr(webbrowser, "open", browser)
    async with signing_in(tmp_path, "i") as (pilot, server):
        await until(pilot, shows(pilot, QuestionDialog))
        assert server.origin.removeprefix("http://") in seen(pilot)
        assert visited == []
        await pilot.press("tab", "enter")
        await until(pilot, lambda: "✓ ready" in seen(pilot))
        assert len(visited) == 1
        assert "kept in" in toasts(pilot)
        assert "a file that only you can read" in toasts(pilot)
        await pilot.press("I")
        await pilot.press("tab", "enter")
        await until(pilot, lambda: "⚠ sign in" in seen(pilot))
        assert "Signed out" in toasts(pilot)


async def test_without_a_browser_the_answer_is_pasted_into_the_app(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda _address: False)
    async with signing_in(tmp_path, "i") as (pilot, _server):
        await until(pilot, shows(pilot, QuestionDialog))
        await pilot.press("tab", "enter")
        await until(pilot, shows(pilot, AnswerDialog))
        await pilot.press(*"no", "enter")
        assert "not the answer to a sign-in" in seen(pilot)
        await paste_answer(pilot)
        await until(pilot, lambda: "✓ ready" in seen(pilot))


@pytest.mark.parametrize("waits_for", [QuestionDialog, AnswerDialog, "/token"])
async def test_escape_cancels_a_sign_in_whatever_it_waits_for(
    tmp_path: Path, waits_for: type[Screen[Any]] | str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda _address: False)
    async with signing_in(tmp_path, "i", fault="silent token") as (pilot, server):
        await until(pilot, shows(pilot, QuestionDialog))
        if waits_for is not QuestionDialog:
            await pilot.press("tab", "enter")
            await until(pilot, shows(pilot, AnswerDialog))
        if isinstance(waits_for, str):
            await paste_answer(pilot)
            await until(pilot, lambda: waits_for in server.seen)
        await pilot.press("escape")
        await until(pilot, lambda: "cancelled" in toasts(pilot))
        assert "⚠ sign in" in seen(pilot)
        assert not (tmp_path / "sign-ins.json").exists()
