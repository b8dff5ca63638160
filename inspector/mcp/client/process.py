"""MCP over stdio: a child process that speaks JSON-RPC line by line.

The SDK's own stdio transport hides the process, so it cannot say how a server ended; this one can. Like every
transport, it gives the SDK two streams.
"""

import asyncio
import os
import re
import signal
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path, PurePath, PureWindowsPath

import anyio
from anyio.streams.memory import MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from msgspec import Struct, field

from inspector.config.program import child_environment, file_to_start
from inspector.core.error import ConnectError, ServerExited
from inspector.core.server import ServerSpec
from inspector.mcp.client.host import Stream, Streams
from inspector.mcp.client.reader import Reader, stray_hint
from inspector.mcp.frame import LOG, StderrLog
from inspector.mcp.pace import Lines
from inspector.mcp.reaper import Reaper

# The shutdown order follows the specification; waits are in seconds.
STDIN_CLOSED_GRACE = 2.0
TERMINATED_GRACE = 2.0
KILLED_GRACE = 2.0
_LEFT_OUTPUT_GRACE = 0.5
_GROUP_POLL = 0.02
_STDOUT, _STDERR = 1, 2
# What is asked for is bounded by who asks, and the rest by the reader's allowance.
_MOST_WAITING = 10_000
# So much at once is no message for a person.
_MUCH_STDERR = 16_000
_CONTAINERS = ("docker", "podman", "nerdctl")
_INTERACTIVE = re.compile(r"--interactive(=true)?|-[a-z]*i[a-z]*")


class StdioChannel(Struct, eq=False):
    """One run of a server's command; the reaper ends its process if this one is killed."""

    _spec: ServerSpec
    _environment: Mapping[str, str]
    _stderr: StderrLog
    _reader: Reader
    _reaper: Reaper | None
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    _child: "_Child | None" = None
    _died: bool = False
    _exit_code: int | None = None

    def stderr_tail(self) -> str:
        return self._stderr.tail()

    @asynccontextmanager
    async def transport(self) -> AsyncGenerator[Streams, None]:
        """Start the process; on leaving, end it and everything in its process group.

        Raises ConnectError if the command comes down to another file than consent was given for.
        """
        # What is started is the file that was looked at, by its absolute path: nothing searches again.
        file = await asyncio.to_thread(file_to_start, self._spec, self._environment)
        to_session, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](_MOST_WAITING)
        child = self._child = _Child(to_session, self._reader, self._stderr)
        process = await self._start(file, child)
        try:
            yield incoming, _Outgoing(process)
        finally:
            self._died = child.output_ended.is_set() or child.exited.is_set()
            try:
                await self._end(process, child)
                if self._died:
                    await _within(_LEFT_OUTPUT_GRACE, child.stderr_ended.wait)
            finally:
                # Only a cancelled cleanup leaves anything to kill here.
                _signal_group(process, signal.SIGKILL)
                process.close()
                self._stderr.end()
                to_session.close()
                incoming.close()

    async def _start(self, file: str | None, child: "_Child") -> asyncio.SubprocessTransport:
        marked = await asyncio.to_thread(self._reaper.prepare) if self._reaper is not None else {}
        self._stderr.begin()
        process, _ = await asyncio.get_running_loop().subprocess_exec(
            lambda: child,
            *self._spec.argv,
            executable=file,
            env={**child_environment(self._spec, self._environment), **marked},
            cwd=self._spec.cwd or None,
            start_new_session=True,
        )
        if self._reaper is not None:
            self._reaper.watch(process.get_pid())
        return process

    async def _end(self, process: asyncio.SubprocessTransport, child: "_Child") -> None:
        """Close stdin, then send SIGTERM, then SIGKILL, both to the whole group: servers start helpers."""
        stdin = process.get_pipe_transport(0)
        if stdin is not None:
            stdin.close()
        await _within(STDIN_CLOSED_GRACE, child.exited.wait)
        self._exit_code = child.returncode
        if _signal_group(process, signal.SIGTERM):
            await _within(TERMINATED_GRACE, lambda: _group_gone(process))
        if _signal_group(process, signal.SIGKILL):
            await _within(KILLED_GRACE, child.exited.wait)

    def diagnose(self, causes: list[BaseException]) -> ConnectError | None:
        """The error if the process explains a failure, else None."""
        if self._child is None or self._child.pid is None:
            known = next((cause for cause in causes if isinstance(cause, ConnectError)), None)
            spawn = next((cause for cause in causes if isinstance(cause, OSError)), None)
            return known or (self._spawn_failure(spawn) if spawn else None)
        return self._exit() if self._died else None

    def _exit(self) -> ServerExited:
        many = "Many servers need arguments or environment variables to start; check its stderr."
        hint = stray_hint(self._reader.stray) or container_hint(self._spec) or many
        return ServerExited(
            f"The process {exit_text(self._exit_code)}", hint=hint, stderr_tail=self.stderr_tail()
        )

    def _spawn_failure(self, error: OSError) -> ConnectError:
        command, cwd = self._spec.command, self._spec.cwd
        if cwd and not Path(cwd).is_dir():
            return ConnectError(f"The working directory {cwd} does not exist", hint="Correct `cwd`.")
        if isinstance(error, FileNotFoundError):
            if hint := windows_hint(self._spec):
                return ConnectError(f"Command not found: `{command}` (a Windows command line)", hint=hint)
            reason = "the file is missing" if os.sep in command else "it is not on PATH"
            hint = f"Install `{command}`, or write its full path in the configuration."
            return ConnectError(f"Command not found: `{command}` ({reason})", hint=hint)
        reason = error.strerror or str(error)
        return ConnectError(f"`{command}` cannot be started: {reason}", hint="Is it an executable file?")


