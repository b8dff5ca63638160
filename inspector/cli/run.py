"""Runs a command until it ends or a signal ends it; exit codes, and output that nobody takes."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from enum import IntEnum
from pathlib import Path
from traceback import walk_tb
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn, TextIO, TypeVar

import click

if TYPE_CHECKING:
    import asyncio

# Its servers are closed then as when it is left with its key; only SIGKILL leaves that to the reaper.

Result = TypeVar("Result")
_BY_SIGNAL = 128
# Windows has no SIGHUP.
_ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


def run(main: Coroutine[Any, Any, Result], *, leave: Callable[[], bool] | None = None) -> Result:
    """Run to the end; if a signal came, exit with 128 and its number.

    A signal calls `leave`, which returns False if there is nothing to leave yet. Then, and without it, `main`
    is cancelled. The first signal counts: the closing ends by itself.
    """
    import asyncio

    with asyncio.Runner() as runner:
        stopping = _Stopping(runner.get_loop(), leave)
        try:
            result = runner.run(stopping.around(main))
        except asyncio.CancelledError:
            if not stopping.by:
                raise
        if stopping.by:
            sys.exit(_BY_SIGNAL + stopping.by)
        return result


class _Stopping:
    """Passes signals on to a coroutine; `by` is the number of the first one, 0 before there is any."""

    def __init__(self, loop: "asyncio.AbstractEventLoop", leave: Callable[[], bool] | None) -> None:
        self.by = 0
        self._loop = loop
        self._leave = leave
        self._task: asyncio.Task[Any] | None = None
        # Ctrl+C on the command line is KeyboardInterrupt, as everywhere; in the app it is a key.
        numbers = (*_ENDING, signal.SIGINT) if leave is not None else _ENDING
        # Who is started with `nohup` is to outlive the terminal.
        self._numbers = [n for n in numbers if _is_main() and signal.getsignal(n) is not signal.SIG_IGN]

    async def around(self, main: Coroutine[Any, Any, Result]) -> Result:
        import asyncio

        self._task = asyncio.current_task()
        for number in self._numbers:
            self._loop.add_signal_handler(number, self._signalled, number)
        try:
            return await main
        finally:
            for number in self._numbers:
                self._loop.remove_signal_handler(number)

    def _signalled(self, number: int) -> None:
        if self.by:
            return
        self.by = number
        if self._task is not None and (self._leave is None or not self._leave()):
            self._task.cancel()


@contextmanager
def interruptible() -> Iterator[None]:
    """While a person is asked on the terminal, which holds up the event loop, a signal ends the question.

    What was typed before the question was there is no answer to it.
    """
    _forget_typed()
    if not _is_main():
        yield
        return

    def interrupt(number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(_BY_SIGNAL + number)

    numbers = [n for n in (*_ENDING, signal.SIGINT) if signal.getsignal(n) is not signal.SIG_IGN]
    # The loop would pass the signal on once more, and so interrupt the closing.
    wakeup = signal.set_wakeup_fd(-1)
    before = {number: signal.signal(number, interrupt) for number in numbers}
    try:
        yield
    finally:
        signal.set_wakeup_fd(wakeup)
        for number, handler in before.items():
            signal.signal(number, handler)


def _forget_typed() -> None:
    """Drop what waits to be read from the terminal, if there is one."""
    try:
        import termios
    except ImportError:
        return
    with suppress(OSError, ValueError, termios.error):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def _is_main() -> bool:
    """Whether signals reach this thread."""
    return threading.current_thread() is threading.main_thread()


FOUND_IN_FOLDER = ("toolsight.json", ".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json")


def found_in(folder: Path) -> Path | None:
    """The first configuration file in a folder; None without one."""
    candidates = (folder / name for name in FOUND_IN_FOLDER)
    return next((path for path in candidates if path.is_file()), None)


class Exit(IntEnum):
    """The exit codes of all commands; a command that a signal ends has 128 and the signal's number."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    GATE = 3
    INTERRUPTED = 130


MEANINGS = {
    Exit.DONE: "success",
    Exit.FAILED: "a server, tool or model failed, or the output could not be written",
    Exit.USAGE: "the command line, or a file or setting it refers to, is invalid",
    Exit.GATE: "a gate failed: check or --check found a problem",
    Exit.INTERRUPTED: "cancelled with Ctrl+C; other signals exit with 128 plus their number",
}


@contextmanager
def written(*, err: bool = False) -> Iterator[None]:
    """Print; what cannot be printed to the end ends the command, and on stderr is left out."""
    try:
        yield
    except OSError as error:
        if err:
            _silence(sys.stderr)
        else:
            give_up(error)


def is_of_output(error: OSError) -> bool:
    """Whether click could not print something by itself, such as help."""
    *_, (frame, _) = walk_tb(error.__traceback__)
    return bool(frame.f_globals["__name__"] == click.utils.__name__)


def give_up(error: OSError) -> NoReturn:
    """End the command: who closed a pipe has read enough, and of a full disk a person has to know."""
    # What else is printed as the command ends would fail and be told again.
    _silence(sys.stdout)
    if not isinstance(error, BrokenPipeError):
        with suppress(OSError):
            click.echo(f"error: the output cannot be written: {error.strerror or error}", err=True)
    sys.exit(Exit.FAILED)


def _silence(stream: TextIO) -> None:
    """Let everything that is still printed go nowhere."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
