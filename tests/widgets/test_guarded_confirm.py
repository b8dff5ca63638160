"""A question that comes up under typing hands takes nothing of what they type for an answer."""

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.pilot import Pilot

from widgets import Choice, Guarded, GuardedConfirm, Prompt

CHOICES = (Choice("", "this session"), Choice("", "once"), Choice("", "no"))


class Clock:
    """A clock that stands still until it is told to go on."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(Guarded, "clock", clock)
    return clock


class Asking(App[None]):
    """An app that asks `pass_on`, as it has to."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: list[str | None] = []

    def compose(self) -> ComposeResult:
        yield Prompt()

    async def on_event(self, event: events.Event) -> None:
        is_typed = isinstance(event, events.Key | events.Paste) and not event.is_forwarded
        if not (is_typed and isinstance(self.screen, GuardedConfirm) and self.screen.pass_on(event)):
            await super().on_event(event)

    async def ask(self, pilot: Pilot[None]) -> None:
        self.push_screen(GuardedConfirm("Call it?", "It deletes.", CHOICES), self.answers.append)
        await pilot.pause()

    @property
    def typed(self) -> str:
        return self.screen_stack[0].query_one(Prompt).value


@pytest.mark.parametrize("key", ["o", "s", "n", "y", "space", "backspace", "tab", "left", "escape", "enter"])
async def test_no_key_answers_in_the_first_second(clock: Clock, key: str) -> None:
    app = Asking()
    async with app.run_test() as pilot:
        await app.ask(pilot)
        clock.now = 0.9
        await pilot.press(key)
        assert app.answers == []
        assert isinstance(app.screen, GuardedConfirm)


async def test_what_is_typed_goes_on_in_the_prompt_however_late(clock: Clock) -> None:
    app = Asking()
    async with app.run_test() as pilot:
        await pilot.press(*"no")
        await app.ask(pilot)
        for clock.now, letter in ((0.5, "o"), (5.0, "n"), (50.0, "s"), (500.0, "y")):
            await pilot.press(letter)
        await pilot.press("backspace")
        app.post_message(events.Paste(" yes"))
        await pilot.pause()
        assert app.typed == "noons yes"
        assert app.answers == []


async def test_enter_at_the_end_of_a_burst_is_no_answer_and_a_later_one_is_a_no(clock: Clock) -> None:
    app = Asking()
    async with app.run_test() as pilot:
        await app.ask(pilot)
        clock.now = 5.0
        await pilot.press("o", "n", "enter")
        assert app.answers == []
        clock.now = 5.8
        await pilot.press("enter")
        assert app.answers == ["no"]


@pytest.mark.parametrize(
    ("keys", "answer"),
    [(("left", "enter"), "once"), (("shift+tab", "shift+tab", "enter"), "this session"), (("escape",), "no")],
)
async def test_a_deliberate_key_answers(clock: Clock, keys: tuple[str, ...], answer: str) -> None:
    app = Asking()
    async with app.run_test() as pilot:
        await app.ask(pilot)
        clock.now = 1.1
        await pilot.press(*keys)
        assert app.answers == [answer]


async def test_it_says_when_it_takes_an_answer(clock: Clock) -> None:
    app = Asking()
    async with app.run_test() as pilot:
        await app.ask(pilot)
        assert "what you type goes on" in str(app.screen.query_one(Vertical).border_subtitle)
        clock.now = 1.1
        app.screen._show_state()  # type: ignore[attr-defined]
        assert "enter answers" in str(app.screen.query_one(Vertical).border_subtitle)
