"""A tap between a client and its server: every byte passes unchanged, and a copy of it is recorded.

This process becomes the server's command, so that its exit code, its signals and its stderr need no help.
What the client and the server write passes through a second process (`pump.py`), which hands copies to a
third one that records them. A client waits for the start, so hardly anything is imported before.
"""

import os
import signal
from collections.abc import Callable, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    Recording = Callable[[int], None]

_NOT_FOUND, _NOT_EXECUTABLE = 127, 126
_LOWEST = 19


def start(given: Sequence[tuple[str, str]], command: Sequence[str]) -> "NoReturn":
    """Become the server's command; `given` are the options before it, none of which needs a parser."""

    named, secrets = dict(given), [value for option, value in given if option == "--redact"]
    run(command, recording(command, named.get("--name", ""), named.get("--db", ""), secrets))


def recording(command: Sequence[str], name: str, database: str, secrets: Sequence[str]) -> "Recording":
    """What records the server, imported where it is needed."""

    def record_all(source: int) -> None:
        from inspector.features.agents.tap.recorder import record

        record(source, command, name=name, database=database, secrets=secrets)

    return record_all


def run(command: Sequence[str], record: "Recording") -> "NoReturn":
    """Become the server's command, with a tap on its input and output.

    `record` runs in a process of its own, and gets the pipe from which `recorder.pieces` reads. Exits as a
    shell does if the command cannot be started.
    """
    server_in, to_server = os.pipe()
    from_server, server_out = os.pipe()
    in_background(lambda: _pump(to_server, from_server, record))
    os.close(to_server)
    os.close(from_server)
    os.dup2(server_in, 0)
    os.dup2(server_out, 1)
    # Python ignores these two, and a program that takes its place would go on ignoring them.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(command[0], list(command))
    except OSError as error:
        from inspector.config.configuration import without_secrets
        from inspector.core.redaction import clean

        told = clean(f"error: {without_secrets(command)[0]} cannot be started: {error.strerror}\n")
        os.write(2, told.encode("utf-8", "backslashreplace"))
        os._exit(_NOT_FOUND if isinstance(error, FileNotFoundError) else _NOT_EXECUTABLE)


def in_background(work: Callable[[], None]) -> None:
    """Do the work in a process that is nobody's child, and that no signal to this group reaches."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        os.setsid()
        if not os.fork():
            work()
    finally:
        # Whatever happened, this process is not the one that called.
        os._exit(0)


def start_recorder(record: "Recording") -> int:
    """Start the process that records, and return the pipe to it."""
    ours, theirs = os.pipe()
    in_background(lambda: _recorder(ours, record))
    os.close(ours)
    return theirs


def _pump(to_server: int, from_server: int, record: "Recording") -> None:
    theirs = start_recorder(record)
    keep_only(to_server, from_server, theirs)
    silence(2)
    from inspector.features.agents.tap.pump import pump

    pump(to_server, from_server, theirs)


def _recorder(source: int, record: "Recording") -> None:
    keep_only(source)
    silence(0, 1, 2)
    # It imports for a second just as the server starts, which somebody waits for.
    os.nice(_LOWEST)
    record(source)


def keep_only(*numbers: int) -> None:
    """Close all else but standard input and output.

    An end of a pipe that stayed open here would keep the other side from noticing that it has ended.
    """
    first = 3
    for number in (*sorted(numbers), os.sysconf("SC_OPEN_MAX")):
        os.closerange(first, number)
        first = number + 1


def silence(*numbers: int) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in numbers:
        os.dup2(nothing, number)
    os.close(nothing)
