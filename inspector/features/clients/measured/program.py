"""Runs a client's program, with its files in a folder of its own, until nothing of it is left."""

import asyncio
import os
import re
import shutil
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from inspector.core.error import ConfigError
from inspector.core.redaction import open_private, private_folder
from inspector.core.secret_value import looks_secret
from inspector.features.clients.measured.marks import SERVER, SMALL
from inspector.features.clients.measured.start import LOG, STARTS, Setting, Start
from inspector.mcp.reaper import Reaper, end_with

OUTPUT: Final = "output.txt"
"""The file of what a client prints."""
# Of the person's own variables a client gets these alone; so no key of theirs, and no proxy.
_OWN = ("PATH", "LANG", "LC_ALL", "TERM", "SYSTEMROOT")
# Nothing holds a client that writes to a path of its own choice, such as /tmp/NAME: these it is told.
_PLACES = {
    "HOME": "",
    "TMPDIR": "tmp",
    "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
    "XDG_CACHE_HOME": ".cache",
    "XDG_RUNTIME_DIR": "tmp",
}
_END_SECONDS, _VERSION_SECONDS = 3.0, 60.0
_MOST_OUTPUT = 1 << 20
_LOOK_SECONDS = 0.05
_ERROR = re.compile(r"(Error|Exception)\b.*(\w|[\[{]$)")
# What Node.js prints after an error.
_FRAME = re.compile(r"at \S|Node\.js v\d")
_MOST_OF_ERROR = 200
_VERSION = re.compile(r"(?<![\w./-])v?(\d+(?:\.\d+)+(?:-[\w.]+)?)")


def is_installed(name: str) -> bool:
    """Whether the program of a client that can be started is on PATH."""
    return shutil.which(STARTS[name]["argv"][0]) is not None


def require_start(name: str, hint: str = "") -> None:
    """Raise ConfigError for a client that nobody knows how to start; `hint` adds what else there is."""
    if name not in STARTS:
        hint = f"Known: {', '.join(STARTS)}. {hint}".strip()
        raise ConfigError(f"there is no command known for '{name}'", hint=hint)


def installed(name: str, start: Start, otherwise: str = "") -> Start:
    """The start with the program's file. Raises ConfigError if there is none on PATH."""
    found = shutil.which(start.argv[0])
    if found is None:
        told = f"{name} is not installed: there is no program `{start.argv[0]}` on PATH"
        hint = "Check the command after --."
        if name in STARTS and not start.is_persons:
            hint = f"Install it with `{STARTS[name]['installs']}`{otherwise}."
        raise ConfigError(told, hint=hint)
    return replace(start, argv=(found, *start.argv[1:]))


def write(start: Start, folder: Path) -> None:
    """Write the files of a start. Raises OSError."""
    for path, data in start.files.items():
        private_folder((folder / path).parent)
        with open_private(folder / path, "w", encoding="utf-8") as file:
            file.write(data)


def environment(start: Start, setting: Setting) -> dict[str, str]:
    """All variables of the program. A client's home is the folder: it finds nothing of the person's."""
    if start.is_persons:
        own = {name: value for name, value in os.environ.items() if not looks_secret(name)}
    else:
        own = {name: os.environ[name] for name in _OWN if name in os.environ}
        own |= {name: str(setting.folder / place) for name, place in _PLACES.items()}
    return {**own, LOG: str(setting.log), **start.variables}


async def ended(process: Process) -> int:
    """The exit code, once it has ended. Its `wait` goes on as long as a daemon of its holds its output."""
    for _ in count():
        if process.returncode is not None:
            break
        await asyncio.sleep(_LOOK_SECONDS)
    return process.returncode or 0


@asynccontextmanager
async def running(
    start: Start, setting: Setting, reaper: Reaper, errors: int = STDOUT
) -> AsyncIterator[Process]:
    """The program, until the context is left; then all that it started has ended, daemons too.

    Raises ConfigError if it cannot be started. The end of what it prints goes to the file `OUTPUT`, with its
    `errors` unless they go elsewhere.
    """
    for place in ("work", *_PLACES.values()):
        private_folder(setting.folder / place)
    variables = environment(start, setting) | dict(await asyncio.to_thread(reaper.prepare))
    try:
        process = await asyncio.create_subprocess_exec(
            *start.argv,
            env=variables,
            cwd=None if start.is_persons else setting.folder / "work",
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=errors,
            start_new_session=True,
        )
    except OSError as error:
        raise ConfigError(f"{start.argv[0]} cannot be started: {error.strerror or error}") from error
    reaper.watch(process.pid)
    printed = asyncio.create_task(_printed(process))
    try:
        yield process
    finally:
        await _end(process, setting)
        # What has the other end of it and cannot be found is not waited for.
        await asyncio.wait([printed], timeout=_END_SECONDS)
        with open_private(setting.folder / OUTPUT, "wb") as output:
            output.write(printed.result() if printed.done() else b"")
        printed.cancel()


async def _end(process: Process, setting: Setting) -> None:
    """End the process group, and what left it: whatever has the variable of this very run."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        await asyncio.to_thread(end_with, LOG, str(setting.log))
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _END_SECONDS)


async def _printed(process: Process) -> bytes:
    """The end of what the program and all that it started print."""
    kept = b""
    while process.stdout is not None and (some := await process.stdout.read(1 << 16)):
        kept = (kept + some)[-_MOST_OUTPUT:]
    return kept


async def version(start: Start, setting: Setting, reaper: Reaper) -> str:
    """What the program says with --version: the first number that has a dot; "" if it says none."""
    asked = replace(start, argv=(start.argv[0], "--version"))
    async with running(asked, setting, reaper, DEVNULL) as process:
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _VERSION_SECONDS)
    found = _VERSION.search(printed(setting.folder))
    return found[1] if found and process.returncode == 0 else ""


def printed(folder: Path) -> str:
    """The end of what the program printed."""
    return (folder / OUTPUT).read_text(encoding="utf-8", errors="replace")


def said_last(folder: Path) -> str:
    """The last line of it that names an error, without what frames it; else the last one.

    One that ends with a bracket is told with what is in it.
    """
    every = (line.strip("│| \t") for line in printed(folder).splitlines())
    lines = [line for line in every if line and not _FRAME.match(line)]
    told = [at for at, line in enumerate(lines) if _ERROR.search(line)] or [len(lines) - 1]
    said = lines[told[-1] :] if lines else [""]
    return " ".join(said)[:_MOST_OF_ERROR] if said[0].endswith(("[", "{")) else said[0]


def server_commands(fixtures: Path) -> Mapping[str, tuple[str, ...]]:
    """The commands that start the marked servers, by the names under which a client gets them."""
    folder = fixtures / "servers"
    small = {name: (sys.executable, str(folder / "marked_small.py"), name) for name in SMALL}
    return {SERVER: (sys.executable, str(folder / "marked.py")), **small}
