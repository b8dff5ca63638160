"""Measures one client: starts it or waits for it, and reads what it said to the stand-in and the servers."""

import asyncio
import os
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from shutil import rmtree
from typing import Any, Final

from msgspec import Struct

from inspector.cli.location import fixtures_path
from inspector.cli.run import run
from inspector.cli.table import say, write_file
from inspector.clients.client import NAMES, Topic, find_client
from inspector.core.error import ProtocolError, ToolsightError
from inspector.core.number import count
from inspector.core.redaction import open_private, private_folder
from inspector.features.clients.facts import today
from inspector.features.clients.measured.conversation import Conversation
from inspector.features.clients.measured.marks import HTTP, SERVER, SIGN_IN, SMALL, Key, ServerLog
from inspector.features.clients.measured.own_program import frameworks, own_start, variables
from inspector.features.clients.measured.program import (
    OUTPUT,
    ended,
    environment,
    installed,
    printed,
    running,
    said_last,
    server_commands,
    version,
    write,
)
from inspector.features.clients.measured.provider import Provider
from inspector.features.clients.measured.reading import Reading, Said
from inspector.features.clients.measured.reading_calls import MISFIT
from inspector.features.clients.measured.reading_http import read_http
from inspector.features.clients.measured.run_reader import read_run
from inspector.features.clients.measured.stand_in import StandIn, listening
from inspector.features.clients.measured.start import ASKED, LOG, SLOW, STARTS, Setting, Start, client_start
from inspector.mcp.reaper import Reaper

_SERVER_LOGS: Final = {"requests": "server.jsonl", "http-requests": "http-server.jsonl"}
"""What the servers note of each conversation, by the folder of its requests."""
_LAST_WORDS = 2_000
# A client that has got its last answer may take so long to end.
_LAST_SECONDS = 15.0
# One that ends for more calls than this ends for any.
_MOST_ENDS = 10
# A client that hangs with all servers is tried with one at a time: it may take so long to ask its model.
_FIRST_SECONDS = 100
# Over HTTP the last call may never end: so long all of them are waited for, without and with the slow ones.
_HTTP_SECONDS = (90, 330)


class Subject(Struct, frozen=True):
    """What is measured: a known client, a person's own `program`, or one `by_hand`.

    A race has it `asked` something, by a stand-in or with the model of a `provider`.
    """

    name: str
    model: str = ""
    wire: str = ""
    timeout: int = 300
    program: tuple[str, ...] = ()
    by_hand: bool = False
    slow: bool = True
    asked: str = ""
    provider: Provider | None = None


class Measured(Struct):
    """What came of it: the text of the client's file, and what failed; the version if it is known.

    After a failure the text has what was seen until then, if anything was.

    `exit_code` is None for a client that had to be ended, or was started by hand.
    """

    name: str
    text: str = ""
    reading: Reading | None = None
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
    found = Measured(subject.name)
    measuring = Measuring(subject, folder, progress, agree, found)
    try:
        run(measuring.converse())
        found.failure = measuring.failure
        if measuring.talk.is_begun:
            found.reading = measuring.read()
            if subject.name in STARTS and not subject.by_hand and found.failure is None:
                found.reading.facts += run(measuring.over_http())
            found.text = _file(subject, found.reading, found.version)
    except ToolsightError as error:
        found.failure = error
    finally:
        _clean(folder)
    found.seconds = time.monotonic() - began
    return found


def _clean(folder: Path) -> None:
    """Take the secrets out of what others wrote there: the client, and the server of what it heard."""
    for path in (folder / name for name in (*_SERVER_LOGS.values(), OUTPUT)):
        if path.exists():
            write_file(path, path.read_text(encoding="utf-8", errors="replace"))


