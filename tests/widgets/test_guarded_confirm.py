"""A question that comes up under typing hands takes nothing of what they type for an answer."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import cast

import pytest
from textual import events
from textual._xterm_parser import XTermParser
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from tests.widgets.screen import lines
from widgets import Choice, Guarded, GuardedConfirm, Prompt
from widgets.guarded import ask_position

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
        kinds = events.Key | events.Paste | events.CursorPosition
        is_typed = isinstance(event, kinds) and not event.is_forwarded
        if not (is_typed and isinstance(self.screen, GuardedConfirm) and self.screen.pass_on(event)):
            await super().on_event(event)

    async def ask(self, pilot: Pilot[None], *choices: Choice) -> None:
        self.push_screen(GuardedConfirm("Call it?", "It deletes.", choices or CHOICES), self.answers.append)
        await pilot.pause()

    @property
    def typed(self) -> str:
        return self.screen_stack[0].query_one(Prompt).value


async def test_no_key_but_esc_answers_in_the_first_second(clock: Clock) -> None:
    app = Asking()
    async with app.run_test() as pilot:
        await app.ask(pilot)
        clock.now = 0.9
        for key in ("o", "s", "n", "y", "space", "backspace", "tab", "left", "enter"):
            await pilot.press(key)
            assert app.answers == [], key
            assert isinstance(app.screen, GuardedConfirm)


async def test_esc_refuses_at_once_while_the_answers_still_wait(clock: Clock) -> None:
    app = Asking()
    async with app.run_test() as pilot:
        await app.ask(pilot)
        clock.now = 0.1
        assert app.screen.has_class("-waiting")
        await pilot.press("escape")
        assert app.answers == ["no"]


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


async def test_a_key_that_is_no_letter_answers(clock: Clock) -> None:
    app = Asking()
    async with app.run_test() as pilot:
        await app.ask(pilot, Choice("ctrl+r", "call it"), Choice("n", "no"))
        clock.now = 5.0
        await pilot.press("ctrl+r")
        assert app.answers == ["call it"]


async def test_tab_and_the_arrows_lead_from_no_to_the_narrowest_yes_never_the_widest(
    clock: Clock,
) -> None:
    app = Asking()
    async with app.run_test() as pilot:
        await app.ask(pilot)
        clock.now = 1.1
        labels = []
        for key in ("tab", "tab", "tab", "right", "right", "left", "left", "left", "shift+tab"):
            await pilot.press(key)
            labels.append(getattr(app.screen.focused, "result"))  # noqa: B009
        once, widest = "once", "this session"
        assert labels == [once, "no", once, "no", "no", once, widest, "no", once]


async def test_no_click_answers_that_began_in_the_first_second(clock: Clock) -> None:
    app = Asking()
    async with app.run_test(size=(80, 24)) as pilot:
        await app.ask(pilot)
        button = app.screen.query(".confirm--choices > Button").first()
        clock.now = 0.9
        await pilot.click(button)
        await pilot.mouse_down(button)
        clock.now = 1.1
        await pilot.mouse_up(button)
        assert app.answers == []
        await pilot.click(button)
        assert app.answers == ["this session"]


async def test_the_first_second_begins_with_the_first_frame_on_a_busy_machine(clock: Clock) -> None:
    class Slow(GuardedConfirm):
        def show_waiting(self, waiting: bool) -> None:
            super().show_waiting(waiting)
            clock.now = max(clock.now, 5.0)

    app = Asking()
    async with app.run_test() as pilot:
        app.push_screen(Slow("Call it?", "It deletes.", CHOICES), app.answers.append)
        await pilot.pause()
        clock.now = 5.5
        await pilot.press("left", "enter")
        assert app.answers == []


@pytest.mark.parametrize(
    ("size", "keys"), [((80, 16), "left left enter"), ((46, 24), "enter"), ((8, 2), "escape")]
)
async def test_a_terminal_too_small_for_the_question_says_so_and_takes_no_only(
    clock: Clock, size: tuple[int, int], keys: str
) -> None:
    app = Asking()
    async with app.run_test(size=size) as pilot:
        await app.ask(pilot)
        assert "too small" in "".join(lines(app)) or size == (8, 2)
        assert "session" not in "".join(lines(app))
        clock.now += 2
        await pilot.press(*keys.split(), "enter")
        assert app.answers == ["no"]


class Answering:
    """A terminal that answers when it is told to; `later` is what a timer would do next."""

    def __init__(self, app: Asking) -> None:
        self._app = app
        self.asked: list[int] = []
        self.later: Callable[[], None] = self.answer

    def ask(self, _app: object, column: int) -> bool:
        self.asked.append(column)
        return True

    def answer(self, column: int = 0, row: int = 2) -> None:
        self._app.post_message(events.CursorPosition((column or self.asked[-1]) - 1, row - 1))


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> Answering:
    terminal = Answering(Asking())
    monkeypatch.setattr("widgets.guarded.ask_position", terminal.ask)
    monkeypatch.setattr(Guarded, "is_answering", False)
    monkeypatch.setattr(Guarded, "_later", lambda _self, _seconds, work: setattr(terminal, "later", work))
    return terminal


async def click_yes(app: Asking, pilot: Pilot[None]) -> bool:
    """Click the answer that allows the most; whether it is taken."""
    await pilot.click(app.screen.query("Button").first())
    return app.answers == ["this session"]


async def test_a_click_counts_only_behind_both_answers_of_the_terminal(
    clock: Clock, answering: Answering
) -> None:
    """However late the first one comes, the second begins there; in between all is older than it looks."""
    app = answering._app
    async with app.run_test() as pilot:
        await app.ask(pilot)
        clock.now = 60.0
        assert not await click_yes(app, pilot)
        answering.answer()
        await pilot.pause()
        clock.now = 60.9
        assert not await click_yes(app, pilot)
        clock.now = 120.0
        assert not await click_yes(app, pilot)
        await pilot.press("left", "enter")
        assert app.answers == []
        answering.later()
        assert not await click_yes(app, pilot)
        clock.now = 130.0
        answering.answer()
        await pilot.pause()
        assert await click_yes(app, pilot)


async def test_a_question_opens_two_seconds_after_its_frame_in_a_terminal_that_never_answers(
    clock: Clock, answering: Answering
) -> None:
    app = answering._app
    async with app.run_test() as pilot:
        await app.ask(pilot)
        clock.now = 1.3
        answering.later()
        clock.now = 1.9
        assert not await click_yes(app, pilot)
        clock.now = 2.1
        assert await click_yes(app, pilot)


@pytest.mark.parametrize("row", [1, 2], ids=["F3 with shift", "an earlier question's answer"])
async def test_what_only_looks_like_the_answer_opens_nothing(
    clock: Clock, answering: Answering, row: int
) -> None:
    app, Guarded.is_answering = answering._app, True
    async with app.run_test() as pilot:
        await app.ask(pilot)
        for clock.now in (10.0, 20.0, 30.0):
            answering.answer(answering.asked[-1] if row == 1 else answering.asked[-1] % 20 + 1, row)
            await pilot.pause()
            answering.later()
            assert not await click_yes(app, pilot)
        assert app.typed == ""


def test_the_terminal_is_asked_where_no_key_is_taken_for_its_answer() -> None:
    """What textual reads as the answer and as a key: CSI 1;2R is both."""
    written: list[str] = []
    driver = SimpleNamespace(is_headless=False, write=written.append, flush=lambda: None)
    assert ask_position(cast("App[None]", SimpleNamespace(_driver=driver)), 7)
    assert written == ["\x1b7\x1b[2;7H\x1b[6n\x1b8"]
    [answer] = XTermParser().feed("\x1b[2;7R")
    assert isinstance(answer, events.CursorPosition)
    assert (answer.y, answer.x) == (1, 6)
