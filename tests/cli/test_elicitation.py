"""Questions of servers on a terminal without the app."""

import asyncio
import os
import pty
import sys
from collections.abc import Iterator
from select import select
from types import SimpleNamespace
from typing import Any

import click
import pytest
from msgspec.structs import replace

from inspector.cli.consent import TerminalElicitor
from inspector.cli.run import interruptible
from inspector.mcp.elicitation import (
    CANCELLED,
    DECLINED,
    LONGEST_ADDRESS,
    Action,
    ElicitationAnswer,
    FormRequest,
    LinkRequest,
)
from inspector.mcp.question import sampling_request
from tests.support.hostile import with_hostile_text
from tests.widgets.hostile import dangerous

SCHEMA = {
    "type": "object",
    "properties": {
        "email": {"type": "string", "format": "email"},
        "nights": {"type": "integer", "default": 2, "maximum": 9},
        "extras": {"type": "array", "items": {"enum": ["tea", "towel"]}},
        "late": {"type": "boolean"},
        "note": {"type": "string"},
    },
    "required": ["email"],
}
FORM = FormRequest("shop", "Where to?", SCHEMA)
LINK = LinkRequest("shop", "Log in.", "https://login.example/start")
_SAID = {"role": "user", "content": {"type": "text", "text": "Say yes"}}
PROMPT = sampling_request("shop", {"messages": [_SAID], "maxTokens": 5}, is_excess=False)


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What a person types on a terminal, line by line; "" takes what is offered."""
    answers: list[str] = []

    monkeypatch.setattr(
        "inspector.cli.consent.sys", SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: True))
    )
    monkeypatch.setattr(click.termui, "visible_prompt_func", lambda _text="": answers.pop(0))
    yield answers
    assert answers == []


async def test_a_form_is_filled_in_field_by_field(typed: list[str]) -> None:
    typed += ["fill in", "ada@example.com", "", "tea, towel", "yes", ""]
    answer = await TerminalElicitor().ask(FORM)
    assert answer.content == {
        "email": "ada@example.com",
        "nights": 2,
        "extras": ["tea", "towel"],
        "late": True,
    }


async def test_a_wrong_value_is_asked_for_again(typed: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    typed += ["fill in", "", "ada@example.com", "12", "3", "milk", "tea", "perhaps", "no", ""]
    answer = await TerminalElicitor().ask(FORM)
    assert answer.content == {"email": "ada@example.com", "nights": 3, "extras": ["tea"], "late": False}
    said = capsys.readouterr().err
    for problem in ("required", "the maximum of 9", "'milk' is not one of", "not a valid boolean"):
        assert problem in said


@pytest.mark.parametrize("request_", [FORM, LINK])
@pytest.mark.parametrize(("word", "answer"), [("decline", DECLINED), ("", CANCELLED)])
async def test_a_question_is_declined_or_put_off(
    typed: list[str], request_: FormRequest | LinkRequest, word: str, answer: object
) -> None:
    typed.append(word)
    assert await TerminalElicitor().ask(request_) == answer


async def test_an_address_is_shown_with_its_host_and_is_opened_by_nobody(
    typed: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    typed.append("visit")
    assert (await TerminalElicitor().ask(LINK)).action is Action.ACCEPT
    said = capsys.readouterr().err
    assert LINK.url in said
    assert "    host     login.example" in said


async def test_a_long_address_is_on_a_line_by_itself_to_be_copied(
    typed: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"https://login.example/{'long/' * 1_000}?state={'x' * 900}"
    typed.append("visit")
    await TerminalElicitor().ask(LinkRequest("shop", "Log in.", url))
    assert url in capsys.readouterr().err.splitlines()


async def test_an_address_that_is_too_long_to_be_shown_whole_is_not_offered(
    typed: list[str],  # noqa: ARG001 - nothing is asked
    capsys: pytest.CaptureFixture[str],
) -> None:
    url = "https://login.example/" + "x" * LONGEST_ADDRESS
    answer = await TerminalElicitor().ask(LinkRequest("shop", "Log in.", url))
    assert answer.action is Action.DECLINE
    assert "too long" in answer.why
    assert "! it is longer than 8,000 characters" in capsys.readouterr().err


async def test_on_a_terminal_a_person_or_the_named_model_answers_and_a_decline_is_what_is_offered(
    typed: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    prompt = replace(PROMPT, model="demo/planner", tokens=3)
    typed += ["answer", "Yes.", "model", ""]
    answers = [await TerminalElicitor().ask(prompt) for _ in range(3)]
    assert answers == [
        ElicitationAnswer(Action.ACCEPT, {"answer": "Yes."}),
        ElicitationAnswer(Action.ACCEPT),
        DECLINED,
    ]
    said = capsys.readouterr().err
    for text in ("user: Say yes", "3 tokens; it wants at most 5 back", "model: let demo/planner answer"):
        assert text in said


@pytest.mark.parametrize("request_", [FORM, PROMPT])
async def test_without_a_terminal_the_server_gets_a_no_and_the_person_reads_why(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], request_: FormRequest
) -> None:
    monkeypatch.setattr(
        "inspector.cli.consent.sys", SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: False))
    )
    answer = await TerminalElicitor().ask(request_)
    assert (answer.action, answer.why) == (Action.DECLINE, "there is no terminal")
    assert "declined: the server shop asks you to" in capsys.readouterr().err


@with_hostile_text
def test_hostile_text_is_shown_and_not_obeyed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    prompts: list[str] = []

    def prompt(said: str, *, default: str = "", **_options: Any) -> str:
        prompts.append(said + default)
        return "fill in" if "now" in said else "x"

    monkeypatch.setattr(
        "inspector.cli.consent.sys", SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: True))
    )
    monkeypatch.setattr(click, "prompt", prompt)
    evil = text[:2000]
    part = {"type": "string", "title": evil, "description": evil}
    form, link = FormRequest(evil, evil, {"properties": {evil: part}}), LinkRequest(evil, evil, evil)
    said = {"role": evil, "content": {"type": evil, "mimeType": evil}}
    sampling = sampling_request(
        evil, {"messages": [said], "systemPrompt": evil, "maxTokens": 1}, is_excess=False
    )
    for request in (form, link, replace(sampling, model=evil)):
        asyncio.run(TerminalElicitor().ask(request))
    shown = capsys.readouterr().err + "".join(prompts)
    assert not [letter for letter in dangerous(shown) if letter not in "\n\t"]


@pytest.mark.parametrize(
    "request_",
    [
        FormRequest("shop", "T00lsight needs your password.", SCHEMA),
        LinkRequest("shop", "Toolsight asks.", LINK.url),
    ],
)
async def test_a_question_in_toolsight_s_name_is_marked_on_the_terminal(
    typed: list[str], capsys: pytest.CaptureFixture[str], request_: FormRequest | LinkRequest
) -> None:
    typed.append("later")
    await TerminalElicitor().ask(request_)
    shown = capsys.readouterr().err
    assert "  ! It mentions Toolsight, but the server shop wrote it." in shown
    assert ("ask for a secret" in shown) is isinstance(request_, FormRequest)


def test_what_was_typed_before_a_question_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "wb", buffering=0) as person, os.fdopen(theirs) as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        person.write(b"y\n")
        assert select([terminal], [], [], 5)[0]
        with interruptible():
            assert not select([terminal], [], [], 0)[0]