class Measuring:
    """Has the conversation with all servers, or with those that the client can be given.

    `costs` are the others, each with what the client does with it; `ends` are the tools that are not called,
    each with how a call of it ended the client.
    """

    def __init__(
        self,
        subject: Subject,
        folder: Path,
        progress: Callable[[int, int], None],
        agree: Callable[[Start], None],
        found: Measured,
    ) -> None:
        self._subject, self._folder, self._progress = subject, folder, progress
        self._agree, self._found = agree, found
        self.costs: dict[str, str] = {}
        self.ends: dict[Key, str] = {}
        self.talk = Conversation(ServerLog(folder / _SERVER_LOGS["requests"]))
        self.failure: ToolsightError | None = None
        self._seconds = 0

    def read(self) -> Reading:
        """What the conversation shows."""
        reading = read_run(self.talk, self._found.version, self.costs)
        for (server, tool), says in self.ends.items():
            reading.facts.append((Topic.RESULTS, f"A call of {tool} ({server}) {says}.", "its output"))
            if tool == MISFIT:
                reading.rules["results"]["misfit"] = "run"
        return reading

    async def converse(self) -> None:
        """Raises ToolsightError if the client cannot be started, or may not."""
        servers = server_commands(fixtures_path())
        await self.lead(servers)
        self._agree = agreed
        is_hung = self.failure is not None and not self.talk.exchanges and not self._subject.by_hand
        if is_hung or (self._has_ended and not self.talk.is_begun):
            first = self.failure
            if not await self._is_taken(servers, SERVER):
                self.failure = first
                return
            for name in SMALL:
                if not await self._is_taken(servers, SERVER, name):
                    self.costs[name] = self._ended_by
            servers = {name: line for name, line in servers.items() if name not in self.costs}
            await self.lead(servers)
        while self._has_ended and len(self.ends) < _MOST_ENDS and (calls := self.talk.open_calls):
            self.ends |= {key: self._how(key) for key in calls}
            await self.lead(servers)

    @property
    def _has_ended(self) -> bool:
        """Whether the client ended by itself before the conversation did."""
        return self.failure is not None and self._found.exit_code is not None

    def _how(self, key: Key) -> str:
        """What is said of a call for which the client ended; one that never came may not be to blame."""
        noted = (one for one in self.talk.log.messages if one.get("method") == "tools/call")
        came = any((one["server"], one["params"].get("name")) == key for one in noted)
        return f"{'ends it' if came else 'does not reach its server before it ends'}: “{self._last}”"

    @property
    def _ended_by(self) -> str:
        """What is said of a server with which the client does not come to ask its model."""
        if self._found.exit_code is None:
            return f"does not ask its model within {count(self._seconds, 'second')}"
        return f"ends before it asks its model: “{self._last}”"

    @property
    def _last(self) -> str:
        return said_last(self._folder) or f"exit code {self._found.exit_code}"

    async def over_http(self) -> list[Said]:
        """What a second conversation shows, with servers over HTTP; it has nothing to do with the first.

        A client that ends for the server that wants a token is started again without that.
        """
        first, failure, ended = self.talk, self.failure, self._found.exit_code
        said: list[Said] = []
        try:
            await self._try_http(HTTP)
            if self._has_ended and not self.talk.is_begun:
                says = f"A 401 ends it before it asks its model: “{self._last}”."
                await self._try_http([name for name in HTTP if name != SIGN_IN])
                said = [(Topic.HTTP, says, "its output")] if self.talk.is_begun else []
            return [*said, *read_http(self.talk)] if self.talk.is_begun else []
        finally:
            self.talk, self.failure, self._found.exit_code = first, failure, ended

    async def _try_http(self, names: Sequence[str]) -> None:
        """Have a conversation with servers over HTTP that begin anew."""
        log = self._begun("http-requests")
        more = {LOG: str(log), **({SLOW: "1"} if self._subject.slow else {})}
        command = (sys.executable, str(fixtures_path() / "servers" / "marked_http.py"))
        # Of a client that goes away it says more than anybody asked.
        process = await asyncio.create_subprocess_exec(
            *command, env={**os.environ, **more}, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL
        )
        try:
            assert process.stdout is not None
            port = int(await process.stdout.readline())
            servers = {name: (f"http://127.0.0.1:{port}/{name}",) for name in names}
            await self.lead(servers, folder="http-requests")
        finally:
            # It has ended with the client, if that was started: what knows the log is ended then.
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    def _begun(self, folder: str) -> Path:
        """The empty log of a conversation, of whose earlier tries no request is left."""
        rmtree(self._folder / folder, ignore_errors=True)
        log = self._folder / _SERVER_LOGS[folder]
        # The servers append to it.
        open_private(log, "w").close()
        return log

    async def _is_taken(self, servers: Mapping[str, tuple[str, ...]], *names: str) -> bool:
        """Whether the client, with these servers alone, comes to ask its model."""
        await self.lead({name: servers[name] for name in names}, only_first=True)
        return self.talk.is_begun

    async def lead(
        self,
        servers: Mapping[str, tuple[str, ...]],
        *,
        only_first: bool = False,
        folder: str = "requests",
        talk: Conversation | None = None,
    ) -> None:
        """Have a conversation, or this one; its `failure` is what kept it from its end."""
        is_http, subject = folder != "requests", self._subject
        # Over HTTP, the servers have noted already what they declare.
        log = self._folder / _SERVER_LOGS[folder] if is_http else self._begun(folder)
        self.talk = talk or Conversation(ServerLog(log), self.ends)
        answering = StandIn(self.talk, self._folder / folder, self._progress, subject.provider)
        async with listening(answering) as stand_in:
            about = (self._folder, stand_in.address, servers, log, subject.model, subject.slow, is_http)
            setting = Setting(*about, wire=subject.wire, asked=subject.asked or ASKED)
            if subject.by_hand:
                say(_by_hand_text(setting), err=True, exact=True)
                in_time = await _is_done(subject.timeout, stand_in.done.wait())
                self.failure = None if in_time else _late(subject, stand_in)
            else:
                await self._start(stand_in, setting, only_first)
            self.failure = stand_in.failure or self.failure

    async def _start(self, stand_in: StandIn, setting: Setting, only_first: bool) -> None:
        """Start the client, and wait until the conversation or the client has ended."""
        subject, found, reaper = self._subject, self._found, Reaper()
        try:
            own = own_start(subject.program, setting) if subject.program else None
            by_hand = "" if subject.asked else ", or add --by-hand to start it yourself"
            start = installed(subject.name, own or client_start(subject.name, setting), by_hand)
            self._agree(start)
            if not subject.program:
                write(start, setting.folder)
            found.version = found.version or await self._version(start, setting, reaper)
            began = time.monotonic()
            async with running(start, setting, reaper) as process:
                ends = (stand_in.begun if only_first else stand_in.done).wait()
                is_second = setting.over_http and not subject.asked
                seconds = _HTTP_SECONDS[subject.slow] if is_second else subject.timeout
                self._seconds = min(seconds, _FIRST_SECONDS) if only_first else seconds
                in_time = await _is_done(self._seconds, ends, ended(process))
                if in_time and stand_in.failure is None and not only_first:
                    await _is_done(_LAST_SECONDS, ended(process))
                found.exit_code, found.seconds = process.returncode, time.monotonic() - began
        finally:
            reaper.close()
        self.failure = self._unfinished(stand_in, in_time=in_time)

    async def _version(self, start: Start, setting: Setting, reaper: Reaper) -> str:
        if self._subject.program:
            return await asyncio.to_thread(frameworks, self._subject.program, environment(start, setting))
        return await version(start, setting, reaper)

    def _unfinished(self, stand_in: StandIn, *, in_time: bool) -> ProtocolError | None:
        """Why the conversation did not come to its end, if it did not."""
        said = printed(self._folder)[-_LAST_WORDS:].strip()
        if not in_time:
            return _late(self._subject, stand_in, said)
        if stand_in.done.is_set() or (stand_in.provider is not None and self._found.exit_code == 0):
            return None
        heard = count(len(self.talk.exchanges), "request")
        told = f"the client ended with exit code {self._found.exit_code} after {heard} to its model"
        return ProtocolError(f"{told}, before all was asked", hint=said)


def agreed(_start: Start) -> None:
    """Who was asked once is not asked again."""


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
    if calls := [tool for _, tool in stand_in.conversation.open_calls]:
        told += f": what came of {', '.join(calls)} it has not said"
    hint = "" if subject.asked else "--timeout gives it longer; --requests keeps what it sent."
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


def _file(subject: Subject, reading: Reading, version: str) -> str:
    """The client's file; searches as a known client does, if it does."""
    name = subject.name
    if subject.program and version:
        reading.top["title"] = f"{name} ({version})"
    if name in NAMES:
        reading.compare(find_client(name), today())
    return reading.toml(find_client(name).title if name in NAMES else name, today())
