"""One process taps every server with an address, from the first client's command that needs it to the last.

Such a command speaks over stdio. It passes its input and output on through a socket that only this user can
open; whoever finds nobody listening there listens, and leaves the socket to a process in the background.
"""

import asyncio
import fcntl
import hashlib
import json
import os
import select
import socket
import stat
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import NoReturn

from inspector import __version__
from inspector.features.agents.tap import tap
from inspector.features.agents.tap.pump import (
    BEGUN,
    END,
    SECRET,
    TO_CLIENT,
    TO_SERVER,
    Copies,
    now,
    pass_on,
)

_LONGEST = 20_000_000
# Seconds between two looks whether anybody still needs the process.
_LOOKS_EVERY = 2.0


def start(given: Sequence[tuple[str, str]], command: Sequence[str]) -> NoReturn:
    """Become a client's command for a server with an address; `given` are the options before it."""
    named = dict(given)
    known = [pair for pair in given if pair[1] in os.environ]
    headers = {name: os.environ[name] for option, name in known if option == "--header"}
    if variable := named.get("--bearer"):
        headers["Authorization"] = f"Bearer {os.environ.get(variable, '')}"
    passed = {name: os.environ[name] for option, name in known if option == "--redact"}
    opening = {"name": named.get("--name", ""), "url": command[0], "folder": str(Path.cwd())}
    with _connected(named.get("--db", "")) as line:
        line.sendall(json.dumps({**opening, "headers": headers, "secrets": passed}).encode() + b"\n")
        Thread(target=_ask, args=(line,), daemon=True).start()
        # It ends with the server, and with the process in the background: the client starts it again.
        pass_on(os.dup(line.fileno()), 1, TO_CLIENT, None)
    os._exit(0)


def _ask(line: socket.socket) -> None:
    pass_on(0, os.dup(line.fileno()), TO_SERVER, None)
    with suppress(OSError):
        line.shutdown(socket.SHUT_WR)


@contextmanager
def _connected(database: str) -> Iterator[socket.socket]:
    """A connection to the process in the background, which is started if there is none. Raises OSError."""
    place = _place(database)
    with socket.socket(socket.AF_UNIX) as line:
        # Under the lock: of two commands at once one starts it, and it does not end in between.
        with _locked(place):
            try:
                line.connect(str(place))
            except (FileNotFoundError, ConnectionRefusedError):
                _listen(place, database)
                line.connect(str(place))
        yield line


def _listen(place: Path, database: str) -> None:
    """Listen in a process of the background. The file of one that was killed is replaced."""
    place.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(place))
        listener.listen()
        tap.in_background(lambda: _serve(listener, place, database))


def _place(database: str) -> Path:
    """The socket of this user, version and database, in a folder that is only theirs. Raises OSError."""
    folder = Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir(), f"toolsight-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise PermissionError(f"{folder} is not a folder of yours alone")
    names = ("TOOLSIGHT_DB", "XDG_DATA_HOME", "HOME")
    told = (database, __version__, sys.prefix, *(os.environ.get(name, "") for name in names))
    return folder / f"tap-{hashlib.sha256(repr(told).encode()).hexdigest()[:16]}"


@contextmanager
def _locked(place: Path, *, waits: bool = True) -> Iterator[bool]:
    """Whether this process alone may start or end the one that listens there."""
    with place.with_suffix(".lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
        else:
            yield True


def _serve(listener: socket.socket, place: Path, database: str) -> None:
    """Tap for whoever connects, until nobody needs it any more."""
    tap.keep_only(listener.fileno())
    tap.silence(0, 1, 2)
    pipe = tap.start_recorder(tap.recording((), "tap", database, ()))
    with Copies(pipe) as copies:
        asyncio.run(_Shared(listener, place, database, copies).serve())


class _Shared:
    """The process in the background: a bridge for each connection."""

    def __init__(self, listener: socket.socket, place: Path, database: str, copies: Copies) -> None:
        self._listener, self._place, self._database, self._copies = listener, place, database, copies
        self._begun = 0
        self._open: set[asyncio.Task[None]] = set()

    async def serve(self) -> None:
        """Accept connections until there are none."""
        self._listener.setblocking(False)
        asyncio.get_running_loop().add_reader(self._listener, self._accept)
        # No process tells another that it does not need this one any more.
        while self._open or not self._is_over():  # noqa: ASYNC110
            await asyncio.sleep(_LOOKS_EVERY)

    def _accept(self) -> None:
        with suppress(BlockingIOError):
            line, _ = self._listener.accept()
            line.setblocking(False)
            self._begun += 1
            task = asyncio.get_running_loop().create_task(self._tap(line, self._begun))
            self._open.add(task)
            task.add_done_callback(self._open.discard)

    def _is_over(self) -> bool:
        """Whether nobody is about to connect; then nobody can from now on."""
        with _locked(self._place, waits=False) as is_alone:
            if not is_alone or select.select([self._listener], [], [], 0)[0]:
                return False
            self._place.unlink(missing_ok=True)
            return True

    async def _tap(self, line: socket.socket, number: int) -> None:
        from inspector.cli.composition import open_sign_ins
        from inspector.cli.options import Options
        from inspector.core.server import ServerSpec
        from inspector.mcp.client.bridge import bridge
        from inspector.mcp.sign_in.person import SignInWay

        reader, writer = await asyncio.open_unix_connection(sock=line, limit=_LONGEST)
        database = Path(self._database) if self._database else None
        try:
            opening = json.loads(await reader.readline())
            spec = ServerSpec(opening["name"], url=opening["url"], headers=opening["headers"])
            self._copies.add(
                BEGUN, now(), json.dumps({**opening, "headers": {}, "secrets": {}}).encode(), number
            )
            for pair in (*opening["headers"].items(), *opening["secrets"].items()):
                self._copies.add(SECRET, now(), ":".join(pair).encode("latin-1", "replace"), number)

            async def lines() -> AsyncIterator[bytes]:
                while asked := await reader.readline():
                    self._copies.add(TO_SERVER, now(), asked, number)
                    yield asked

            async def give(answer: bytes) -> None:
                self._copies.add(TO_CLIENT, now(), answer + b"\n", number)
                writer.write(answer + b"\n")
                await writer.drain()

            way = SignInWay(open_sign_ins(Options(database=database)), is_stored_only=True)
            await bridge(spec, way, lines(), give)
        except (OSError, ValueError):
            pass
        finally:
            self._copies.add(END, now(), b"", number)
            writer.close()
