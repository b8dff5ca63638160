"""A question is answered with one key."""

import pytest
from textual.app import App
from textual.content import Content

from tests.widgets.hostile import HOSTILE, LONG, dangerous
from tests.widgets.screen import lines
from widgets import Choice, Confirm

CHOICES = (Choice("o", "once"), Choice("s", "this session", "session"), Choice("n", "no"))


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (["o"], "once"),
        (["s"], "session"),
        (["n"], "no"),
        (["escape"], "no"),
        (["enter"], "once"),
        (["right", "enter"], "session"),
        (["tab", "tab", "enter"], "no"),
    ],
)
async def test_a_key_gives_its_answer(keys: list[str], answer: str) -> None:
    app = App[None]()
    answers: list[str | None] = []
    async with app.run_test() as pilot:
        app.push_screen(Confirm("Run it?", "It deletes.", CHOICES), answers.append)
        await pilot.pause()
        await pilot.press(*keys)
        assert answers == [answer]


async def test_hostile_questions_are_harmless_and_leave_room_for_the_answers() -> None:
    app = App[None]()
    async with app.run_test(size=(80, 24)) as pilot:
        app.push_screen(
            Confirm(LONG, Content("\n".join((*HOSTILE, LONG))), (*CHOICES, Choice("x", HOSTILE[2])))
        )
        await pilot.pause()
        screen = "\n".join(lines(app))
        assert dangerous(screen.replace("\n", "")) == []
        assert "once" in screen