def container_hint(spec: ServerSpec) -> str:
    """What `docker run` lacks, if it does: without -i the server in it gets no input, and ends at once."""
    program, *words = (PurePath(spec.command).stem, *spec.args)
    if program not in _CONTAINERS or "run" not in words[:2] or any(map(_INTERACTIVE.fullmatch, words)):
        return ""
    return f"`{program} run` needs `-i`: without it the server gets no input. Add it behind `run`."


def windows_hint(spec: ServerSpec) -> str:
    """How a command line of Windows is written here; "" for any other."""
    program, flags = PureWindowsPath(spec.command), [one.lower() for one in spec.args]
    if program.stem.lower() == "cmd" and "/c" in flags[:2]:
        meant = "".join(spec.args[flags.index("/c") + 1 :][:1])
        return f"Write `{meant}` as its command here, without `cmd /c`."
    is_windows = program.drive or program.suffix.lower() in (".cmd", ".bat", ".exe")
    return f"Write `{program.stem}` as its command here." if is_windows else ""


class _Child(asyncio.SubprocessProtocol):
    """Passes the child's stdout on to the session, message by message, and its stderr to the log."""

    def __init__(
        self,
        to_session: "MemoryObjectSendStream[SessionMessage | Exception]",
        reader: Reader,
        stderr: StderrLog,
    ) -> None:
        self.exited = asyncio.Event()
        self.output_ended = asyncio.Event()
        self.stderr_ended = asyncio.Event()
        self.pid: int | None = None
        self._to_session = to_session
        self._reader = reader
        self._stderr = stderr
        self._transport: asyncio.SubprocessTransport | None = None
        self._lines = Lines()

    @property
    def returncode(self) -> int | None:
        return self._transport.get_returncode() if self._transport else None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._transport = transport
        self.pid = transport.get_pid()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        began = time.perf_counter()
        if fd == _STDOUT:
            for line in self._lines.feed(data):
                for message in self._reader.line(line):
                    with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.WouldBlock):
                        self._to_session.send_nowait(message)
        else:
            self._stderr.write(data)
        is_flood = len(data) >= _MUCH_STDERR if fd == _STDERR else self._lines.is_cut
        if pause := self._reader.pause(time.perf_counter() - began, is_flood=is_flood):
            self._rest(fd, pause)

    def _rest(self, fd: int, seconds: float) -> None:
        """Read nothing more of a flood for a while; meanwhile the server waits for its pipe."""
        assert self._transport is not None
        pipe = self._transport.get_pipe_transport(fd)
        if isinstance(pipe, asyncio.ReadTransport) and not pipe.is_closing():
            pipe.pause_reading()
            asyncio.get_running_loop().call_later(seconds, pipe.resume_reading)

    def pipe_connection_lost(self, fd: int, _exc: Exception | None) -> None:
        if fd == _STDOUT:
            self.output_ended.set()
            self._to_session.close()
        elif fd == _STDERR:
            self.stderr_ended.set()

    def process_exited(self) -> None:
        self.exited.set()
        # A helper may hold stdout open forever; read what is left in the pipe for a moment, then stop.
        asyncio.get_running_loop().call_later(_LEFT_OUTPUT_GRACE, self._to_session.close)


class _Outgoing(Stream):
    """Writes directly to the child's stdin, which buffers, so a stuck child blocks nothing.

    A server stops when its stdin closes, so it stays open until the transport ends.
    """

    def __init__(self, process: asyncio.SubprocessTransport) -> None:
        stdin = process.get_pipe_transport(0)
        assert isinstance(stdin, asyncio.WriteTransport)
        self._stdin = stdin

    async def send(self, item: SessionMessage, /) -> None:
        if self._stdin.is_closing():
            raise anyio.ClosedResourceError
        self._stdin.write(item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")


def exit_text(code: int | None) -> str:
    """How a process ended, as the rest of a sentence."""
    if code is None:
        return "closed its output"
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"


def _signal_group(process: asyncio.SubprocessTransport, number: signal.Signals) -> bool:
    """Signal the child's process group, whose id is the child's pid; False if no process is left."""
    try:
        os.killpg(process.get_pid(), number)
    except ProcessLookupError:
        return False
    except PermissionError:
        LOG.warning("may not signal the process group %d", process.get_pid())
    return True


async def _group_gone(process: asyncio.SubprocessTransport) -> None:
    with suppress(ProcessLookupError, PermissionError):
        while True:
            os.killpg(process.get_pid(), 0)
            await asyncio.sleep(_GROUP_POLL)


async def _within(seconds: float, wait: Callable[[], Awaitable[object]]) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await wait()
