"""How a command ends: its exit code, the same for every command, and output that nobody takes any more."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import IntEnum
from traceback import walk_tb
from typing import NoReturn, TextIO

import click


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
    Exit.GATE: "a gate failed: --check or --baseline found a problem",
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
