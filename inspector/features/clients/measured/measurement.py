"""Measures one client: starts it or waits for it, and reads what it said to the stand-in and the servers."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from inspector.cli.location import fixtures_path
from inspector.cli.run import run
from inspector.cli.table import say, write_file
from inspector.clients.client import NAMES, find_client
from inspector.core.error import ProtocolError, ToolsightError
from inspector.core.number import count
from inspector.core.redaction import open_private, private_folder
from inspector.features.clients.facts import today
from inspector.features.clients.measured.conversation import Conversation
from inspector.features.clients.measured.marks import ServerLog
from inspector.features.clients.measured.own_program import frameworks, own_start, variables
from inspector.features.clients.measured.program import (
    OUTPUT,
    environment,
    installed,
    printed,
    running,
    server_commands,
    version,
    write,
)
from inspector.features.clients.measured.run_reader import read_run
from inspector.features.clients.measured.stand_in import StandIn, listening
from inspector.features.clients.measured.start import Setting, Start, client_start
from inspector.mcp.reaper import Reaper

_SERVER_LOG: Final = "server.jsonl"
_LAST_WORDS = 2_000
# A client that has got its last answer may take so long to end.
_LAST_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Subject:
    """What is to be measured: a known client, or a person's own `program`, or one they start `by_hand`."""

    name: str
    model: str = ""
    timeout: int = 300
    program: tuple[str, ...] = ()
    by_hand: bool = False
    slow: bool = True


@dataclass(slots=True)
class Measured:
    """What came of it: the text of the client's file, or the failure; the version if it is known.

    `exit_code` is None for a client that had to be ended, or was started by hand.
    """

    name: str
    text: str = ""
    version: str = ""
    exit_code: int | None = None
    seconds: float = 0
    failure: ToolsightError | None = None


def measured(
    subject: Subject, folder: Path, progress: Callable[[int, int], None], agree: Callable[[Start], None]
) -> Measured:
    """Have the conversation in a new folder. `agree` raises a ToolsightError to keep from starting it."""
    began = time.monotonic()
    private_folder(folder)
    # The server appends to it.
    open_private(folder / _SERVER_LOG, "w").close()
    talk = Conversation(ServerLog(folder / _SERVER_LOG))
    stand_in = StandIn(talk, folder / "requests", progress)
    found = Measured(subject.name)
    try:
        run(_converse(found, stand_in, subject, folder, agree))
        found.text = _file(subject, talk, found.version)
    except ToolsightError as error:
        found.failure = error
    finally:
        _clean(folder)
    found.seconds = time.monotonic() - began
    return found


def _clean(folder: Path) -> None:
    """Take the secrets out of what others wrote there: the client, and the server of what it heard."""
    for path in (folder / _SERVER_LOG, folder / OUTPUT):
        if path.exists():
            write_file(path, path.read_text(encoding="utf-8", errors="replace"))


async def _converse(
    found: Measured, stand_in: StandIn, subject: Subject, folder: Path, agree: Callable[[Start], None]
) -> None:
    async with listening(stand_in):
        log = folder / _SERVER_LOG
        servers = server_commands(fixtures_path())
        setting = Setting(folder, stand_in.address, servers, log, subject.model, subject.slow)
        if subject.by_hand:
            say(_by_hand_text(setting), err=True, exact=True)
            if not await _is_done(subject.timeout, stand_in.done.wait()):
                raise _late(subject, stand_in)
        else:
            reaper = Reaper()
            try:
                await _start(found, stand_in, subject, setting, reaper, agree)
            finally:
                reaper.close()
    if stand_in.failure is not None:
        raise stand_in.failure


async def _start(
    found: Measured,
    stand_in: StandIn,
    subject: Subject,
    setting: Setting,
    reaper: Reaper,
    agree: Callable[[Start], None],
) -> None:
    """Start the client, and wait until the conversation or the client has ended."""
    start = own_start(subject.program, setting) if subject.program else client_start(subject.name, setting)
    start = installed(subject.name, start)
    agree(start)
    if subject.program:
        given = environment(start, setting)
        found.version = await asyncio.to_thread(frameworks, subject.program, given)
    else:
        write(start, setting.folder)
        found.version = await version(start, setting, reaper)
    async with running(start, setting, reaper) as process:
        in_time = await _is_done(subject.timeout, stand_in.done.wait(), process.wait())
        if in_time and stand_in.failure is None:
            await _is_done(_LAST_SECONDS, process.wait())
        found.exit_code = process.returncode
    said = printed(setting.folder)[-_LAST_WORDS:].strip()
    if not in_time:
        raise _late(subject, stand_in, said)
    if not stand_in.done.is_set():
        heard = count(len(stand_in.conversation.exchanges), "request")
        told = f"the client ended with exit code {found.exit_code} after {heard} to its model"
        raise ProtocolError(f"{told}, before all was asked", hint=said)


async def _is_done(seconds: float, *ends: Coroutine[Any, Any, object]) -> bool:
    """Whether one of these ends within so many seconds."""
    tasks = [asyncio.ensure_future(end) for end in ends]
    try:
        done, _ = await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
    return bool(done)


def _late(subject: Subject, stand_in: StandIn, said: str = "") -> ProtocolError:
    seconds = count(subject.timeout, "second")
    heard = count(len(stand_in.conversation.exchanges), "request")
    told = f"the client was not done after {seconds} and {heard} to its model"
    hint = "--timeout gives it longer; --requests keeps what it sent."
    return ProtocolError(told, hint=f"{hint}\n{said}".strip())


def _by_hand_text(setting: Setting) -> str:
    """What a person does with any client."""
    addresses = [
        f"  {name}={value}" for name, value in variables(setting).items() if value.startswith("http")
    ]
    return "\n".join(
        (
            "Point your client at this address in place of its model's, with any key:",
            *addresses,
            f"Give it these servers, and no other:\n{setting.servers_json}",
            "Then let it say anything in a new conversation, and allow the tools that it asks for.",
        )
    )


def _file(subject: Subject, talk: Conversation, version: str) -> str:
    """The client's file; searches as a known client does, if it does."""
    reading, name = read_run(talk, version), subject.name
    if subject.program and version:
        reading.top["title"] = f"{name} ({version})"
    if name in NAMES:
        reading.compare(find_client(name), today())
    return reading.toml(find_client(name).title if name in NAMES else name, today())
