"""However a session ends, short of SIGKILL, its servers are closed as with its key, and that is recorded."""

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from inspector.app.terminal import LastingFile, Left
from inspector.cli import run as run_module
from inspector.cli.run import interruptible, run
from tests.cli.test_terminal import PATIENCE, Terminal


@pytest.fixture(autouse=True)
def _heeded() -> Iterator[None]:
    """Ignore no signal, though `nohup` or a shell's background may have said so for the tests."""
    numbers = signal.SIGTERM, signal.SIGHUP
    before = {number: signal.signal(number, signal.SIG_DFL) for number in numbers}
    before[signal.SIGINT] = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    made: list[Terminal] = []

    def make(*words: str) -> Terminal:
        made.append(Terminal(tmp_path / "t.db", *words))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.mark.slow
def test_a_signal_leaves_the_app_as_its_key_does(terminal: Callable[..., Terminal]) -> None:
    app = terminal()
    app.until(lambda: bool(app.events("ready")))
    app.process.send_signal(signal.SIGINT)
    assert app.process.wait(PATIENCE) == 128 + signal.SIGINT
    assert app.events("stopped")


def ended_by(number: signal.Signals, closed: list[str]) -> int:
    """The exit code of a session that gets a signal, and the same again while it closes."""

    async def session() -> None:
        try:
            os.kill(os.getpid(), number)
            await asyncio.Event().wait()
        finally:
            os.kill(os.getpid(), number)
            for _ in range(3):
                await asyncio.sleep(0)
            closed.append("closed")

    with pytest.raises(SystemExit) as ended:
        run(session())
    assert isinstance(ended.value.code, int)
    return ended.value.code


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_second_signal_does_not_interrupt_the_closing(number: signal.Signals) -> None:
    closed: list[str] = []
    assert ended_by(number, closed) == 128 + number
    assert closed == ["closed"]
    assert signal.getsignal(number) is signal.SIG_DFL


def test_a_command_that_is_to_outlive_its_terminal_does() -> None:
    """`nohup` starts it with SIGHUP ignored."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:

        async def session() -> str:
            os.kill(os.getpid(), signal.SIGHUP)
            await asyncio.sleep(0)
            return "went on"

        assert run(session()) == "went on"
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize(
    ("number", "error"), [(signal.SIGTERM, SystemExit), (signal.SIGINT, KeyboardInterrupt)]
)
def test_a_question_on_the_terminal_is_interrupted_at_once(
    number: signal.Signals, error: type[BaseException]
) -> None:
    def ask() -> None:
        with interruptible():
            os.kill(os.getpid(), number)
            signal.sigtimedwait([], PATIENCE)

    before = signal.getsignal(number)
    with pytest.raises(error):
        ask()
    assert signal.getsignal(number) is before


async def test_in_a_thread_a_session_runs_without_signals() -> None:
    async def session() -> str:
        return "done"

    assert await asyncio.to_thread(run_module.run, session()) == "done"


class Gone:
    """A terminal that fails from the second write on."""

    def __init__(self) -> None:
        self.written: list[str] = []

    def write(self, text: str) -> None:
        if self.written:
            raise OSError(5, "Input/output error")
        self.written.append(text)

    def flush(self) -> None:
        """Nothing is kept back."""


def test_what_is_drawn_on_a_terminal_that_is_gone_goes_nowhere_and_is_told_once() -> None:
    told: list[str] = []
    file = LastingFile(Gone(), lambda: told.append("gone"))  # type: ignore[arg-type]
    for _ in range(100):
        file.write("x")
        file.flush()
    assert told == ["gone"]


def test_the_thread_that_reads_the_terminal_ends_with_the_main_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    left = Left()
    assert not left.is_set()

    monkeypatch.setattr(threading, "main_thread", threading.Thread)

    assert left.is_set()
